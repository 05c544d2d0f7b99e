"""The family: a task in a repository, and what an agent looks at first and next."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.synth.agents.chances import think
from pipeline.synth.agents.ends import LooseEnds
from pipeline.synth.agents.fresh import Fresh
from pipeline.synth.agents.repository import printed
from pipeline.synth.agents.repository.failing import Failing
from pipeline.synth.agents.repository.reading import Reading
from pipeline.synth.agents.repository.tracing import Tracing
from pipeline.synth.agents.repository.world import world
from pipeline.synth.agents.shell import script, shell
from pipeline.synth.agents.step import Step
from pipeline.synth.banks.agents.repository import TASKS, VERBS
from pipeline.synth.dice import Dice
from pipeline.synth.grammar import say


class RepositoryTask:
    """Repair a repository. What was read, searched and run before is what is edited and run again."""

    def __init__(self, dice: Dice) -> None:
        self.dice, self.ends, self.world = dice, LooseEnds(dice), world(dice)
        self.reading = Reading(dice, self.world, self.ends)
        self.failing, self.tracing = Failing(self.reading), Tracing(self.reading)
        domain = self.world.domain
        noun, other = dice.sample(domain.nouns, 2)
        values = {"package": domain.package, "about": domain.about, "noun": noun, "other": other}
        self.task = say(dice.pick(TASKS), dice, values)
        self._fresh = Fresh(dice)
        self._looks = (
            (self._open, 6),
            (self._search, 4),
            (self._test, 4),
            (self._history, 2),
            (self._settings, 2),
            (self._log, 2),
            (self._note, 1),
        )

    def start(self) -> Iterator[Step]:
        """Lists the files and the last commits."""
        paths = sorted(module.path for module in self.world.modules)
        others = [*self.world.settings, *sorted(self.world.logs)]
        command = f"git ls-files config logs '{self.world.domain.package}/**'"
        yield shell(command, "\n".join([*others, *paths]), think(self.dice, "survey"), [*others, *paths])
        yield from self._history()
        yield from self._test()

    def explore(self) -> Iterator[Step]:
        """Opens, searches, tests or reads something."""
        yield from self.dice.weighted(self._looks)()

    def finish(self) -> Iterator[Step]:
        """The last tests, a commit that tells what was found, the submission."""
        findings = list(dict.fromkeys(self.reading.findings))
        yield shell("python -m pytest tests -q", printed.passed(self.dice, 431), think(self.dice, "test"))
        lines = "\n".join(f"- {text}" for text in self.dice.sample(findings, 5))
        message = script(f"Stricter codes, and what led there\n\n{lines}", "git commit -a -F -")
        yield shell(message, f"[main {self.dice.between(1000000, 9999999)}] Stricter codes, and what led there")
        yield shell("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "submitted", think(self.dice, "finish"))

    def _open(self) -> Iterator[Step]:
        """Opens a file from its beginning, whole or a part of it."""
        module = self._fresh.pick("open", self.world.modules)
        last = len(module.lines) if self.dice.chance(0.3) else self.dice.between(25, 70)
        yield shell(
            f"cat -n {module.path} | head -n {last}",
            module.numbered(1, last),
            think(self.dice, "open", subject=module.noun),
            [*self.reading.shown_by(module, 1, last), *module.constants],
        )
        constant = self.dice.pick(module.constants)
        if self.dice.chance(0.4):
            hint = f"see who depends on the limit of the {module.noun}"
            self.ends.leave(hint, self.reading.search, constant, module.noun)

    def _search(self) -> Iterator[Step]:
        noun = self._fresh.pick("noun", self.world.domain.nouns)
        verb = self._fresh.pick("verb", VERBS)
        word = self.dice.pick((f"def {verb}_", f'settings.get("{noun}.', f"{noun}.code", f"{noun}.owner"))
        yield from self.reading.search(word, noun)

    def _test(self) -> Iterator[Step]:
        """Runs the tests of a part; a failure or several leave things to do."""
        failures = self.dice.sample([one for one in self.world.failures if one.open], self.dice.between(1, 4))
        nouns = sorted({one.module.noun for one in failures}) or ["slow"]
        command = f"python -m pytest tests -q -k '{' or '.join(nouns)}' 2>&1 | tail -n 160"
        if not failures:
            yield shell(command, printed.passed(self.dice, 212), think(self.dice, "test"))
            return
        shows = [
            text for one in failures for text in (one.test, one.error, one.code, one.seed, one.module.path, one.path)
        ]
        shows += [one.function.name for one in failures]
        yield shell(command, printed.failed(self.dice, failures), think(self.dice, "test"), shows, code=1)
        for failure in failures:
            self.failing.leave(failure)

    def _history(self) -> Iterator[Step]:
        first = self.dice.below(40)
        chosen = self.world.commits[first : first + self.dice.between(8, 20)]
        shows = [commit.digest for commit in chosen]
        command = f"git log --oneline --skip {first} -n {len(chosen)}"
        yield shell(command, printed.commits(chosen), think(self.dice, "history"), shows)
        for commit in self.dice.sample(chosen, 3):
            hint = f"look at the commit about the {commit.module.noun}"
            self.ends.leave(hint, self.tracing.show_commit, commit)

    def _settings(self) -> Iterator[Step]:
        path, settings = self._fresh.pick("settings", [*self.world.settings.items()])
        told = "\n".join(f"{key}: {value}" for key, value in settings)
        yield shell(
            f"cat {path}", told, think(self.dice, "config", subject="package"), [t for pair in settings for t in pair]
        )
        for key, value in self.dice.sample(settings, 3):
            hint = f"check the {key.split('.')[0]} tests against the settings"
            self.ends.leave(hint, self.tracing.use_setting, path, key, value)

    def _log(self) -> Iterator[Step]:
        path = self._fresh.pick("log", self.world.logs)
        told, slow = printed.log(self.dice, self.world, self.dice.between(20, 130))
        yield shell(f"tail -n {told.count(chr(10)) + 1} {path}", told, think(self.dice, "log"), slow)
        for request in self.dice.sample(slow, 2):
            hint = "follow one of the slow requests of the nightly log"
            self.ends.leave(hint, self.tracing.follow_request, path, request)

    def _note(self) -> Iterator[Step]:
        if len(set(self.reading.findings)) > 2:
            yield from self.tracing.note()
        else:
            yield from self._search()
