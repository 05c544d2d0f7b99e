"""Modules of a repository, as lines of code."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from pipeline.synth.banks.agents.repository import BODIES, LIMITS, SETTINGS, VERBS, Domain
from pipeline.synth.dice import Dice
from pipeline.synth.grammar import fill

TELLING = 18
"""Characters of a line that stands for its function, at least."""


@dataclass(frozen=True)
class Function:
    """A function, and one of the first lines of its body."""

    name: str
    noun: str
    line: str


@dataclass(frozen=True)
class Module:
    """A file of code."""

    path: str
    noun: str
    lines: tuple[str, ...]
    functions: tuple[Function, ...]
    constants: tuple[str, ...]

    @property
    def dotted(self) -> str:
        """The name by which it is imported."""
        return self.path.removesuffix(".py").replace("/", ".")

    def line_of(self, function: Function) -> int:
        """Where a function begins, from 1."""
        return next(i for i, line in enumerate(self.lines, 1) if line.startswith(f"def {function.name}("))

    def numbered(self, first: int, last: int) -> str:
        """Lines as `cat -n` prints them."""
        last = min(last, len(self.lines))
        return "\n".join(f"{number:6}\t{self.lines[number - 1]}" for number in range(max(1, first), last + 1))

    def functions_within(self, first: int, last: int) -> list[Function]:
        """The functions that begin within some lines."""
        return [function for function in self.functions if first <= self.line_of(function) <= last]


def module(dice: Dice, domain: Domain, path: str, noun: str, codes: list[str]) -> Module:
    """A module with constants and three to seven functions."""
    constants = [f"{noun.upper()}_{limit}" for limit in dice.sample(LIMITS, dice.between(2, 3))]
    lines = [
        f'"""{noun.capitalize()}: {path.rsplit("/", 1)[1].removesuffix(".py").replace("_", " ")}."""',
        "",
        "from __future__ import annotations",
        "",
        "import logging",
        "import threading",
        "",
        f"from {domain.package}.core.settings import settings",
        "",
        "log = logging.getLogger(__name__)",
        "_lock, _cache, _table = threading.Lock(), {}, {}",
        "",
        *(f"{name} = {dice.between(11, 9800)}" for name in constants),
    ]
    verbs = dice.sample(VERBS, dice.between(4, 8))
    functions = []
    for verb, following in pairwise(verbs):
        other = dice.pick([word for word in domain.nouns if word != noun])
        name = f"{verb}_{noun}"
        callee = f"{following}_{noun}" if dice.chance(0.6) else f"{dice.pick(VERBS)}_{other}"
        values = {
            "name": name,
            "noun": noun,
            "other": other,
            "callee": callee,
            "const": dice.pick(constants),
            "key": f"{noun}.{dice.pick(SETTINGS)}",
            "n": str(dice.between(12, 990)),
            "code": dice.pick(codes),
        }
        body = fill(dice.pick(BODIES), values).split("\n")
        doc = f'    """{verb.capitalize()} the {noun} for {other}."""'
        lines += ["", "", f"def {name}({noun}, {other}=None, seen=()):", doc, *body]
        functions.append(Function(name, noun, next(line.strip() for line in body if len(line.strip()) >= TELLING)))
    return Module(path, noun, tuple(lines), tuple(functions), tuple(constants))
