"""What commands print in a repository."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.synth.agents.chances import hexadecimal
from pipeline.synth.agents.repository.code import Module
from pipeline.synth.agents.repository.world import Commit, Failure, World
from pipeline.synth.banks.agents.repository import LOG_LINES
from pipeline.synth.dice import Dice
from pipeline.synth.grammar import fill


def hits(modules: Sequence[Module], word: str) -> list[tuple[Module, int, str]]:
    """The places where a word stands: module, line number, line."""
    return [
        (module, number, line)
        for module in modules
        for number, line in enumerate(module.lines, 1)
        if word in line
    ]  # fmt: skip


def failed(dice: Dice, failures: Sequence[Failure]) -> str:
    """A run of pytest with failures: tracebacks, the summary, a seed."""
    parts = ["=" * 26 + " FAILURES " + "=" * 26]
    for failure in failures:
        line = failure.module.line_of(failure.function)
        name = failure.test.split("::")[1]
        stem = failure.module.noun
        parts += [
            f"_____ {name} _____",
            "",
            f"    def {name}(make_{stem}, settings):",
            f'        {stem} = make_{stem}(code="{failure.code}")',
            f">       result = {failure.function.name}({stem})",
            "",
            f"{failure.path}:{dice.between(20, 190)}:",
            "_ " * 20,
            *failure.module.lines[line - 1 : line + dice.between(3, 9)],
            f"E   {failure.error}",
            "",
            f"{failure.module.path}:{line + dice.between(2, 7)}: {failure.error.split(':')[0]}",
        ]
    passed = dice.between(40, 400)
    parts += [
        f"Using --randomly-seed={failures[0].seed}",
        "=" * 22 + " short test summary info " + "=" * 22,
        *(f"FAILED {failure.test} - {failure.error}" for failure in failures),
        f"{len(failures)} failed, {passed} passed in {dice.between(2, 90)}.{dice.below(100):02}s",
    ]
    return "\n".join(parts)


def passed(dice: Dice, number: int) -> str:
    """A run of pytest that passes."""
    return f"{'.' * min(number, 60)} [100%]\n{number} passed in {dice.between(0, 40)}.{dice.below(100):02}s"


def commits(chosen: Sequence[Commit]) -> str:
    """As `git log --oneline`."""
    return "\n".join(f"{commit.digest} {commit.subject} ({commit.author})" for commit in chosen)


def diff(dice: Dice, commit: Commit) -> str:
    """A commit as `git show` prints it."""
    module = commit.module
    at = dice.between(12, len(module.lines) - 4)
    changed = module.lines[at].strip() or "pass"
    return "\n".join(
        [
            f"commit {commit.digest}",
            f"Author: {commit.author}",
            "",
            f"    {commit.subject}",
            "",
            f"--- a/{module.path}",
            f"+++ b/{module.path}",
            f"@@ -{at},7 +{at},7 @@",
            *(f" {line}" for line in module.lines[at - 3 : at]),
            f"-{module.lines[at].replace(changed, 'pass  # ' + changed[:20])}",
            f"+{module.lines[at]}",
            *(f" {line}" for line in module.lines[at + 1 : at + 4]),
        ]
    )


def log(dice: Dice, world: World, lines: int) -> tuple[str, list[str]]:
    """Lines of a log, and the requests that it tells were slow."""
    told, slow = [], []
    clock = dice.between(0, 80_000)
    for _ in range(lines):
        module, failure = dice.pick(world.modules), dice.pick(world.failures)
        template = dice.pick(LOG_LINES)
        request = f"req-{hexadecimal(dice, 8)}"
        n = dice.between(12, 900)
        values = {
            "module": module.dotted,
            "noun": module.noun,
            "other": dice.pick(world.domain.nouns),
            "name": dice.pick(module.functions).name,
            "request": request,
            "code": dice.pick(world.codes),
            "error": failure.error,
            "n": str(n),
            "m": str(n + dice.between(1, 90)),
        }
        clock += dice.between(0, 60)
        stamp = f"{clock // 3600 % 24:02}:{clock // 60 % 60:02}:{clock % 60:02}"
        told.append(f"{stamp} {fill(template, values)}")
        if "slow" in template:
            slow.append(request)
    return "\n".join(told), slow
