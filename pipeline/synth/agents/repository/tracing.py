"""Loose ends of the history, the settings and the logs: take up a commit, a key with its value, a request."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.synth.agents.chances import think
from pipeline.synth.agents.repository import printed
from pipeline.synth.agents.repository.reading import Reading
from pipeline.synth.agents.repository.world import Commit
from pipeline.synth.agents.shell import script, shell
from pipeline.synth.agents.step import Step


class Tracing:
    """What an agent does with traces that it saw."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.dice, self.world, self.ends = reading.dice, reading.world, reading.ends

    def show_commit(self, commit: Commit) -> Iterator[Step]:
        """Shows a commit of the history, and what it changed."""
        path, subject = commit.module.path, commit.module.noun
        stat = f" {path} | {self.dice.between(2, 40)} ++--\n 1 file changed"
        told = f"commit {commit.digest}\nAuthor: {commit.author}\n\n    {commit.subject}\n\n{stat}"
        yield shell(f"git show --stat {commit.digest}", told, think(self.dice, "commit", subject=subject), [path])
        if self.dice.chance(0.5):
            yield shell(f"git show {commit.digest} -- {path}", printed.diff(self.dice, commit), shows=[path])
        self.reading.findings.append(commit.digest)
        self.ends.leave(f"see who changed the {subject} file since that commit", self.since, commit)

    def since(self, commit: Commit) -> Iterator[Step]:
        """What changed a file since a commit."""
        others = self.dice.sample(self.world.commits, self.dice.between(1, 6))
        command = f"git log --oneline {commit.digest}..HEAD -- {commit.module.path}"
        shows = [other.digest for other in others]
        yield shell(command, printed.commits(others), think(self.dice, "history"), shows)

    def use_setting(self, path: str, key: str, value: str) -> Iterator[Step]:
        """Uses a setting that was read: searches for it, or runs with its value."""
        noun, setting = key.split(".")
        if self.dice.chance(0.5):
            yield from self.reading.search(key, noun)
        variable = f"{self.world.domain.package}_{noun}_{setting}".upper()
        command = f"{variable}={value} python -m pytest tests -q -k {noun}"
        told = printed.passed(self.dice, self.dice.between(6, 60))
        yield shell(command, told, think(self.dice, "config", subject=noun))
        if self.dice.chance(0.4):
            told = f"{self.dice.between(3, 60)}:{key}: {value}"
            yield shell(f"grep -n '{key}: {value}' {path}", told, shows=[value])
        self.reading.findings.append(key)

    def follow_request(self, path: str, request: str) -> Iterator[Step]:
        """Follows a slow request through a log."""
        told, _ = printed.log(self.dice, self.world, self.dice.between(3, 12))
        lines = [f"{line} [{request}]" for line in told.split("\n")]
        module = self.dice.pick(self.world.modules)
        gave_up = f"gave up after {self.dice.between(1000, 9000)} ms [{request}]"
        lines.append(f"{lines[-1][:8]} ERROR {module.dotted} {gave_up}")
        yield shell(f"grep -n '{request}' {path}", "\n".join(lines), think(self.dice, "log"), [module.dotted])
        self.reading.findings.append(request)

    def note(self) -> Iterator[Step]:
        """Writes down some of the findings."""
        known = list(dict.fromkeys(self.reading.findings))
        chosen = self.dice.sample(known, self.dice.between(2, 4))
        lines = "\n".join(f"- {text}" for text in chosen)
        command = script(lines, f"cat >> {self.dice.pick(('NOTES.md', 'CHANGELOG.md'))}")
        yield shell(command, "", think(self.dice, "note"))
