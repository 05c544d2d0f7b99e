"""The text of a turn: sentences on a topic, among which what is planted takes the place of one."""

from __future__ import annotations

from pipeline.synth.banks import chat
from pipeline.synth.banks.topic import Topic
from pipeline.synth.dice import Dice
from pipeline.synth.grammar import fill, say
from pipeline.synth.telling import USER

_USER_SENTENCES = ((1, 2), (2, 4), (3, 5), (4, 4), (6, 3), (9, 2), (14, 1), (24, 1))
_ASSISTANT_SENTENCES = ((2, 1), (4, 3), (6, 4), (9, 4), (13, 3), (20, 2), (34, 1))
TYPO, EMOJI, OTHER_SCRIPT, CODE, LIST = 0.03, 0.02, 0.015, 0.03, 0.3


def turn_text(dice: Dice, topic: Topic, role: str, first: bool, planted: str | None) -> str:
    """A turn of the role about the topic. `first` says that it opens the session.

    A planted sentence takes the place of one of the turn's own: neither the length of a turn nor where in it a
    sentence stands tells what was planted.
    """
    sentences = _user(dice, topic, first) if role == USER else _assistant(dice, topic)
    place = dice.below(len(sentences))
    if planted is not None:
        sentences[place] = planted
    elif role == USER and dice.chance(TYPO):
        sentences[place] = _misspelt(dice, sentences[place])
    if dice.chance(OTHER_SCRIPT):
        sentences.append(dice.pick(chat.OTHER_SCRIPTS))
    return _joined(dice, topic, role, sentences)


def _user(dice: Dice, topic: Topic, first: bool) -> list[str]:
    n = dice.weighted(_USER_SENTENCES)
    opening = chat.ASKS if first or dice.chance(0.5) else chat.FOLLOW_UPS
    remarks = [f"(well, |you see, |and |){remark}." for remark in topic.remarks]
    templates = [dice.pick(opening), *dice.sample([*chat.CONTEXT, *chat.ASKS, *remarks], n - 1)]
    return [_on(dice, topic, template) for template in dice.shuffled(templates)]


def _assistant(dice: Dice, topic: Topic) -> list[str]:
    n = dice.weighted(_ASSISTANT_SENTENCES)
    tips = [f"{tip}." for tip in topic.tips]
    advice = dice.sample([*chat.ADVICE, *chat.ADVICE, *tips], n - 2)
    templates = [dice.pick(chat.ASSISTANT_OPENERS), *advice, dice.pick(chat.ASSISTANT_CLOSERS)]
    return [_on(dice, topic, template) for template in templates]


def _joined(dice: Dice, topic: Topic, role: str, sentences: list[str]) -> str:
    """Sentences as prose; longer assistant turns often as a list, sometimes with a block of code or a table."""
    if role == USER or len(sentences) < 5 or not dice.chance(LIST):
        prose = " ".join(sentences)
        return f"{prose} {dice.pick(('😊', '🙈', '💪', '🤔'))}" if dice.chance(EMOJI) else prose
    head, *body, tail = sentences
    mark = dice.pick(("- ", "* ", "1. "))
    listed = [f"{i + 1}. {line}" if mark == "1. " else f"{mark}{line}" for i, line in enumerate(body)]
    block = [f"\n{fill(dice.pick(chat.CODE), topic_slots(dice, topic))}"] if dice.chance(CODE / LIST) else []
    return "\n".join([f"{head} {_on(dice, topic, dice.pick(chat.LIST_HEADS))}", *listed, *block, tail])


def _on(dice: Dice, topic: Topic, template: str) -> str:
    return say(template, dice, topic_slots(dice, topic))


def topic_slots(dice: Dice, topic: Topic) -> dict[str, str]:
    """Values for the templates of `banks.chat`."""
    thing, other = dice.sample(topic.things, 2)
    deed, deed2 = dice.sample(topic.deeds, 2)
    count = str(dice.between(2, 9))
    return {"topic": topic.name, "thing": thing, "other": other, "deed": deed, "deed2": deed2, "n": count}


def _misspelt(dice: Dice, sentence: str) -> str:
    """Two neighbouring letters changed places."""
    places = [i for i in range(len(sentence) - 1) if sentence[i : i + 2].isalpha() and sentence[i : i + 2].isascii()]
    if not places:
        return sentence
    i = dice.pick(places)
    return f"{sentence[:i]}{sentence[i + 1]}{sentence[i]}{sentence[i + 2 :]}"
