"""Loose ends of tests that failed: run them again, in their order, reproduce them, find their errors, fix them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pipeline.synth.agents.chances import think
from pipeline.synth.agents.repository import printed
from pipeline.synth.agents.repository.reading import Reading, spoken
from pipeline.synth.agents.repository.world import Failure
from pipeline.synth.agents.shell import script, shell
from pipeline.synth.agents.step import Step

STILL = 0.45
"""How often an open failure fails again."""


class Failing:
    """What an agent does with failures that it saw."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.dice, self.world, self.ends = reading.dice, reading.world, reading.ends

    def leave(self, failure: Failure) -> None:
        """What a failure leaves to do: two things."""
        noun, name = failure.module.noun, spoken(failure.function)
        choices = (
            (f"rerun the {noun} test about {name}", partial(self.rerun, failure)),
            (f"find what raises the error of {name}", partial(self.search_error, failure)),
            (f"reproduce the failure of {name} with its code", partial(self.reproduce, failure)),
            (f"repeat the tests of {name} in the order that failed", partial(self.repeat, failure)),
            (f"read the {noun} test about {name}", partial(self.read_test, failure)),
            (f"fix {name}", partial(self.fix, failure)),
        )
        for hint, follow in self.dice.sample(choices, 2):
            self.ends.leave(hint, follow)

    def fix(self, failure: Failure) -> Iterator[Step]:
        """Edits what failed, and runs its test again."""
        yield from self.reading.edit(failure.module, failure.function)
        yield from self.rerun(failure)

    def rerun(self, failure: Failure) -> Iterator[Step]:
        """Runs a test that failed before."""
        failure.open = failure.open and self.dice.chance(STILL)
        yield shell(
            f"python -m pytest '{failure.test}' -x -q",
            printed.failed(self.dice, [failure]) if failure.open else printed.passed(self.dice, 1),
            think(self.dice, "rerun", subject=failure.module.noun),
            [failure.error],
            code=int(failure.open),
        )
        if failure.open:
            self.leave(failure)

    def search_error(self, failure: Failure) -> Iterator[Step]:
        """Searches the logs for an error that a test raised."""
        where = self.dice.sample(self.world.logs, self.dice.between(0, 4))
        error = f"ERROR {failure.module.dotted} {failure.error}"
        told = "\n".join(f"{path}:{self.dice.between(100, 4000)}:{error}" for path in where)
        thought = think(self.dice, "search", subject=failure.module.noun)
        yield shell(f'grep -rnF "{failure.error}" logs', told, thought, where, code=0 if where else 1)
        for path in where[:1]:
            self.ends.leave("see which codes stand in the log with that error", self.codes_in, path)

    def codes_in(self, path: str) -> Iterator[Step]:
        """Counts the codes of a log."""
        codes = self.dice.sample(self.world.codes, self.dice.between(8, 40))
        told = "\n".join(f"{self.dice.between(1, 99):7} {code}" for code in codes)
        command = f"grep -oE '{self.world.domain.prefix}-[0-9]+' {path} | sort | uniq -c"
        yield shell(command, told, think(self.dice, "log"), codes)
        code = self.dice.pick(codes)
        self.ends.leave("find out what treats that odd code specially", self.reading.search, code, "code")

    def reproduce(self, failure: Failure) -> Iterator[Step]:
        """Calls a function with the code that failed."""
        noun, function = failure.module.noun, failure.function
        body = (
            f"from {failure.module.dotted} import {function.name}\nfrom tests.factories import make_{noun}\n"
            f'print({function.name}(make_{noun}(code="{failure.code}")))'
        )
        frame = f'  File "{failure.module.path}", line {failure.module.line_of(function) + 3}, in {function.name}'
        told = f"Traceback (most recent call last):\n{frame}\n{failure.error}" if failure.open else "None"
        thought = think(self.dice, "reproduce", subject=noun)
        yield shell(script(body), told, thought, [failure.error], code=int(failure.open))
        self.reading.findings += [failure.test, failure.code]

    def repeat(self, failure: Failure) -> Iterator[Step]:
        """Runs tests again in the order that a seed gives."""
        told = printed.failed(self.dice, [failure]) if failure.open else printed.passed(self.dice, 60)
        command = f"python -m pytest {failure.path} -q -p randomly --randomly-seed={failure.seed}"
        thought = think(self.dice, "rerun", subject=failure.module.noun)
        yield shell(command, told, thought, [failure.test], int(failure.open))
        self.reading.findings.append(failure.seed)

    def read_test(self, failure: Failure) -> Iterator[Step]:
        """Reads a test that failed."""
        noun, name = failure.module.noun, failure.test.split("::")[1]
        other = self.dice.pick(self.world.codes)
        told = (
            f"def {name}(make_{noun}, settings):\n"
            f'    {noun} = make_{noun}(code="{failure.code}")\n    other = make_{noun}(code="{other}")\n'
            f"    result = {failure.function.name}({noun})\n    assert result != {failure.function.name}(other)\n"
        )
        command = f"grep -n -A 12 'def {name}' {failure.path}"
        yield shell(command, told, think(self.dice, "open", subject=noun), [other, failure.code])
        hint = f"see where the second code of the {noun} test comes from"
        self.ends.leave(hint, self.reading.search, other, noun)
