"""Events: drawing them, and telling them as the user's, as another's, or as what never happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.synth.banks.events import ATTRIBUTES, FAMILIES, Family
from pipeline.synth.banks.names import FAMILY_NAMES, OTHERS, PEOPLE, STREETS
from pipeline.synth.banks.telling import ANSWERING_LEADS, EVENT_PRONOUN, LEADS, NOT_DONE, OLD_TIMES, TALK, TIME_MARKS
from pipeline.synth.dice import Dice
from pipeline.synth.grammar import phrase, say
from pipeline.synth.telling import USER, Statement, either_role, tell

OTHER_NAME = 0.22
"""How often a thing is told by another name than the one that the question uses."""
POINTING = 0.05
"""How often a fact only points at its thing, which the turn before names."""
SECOND_CLAUSE = 0.5
"""How often a statement says one more attribute than the one that is asked."""


@dataclass(frozen=True)
class Event:
    """Something that happened once: `thing` is its name in questions, `other_name` another one for it."""

    family: Family
    thing: str
    other_name: str
    amount: int
    place: str
    person: str

    def value(self, attribute: str) -> str:
        """The amount with its unit, the place or the person."""
        return {"amount": with_unit(self.family, self.amount), "place": self.place, "person": self.person}[attribute]

    def slots(self, thing: str) -> dict[str, str]:
        """The values of templates, with `thing` as its name."""
        return {"thing": thing} | {attribute: self.value(attribute) for attribute in ATTRIBUTES}


def with_unit(family: Family, amount: int) -> str:
    """An amount of a family as text."""
    return family.unit.replace("{n}", f"{amount:,}")


def unit_of(family: Family) -> str:
    """The bare unit: dollars, days, minutes or pages."""
    return family.unit.removeprefix("{n} ")


def draw_events(dice: Dice, family: Family, n: int) -> list[Event]:
    """n events of a family about different things, with different amounts, places and persons."""
    low, high, step = family.amounts
    steps = dice.sample(range((high - low) // step + 1), n)
    people = dice.sample(PEOPLE, n)
    names = zip(dice.sample(FAMILY_NAMES, n), dice.sample(STREETS, n), strict=False)
    places = [phrase(family.venue, dice, {"family": name, "street": street}) for name, street in names]
    drawn = zip(dice.sample(family.things, n), steps, places, people, strict=False)
    return [Event(family, *thing, low + step * k, place, person) for thing, k, place, person in drawn]


def other_families(dice: Dice, families: Sequence[Family], n: int) -> list[Family]:
    """n families that are not among `families`."""
    return dice.sample([family for family in FAMILIES if family not in families], n)


def happened(
    dice: Dice, event: Event, attribute: str | None, role: str | None = None, today: bool = False
) -> Statement:
    """The user's event with its attribute, if one is given; `today` says that it happened on the session's day."""
    role = role or either_role(dice)
    name = event.other_name if dice.chance(OTHER_NAME) else event.thing
    lead, did = "", event.family.did
    if dice.chance(POINTING):
        lead = say(dice.pick(ANSWERING_LEADS if role == USER else LEADS), dice, {"thing": name})
        did = did.replace("{a thing}", EVENT_PRONOUN).replace("the {thing}", EVENT_PRONOUN)
    when = f"{dice.pick(TIME_MARKS)} " if today else ""
    fact = f"{when}I {did} {_clauses(dice, event, attribute)}"
    return tell(dice, phrase(fact, dice, event.slots(name)), role, event.family.topics, lead)


def happened_to_another(dice: Dice, event: Event, attribute: str | None) -> Statement:
    """The same event, but of another person or long past: a near miss."""
    name = event.other_name if dice.chance(OTHER_NAME / 2) else event.thing
    when = f"{dice.pick(dice.pick((OLD_TIMES, TIME_MARKS)))} " if dice.chance(0.4) else ""
    fact = f"{when}{dice.pick(OTHERS)} {event.family.did} {_clauses(dice, event, attribute)}"
    return tell(dice, phrase(fact, dice, event.slots(name)), either_role(dice), event.family.topics)


def never_happened(dice: Dice, event: Event) -> Statement:
    """The event as a wish, or called off: a near miss."""
    template = dice.pick(NOT_DONE).replace("{doing}", event.family.doing)
    return tell(dice, phrase(template, dice, event.slots(event.thing)), either_role(dice), event.family.topics)


def talk(dice: Dice, event: Event) -> Statement:
    """General talk about such things, without a fact: a near miss."""
    template = dice.pick((*TALK[unit_of(event.family)], *TALK["any"]))
    return tell(dice, phrase(template, dice, event.slots(event.thing)), either_role(dice), event.family.topics)


def _clauses(dice: Dice, event: Event, attribute: str | None) -> str:
    said = [attribute] if attribute else []
    if dice.chance(SECOND_CLAUSE):
        said.append(dice.pick([other for other in ATTRIBUTES if other != attribute]))
    return " ".join(event.family.clauses[name] for name in dice.shuffled(said))
