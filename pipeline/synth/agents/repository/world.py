"""A repository: modules, tests that fail, settings, commits, logs."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.synth.agents.chances import hexadecimal
from pipeline.synth.agents.repository.code import Function, Module, module
from pipeline.synth.banks.agents.repository import (
    AUTHORS,
    CASES,
    DOMAINS,
    ERRORS,
    LAYERS,
    ROLES,
    SETTINGS,
    SUBJECTS,
    VERBS,
    WORDS,
    Domain,
)
from pipeline.synth.dice import Dice
from pipeline.synth.grammar import fill, say


@dataclass
class Failure:
    """A test that fails, with which error, and whether it still does."""

    test: str
    error: str
    module: Module
    function: Function
    code: str
    seed: str
    open: bool = True

    @property
    def path(self) -> str:
        """The file of the test."""
        return self.test.split("::")[0]


@dataclass(frozen=True)
class Commit:
    """A commit, and the module that it changed."""

    digest: str
    subject: str
    author: str
    module: Module


@dataclass(frozen=True)
class World:
    """All that there is in a repository. `settings` are key and value by file."""

    domain: Domain
    modules: tuple[Module, ...]
    failures: tuple[Failure, ...]
    commits: tuple[Commit, ...]
    settings: dict[str, tuple[tuple[str, str], ...]]
    logs: tuple[str, ...]
    codes: tuple[str, ...]


def world(dice: Dice) -> World:
    """A repository of its own."""
    domain = dice.pick(DOMAINS)
    codes = [f"{domain.prefix}-{number}" for number in dice.sample(range(1000, 9999), 60)]
    modules = []
    for noun in domain.nouns:
        for role in dice.sample(ROLES, dice.between(1, 3)):
            path = f"{domain.package}/{dice.pick(LAYERS)}/{noun}_{role}.py"
            modules.append(module(dice, domain, path, noun, codes))
    failures = [_failure(dice, domain, dice.pick(modules), codes) for _ in range(30)]
    return World(
        domain,
        tuple(modules),
        tuple({failure.test: failure for failure in failures}.values()),
        tuple(_commit(dice, dice.pick(modules)) for _ in range(60)),
        {f"config/{name}.yaml": _settings(dice, domain) for name in ("defaults", "staging", "nightly")},
        tuple(f"logs/nightly-{number}.log" for number in dice.sample(range(20100, 20990), 9)),
        tuple(codes),
    )


def _failure(dice: Dice, domain: Domain, where: Module, codes: list[str]) -> Failure:
    function = dice.pick(where.functions)
    stem = where.path.rsplit("/", 1)[1].removesuffix(".py")
    code = dice.pick(codes)
    n = dice.between(100, 960)
    values = {
        "code": code,
        "noun": where.noun,
        "Noun": where.noun.capitalize(),
        "other": dice.pick([noun for noun in domain.nouns if noun != where.noun]),
        "callee": f"{dice.pick(VERBS)}_{where.noun}",
        "n": str(n),
        "m": str(n + dice.between(1, 40)),
        "word": dice.pick(WORDS),
    }
    test = f"tests/test_{stem}.py::test_{function.name}_{dice.pick(CASES)}"
    return Failure(
        test, fill(dice.pick(ERRORS), values), where, function, code, str(dice.between(100_000, 4_000_000))
    )  # fmt: skip


def _commit(dice: Dice, changed: Module) -> Commit:
    subject = say(dice.pick(SUBJECTS), dice, {"noun": changed.noun, "verb": dice.pick(VERBS)})
    return Commit(hexadecimal(dice, 9), subject, dice.pick(AUTHORS), changed)


def _settings(dice: Dice, domain: Domain) -> tuple[tuple[str, str], ...]:
    chosen = []
    for noun in domain.nouns:
        for setting in dice.sample(SETTINGS, dice.between(2, 4)):
            value = f"{domain.prefix.lower()}-{hexadecimal(dice, 5)}" if setting.endswith(("name", "zone")) else ""
            chosen.append((f"{noun}.{setting}", value or str(dice.between(101, 86_000))))
    return tuple(chosen)
