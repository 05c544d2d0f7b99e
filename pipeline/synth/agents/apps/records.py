"""An account in made-up apps: its people, its belongings, its records by pages, its passwords and tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pipeline.synth.agents.chances import hexadecimal
from pipeline.synth.banks.agents.apps import BELONGINGS, CONTACTS, KETTLES, PEOPLE, RESOURCES, Belonging, Resource
from pipeline.synth.dice import Dice

_NAMED = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Record:
    """An entry of an app: its id is `values[resource.key]`."""

    resource: Resource
    values: dict[str, str]
    person: str

    @property
    def name(self) -> str:
        """Its id."""
        return self.values[self.resource.key]

    def filled(self, text: str) -> str:
        """A text with the values of the record in place of their names."""
        return _NAMED.sub(lambda match: self.values[match[1]], text)


@dataclass
class Account:
    """All that an agent may read. What it has read already is in `tokens`, `emails` and `belongings`."""

    owner: str
    passwords: dict[str, str]
    contacts: tuple[dict[str, str], ...]
    pages: dict[str, list[list[Record]]]
    listed: dict[str, list[dict[str, str]]]
    tokens: dict[str, str] = field(default_factory=dict)
    emails: dict[str, str] = field(default_factory=dict)
    belongings: dict[str, str] = field(default_factory=dict)

    @property
    def user(self) -> str:
        """The name to sign in with."""
        return f"{self.owner.lower().replace(' ', '.')}@example.org"


def account(dice: Dice, resources: list[Resource]) -> Account:
    """An account with some pages of each resource."""
    owner, *others = dice.shuffled(PEOPLE)
    apps = sorted({resource.app for resource in RESOURCES} | {CONTACTS})
    numbers = iter(dice.sample(range(10_000, 99_999), 4_000))
    contacts = tuple(_contact(dice, person, str(next(numbers))) for person in others)
    return Account(
        owner,
        {app: f"made-up-{dice.pick(KETTLES)}-{dice.between(1000, 9999)}" for app in apps},
        contacts,
        {
            resource.noun: [
                [_record(dice, resource, others, str(next(numbers)), str(next(numbers))) for _ in range(size)]
                for size in [dice.between(4, 12)] * dice.between(5, 9)
            ]
            for resource in resources
        },
        {one.name: _listed(dice, one, [str(next(numbers)) for _ in one.titles]) for one in BELONGINGS},
    )


def _contact(dice: Dice, person: str, number: str) -> dict[str, str]:
    first, last = person.lower().split()
    email = f"{first[:3]}.{last}{dice.between(10, 99)}@example.{dice.pick(('com', 'net', 'org'))}"
    return {
        "contact_id": number,
        "name": person,
        "email": email,
        "phone_number": f"555{dice.between(1000000, 9999999)}",
    }


def _record(dice: Dice, resource: Resource, people: list[str], number: str, other: str) -> Record:
    person = dice.pick(people)
    values = {resource.key: number}
    for name, kind in resource.fields:
        values[name] = _value(dice, kind, resource, person, other)
    return Record(resource, values, person)


def _value(dice: Dice, kind: str, resource: Resource, person: str, other: str) -> str:
    return {
        "id": other,
        "person": person,
        "amount": f"{dice.between(4, 480)}.{dice.pick(('00', '25', '40', '50', '75', '90'))}",
        "date": f"2024-{dice.between(1, 12):02}-{dice.between(1, 28):02}",
        "title": dice.pick(resource.titles),
        "code": f"{resource.app[:2].upper()}-{hexadecimal(dice, 6).upper()}",
        "path": f"~/downloads/{dice.pick(resource.titles).lower().replace(' ', '_')}_{dice.between(100, 999)}.pdf",
        "count": str(dice.between(120, 9900)),
    }[kind]


def _listed(dice: Dice, one: Belonging, numbers: list[str]) -> list[dict[str, str]]:
    return [
        {one.key: number, "name": title, "created_on": f"2023-{dice.between(1, 12):02}-{dice.between(1, 28):02}"}
        for number, title in zip(numbers, one.titles, strict=True)
    ]
