"""The word banks hold together: what one names, another has; every template can be said."""

import pytest

from pipeline.synth.banks import chat
from pipeline.synth.banks.events import ATTRIBUTES, FAMILIES
from pipeline.synth.banks.recommendations import KINDS
from pipeline.synth.banks.states import STATES
from pipeline.synth.banks.topics import BY_NAME, TOPICS
from pipeline.synth.dice import Dice
from pipeline.synth.event import draw_events, happened, happened_to_another, never_happened, talk
from pipeline.synth.grammar import say
from pipeline.synth.turns import topic_slots

pytestmark = pytest.mark.flash
LEFT_OVER = ("{", "}", "(|", "  ", " .", "..", "|)")


def test_topics_have_names_of_their_own_and_are_known_to_all_banks():
    assert len(BY_NAME) == len(TOPICS)
    for bank in (FAMILIES, STATES, KINDS):
        assert {topic for entry in bank for topic in entry.topics} <= set(BY_NAME)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_way_to_tell_an_event_is_a_plain_sentence(family):
    dice = Dice(family.name)
    for _ in range(60):
        event = draw_events(dice, family, 1)[0]
        for attribute in (*ATTRIBUTES, None):
            told = happened(dice, event, attribute)
            assert attribute is None or event.value(attribute) in told.text
            others = (happened_to_another(dice, event, attribute), never_happened(dice, event), talk(dice, event))
            for text in (told.text, told.lead, *[statement.text for statement in others]):
                assert not [mark for mark in LEFT_OVER if mark in text], text
        for attribute in ATTRIBUTES:
            question = say(family.ask[attribute], dice, {"thing": event.thing})
            assert event.thing in question
            assert question.endswith("?")


@pytest.mark.parametrize("bank", ["ASKS", "FOLLOW_UPS", "CONTEXT", "ASSISTANT_OPENERS", "ADVICE", "LIST_HEADS"])
def test_every_template_of_the_chat_can_be_said_about_every_topic(bank):
    dice = Dice(bank)
    for topic in TOPICS:
        for template in getattr(chat, bank):
            text = say(template, dice, topic_slots(dice, topic))
            assert not [mark for mark in LEFT_OVER if mark in text], text


def test_events_drawn_together_differ_in_all_that_is_asked():
    for family in FAMILIES:
        events = draw_events(Dice("x"), family, 8)
        for attribute in ("thing", "amount", "place", "person"):
            assert len({getattr(event, attribute) for event in events}) == 8
