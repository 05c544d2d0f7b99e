"""Loose ends of reading code: search for what was seen, open a place again, edit a line that was read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pipeline.synth.agents.chances import think
from pipeline.synth.agents.ends import LooseEnds
from pipeline.synth.agents.repository import printed
from pipeline.synth.agents.repository.code import Function, Module
from pipeline.synth.agents.repository.world import World
from pipeline.synth.agents.shell import script, shell
from pipeline.synth.agents.step import Step
from pipeline.synth.dice import Dice
from pipeline.synth.grammar import with_article

SLIPS = 0.25
"""How often a first edit goes wrong."""
_SHOWN_HITS = 40
_EDIT = '''from pathlib import Path
path = Path("{path}")
text = path.read_text()
old = """{old}"""
assert text.count(old) >= 1, text.count(old)
path.write_text(text.replace(old, "if {noun}.code:\\n        " + old, 1))'''
_MISSED = 'Traceback (most recent call last):\n  File "<stdin>", line 5, in <module>\nAssertionError: 0'


class Reading:
    """What an agent does with code that it saw. `findings` are details that are worth a note."""

    def __init__(self, dice: Dice, world: World, ends: LooseEnds) -> None:
        self.dice, self.world, self.ends = dice, world, ends
        self.findings: list[str] = []

    def reopen(self, module: Module, function: Function) -> Iterator[Step]:
        """Opens a file at a function that was seen, and perhaps searches for it."""
        yield from self.around(module, module.line_of(function), 60)
        if self.dice.chance(0.4):
            yield from self.search(function.name, module.noun)

    def around(self, module: Module, line: int, most: int = 30) -> Iterator[Step]:
        """Opens a file from a line on."""
        last = line + self.dice.between(6, most)
        yield shell(
            f"sed -n '{line},{last}p' {module.path}",
            "\n".join(module.lines[line - 1 : last]),
            think(self.dice, "reopen", subject=module.noun),
            self.shown_by(module, line, last),
        )

    def search(self, word: str, subject: str) -> Iterator[Step]:
        """Searches for a word; the places found are loose ends."""
        found = printed.hits(self.world.modules, word)[:_SHOWN_HITS]
        told = "\n".join(f"{module.path}:{number}:{line}" for module, number, line in found)
        shows = [text for module, number, _ in found for text in (module.path, str(number))]
        command = f"grep -rn '{word}' {self.world.domain.package}"
        yield shell(command, told, think(self.dice, "search", subject=subject), shows, code=0 if found else 1)
        for module, number, line in self.dice.sample(found, 2):
            self.ends.leave(f"look at the {module.noun} line that the search found", self.around, module, number)
            function = next((known for known in module.functions if line.startswith(f"def {known.name}(")), None)
            if function and self.dice.chance(0.5):
                self.leave_function(module, function)

    def edit(self, module: Module, function: Function) -> Iterator[Step]:
        """Edits a function by a line of it that was read; a first try may miss it."""
        subject, old = module.noun, function.line
        body = _EDIT.replace("{path}", module.path).replace("{noun}", function.noun)
        if self.dice.chance(SLIPS):
            missed = script(body.replace("{old}", f"{old}  "))
            yield shell(missed, _MISSED, think(self.dice, "edit", subject=subject), code=1)
            line = module.line_of(function)
            command = f"grep -n 'def {function.name}' {module.path}"
            yield shell(command, f"{line}:{module.lines[line - 1]}", think(self.dice, "retry"), [str(line)])
        yield shell(script(body.replace("{old}", old)), "", think(self.dice, "edit", subject=subject))

    def shown_by(self, module: Module, first: int, last: int) -> list[str]:
        """What some lines of a module show; some of it is a loose end from now on."""
        shown = [module.path]
        for function in module.functions_within(first, last - 1):
            shown += [function.name, function.line]
            self.findings.append(function.name)
            if self.dice.chance(0.4):
                self.leave_function(module, function)
        return shown

    def leave_function(self, module: Module, function: Function) -> None:
        """What a function that was read leaves to do."""
        hint, follow = self.dice.pick(
            (
                (f"see who else knows {spoken(function)}", partial(self.search, function.name, module.noun)),
                (f"go back to the code about {spoken(function)}", partial(self.reopen, module, function)),
                (f"make stricter {spoken(function)}", partial(self.edit, module, function)),
            )
        )
        self.ends.leave(hint, follow)


def spoken(function: Function) -> str:
    """A function in words: what hints say, which name no detail."""
    verb, noun = function.name.split("_", 1)
    return f"how to {verb} {with_article(noun)}"
