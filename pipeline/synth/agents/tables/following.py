"""Loose ends over tables: what an agent does with paths, columns, numbers and keys that it read before."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.synth.agents.chances import think
from pipeline.synth.agents.ends import LooseEnds
from pipeline.synth.agents.shell import script, shell
from pipeline.synth.agents.step import Step
from pipeline.synth.agents.tables import printed
from pipeline.synth.agents.tables.data import Data, Table, code
from pipeline.synth.dice import Dice


class Following:
    """The episodes that take up what was shown, over one study."""

    def __init__(self, dice: Dice, data: Data, ends: LooseEnds) -> None:
        self.dice, self.data, self.ends = dice, data, ends
        self._found: list[str] = []

    def found(self, *details: str) -> None:
        """Keeps details for the report."""
        self._found += details

    def known(self) -> list[str]:
        """What the report may tell, each once."""
        return list(dict.fromkeys(self._found))

    def join(self, left: Table, right: Table) -> Iterator[Step]:
        """Joins two files on their key; a first try may name a column that one of them lacks."""
        key, thought = self.data.study.key, think(self.dice, "join", subject=left.spoken)
        if self.dice.chance(0.4):
            wrong = key.replace("_code", "_id")
            frame = '  File "<stdin>", line 4, in <module>'
            told = f"Traceback (most recent call last):\n{frame}\nKeyError: '{wrong}'"
            yield shell(_merge(left, right, wrong), told, thought, code=1)
            thought = think(self.dice, "retry")
        rows, lost = self.dice.between(100, left.rows), self.dice.between(100, 9_000)
        told = f"{rows} rows\nboth          {rows - lost}\nleft_only     {lost}"
        yield shell(_merge(left, right, key), told, thought, [str(rows), str(lost)])
        self.found(f"{left.path} and {right.path}: {rows} rows", str(lost))
        self.ends.leave(
            f"list what the {left.spoken} has alone", self.only_left, left, right, str(lost)
        )  # fmt: skip

    def only_left(self, left: Table, right: Table, lost: str) -> Iterator[Step]:
        """Lists keys that a join lost, and checks their number."""
        keys = [code(self.dice, self.data.study) for _ in range(self.dice.between(4, 30))]
        body = (
            f'import pandas as pd\nleft, right = pd.read_csv("{left.path}"), pd.read_csv("{right.path}")\n'
            f"alone = left[~left.{self.data.study.key}.isin(right.{self.data.study.key})]\n"
            f"assert len(alone) == {lost}\n"
            f"print(alone.{self.data.study.key}.head({len(keys)}).to_string(index=False))"
        )
        thought = think(self.dice, "check", subject=left.spoken)
        yield shell(script(body), "\n".join(keys), thought, keys)
        key = self.dice.pick(keys)
        self.ends.leave(f"follow one record that the {left.spoken} has alone", self.inspect, left, key)

    def inspect(self, table: Table, key: str) -> Iterator[Step]:
        """Looks for a key in a file, then perhaps in all."""
        told, _ = printed.head(self.dice, self.data, table, 3, [key, key])
        lines = told.split("\n")[1:3]
        numbers = [str(self.dice.between(1000, table.rows)) for _ in lines]
        told = "\n".join(f"{number}:{line}" for number, line in zip(numbers, lines, strict=True))
        thought = think(self.dice, "check", subject=table.spoken)
        yield shell(f"grep -n '^{key},' {table.path}", told, thought, numbers)
        if self.dice.chance(0.3):
            others = [one for one in self.data.tables if one.period == table.period]
            told = "\n".join(f"{one.path}:{self.dice.below(4)}" for one in others)
            yield shell(f"grep -c '^{key},' data/*/*_{table.period}.csv", told)
        self.found(key)
        hint = f"look at the rows around that record in the {table.spoken}"
        self.ends.leave(hint, self.around, table, numbers[0])

    def around(self, table: Table, number: str) -> Iterator[Step]:
        """The rows from a line number on."""
        told, keys = printed.head(self.dice, self.data, table, self.dice.between(3, 12))
        last = int(number) + len(keys) - 1
        thought = think(self.dice, "look", subject=table.spoken)
        yield shell(f"sed -n '{number},{last}p' {table.path}", told.split("\n", 1)[1], thought, keys)

    def beyond(self, table: Table, column: str, limit: str) -> Iterator[Step]:
        """Counts, and lists, what lies above a limit."""
        keys = self.dice.sample(table.outliers, 4)
        count = str(self.dice.between(100, max(200, table.rows // 20)))
        body = (
            f'import pandas as pd\nframe = pd.read_csv("{table.path}")\nhigh = frame[frame["{column}"] > {limit}]\n'
            f'print(len(high), "of", len(frame))\nprint(high[["{self.data.study.key}", "{column}"]].head())'
        )
        rows = "\n".join(f"{self.dice.between(100, 9999):>6} {key} {self.dice.between(5000, 99999)}.5" for key in keys)
        thought = think(self.dice, "measure", subject=table.spoken)
        yield shell(script(body), f"{count} of {table.rows}\n{rows}", thought, [count, str(table.rows), *keys])
        self.found(f"{table.path}: {count} above {limit}", limit, count)

    def group(self, table: Table, column: str, value: str) -> Iterator[Step]:
        """Statistics of one group."""
        place = table.columns.index(column) + 1
        count = str(dict(table.counts[column])[value])
        thought = think(self.dice, "check", subject=table.spoken)
        yield shell(f"awk -F, '${place} == \"{value}\"' {table.path} | wc -l", count, thought, [count])
        number = self.dice.pick([*table.limits])
        mean = f"{self.dice.between(10, 4000)}.{self.dice.between(10, 99)}"
        body = (
            f'import pandas as pd\nframe = pd.read_csv("{table.path}")\n'
            f'print(frame.loc[frame["{column}"] == "{value}", "{number}"].mean())'
        )
        yield shell(script(body), mean, shows=[mean])
        self.found(f"{value}: {count} rows, mean {mean}", value)

    def compare_rows(self, table: Table) -> Iterator[Step]:
        """Checks a number of rows that was counted before."""
        body = (
            f'import pandas as pd\nframe = pd.read_csv("{table.path}")\n'
            f"assert len(frame) + 1 == {table.rows + 1}, len(frame)\n"
            f'print(frame["{self.data.study.key}"].nunique())'
        )
        unique = str(table.rows - self.dice.between(3, 900))
        yield shell(script(body), unique, think(self.dice, "check", subject=table.spoken), [unique])
        self.found(f"{table.path}: {table.rows + 1} lines", unique)

    def verify(self, table: Table) -> Iterator[Step]:
        """Checks a file against the checksum in the log."""
        fits = self.dice.chance(0.7)
        told = (
            f"{table.path}: OK" if fits else f"{table.path}: FAILED\nmd5sum: WARNING: 1 computed checksum did NOT match"
        )
        command = f"echo '{table.checksum}  {table.path}' | md5sum -c"
        yield shell(command, told, think(self.dice, "check", subject=table.spoken), code=int(not fits))
        self.found(f"{table.path}: checksum {'fits' if fits else 'differs'}", table.checksum)

    def trace(self, table: Table) -> Iterator[Step]:
        """What the logs tell of a run."""
        told, rejected = printed.log(self.dice, self.data, [table], 12)
        yield shell(f"grep -h '{table.run}' logs/*.log", told, think(self.dice, "log"), [*rejected, table.checksum])
        self.found(table.run)

    def report(self) -> Iterator[Step]:
        """Writes some findings into the report; looks at it where there are too few."""
        known = self.known()
        if len(known) < 4:
            yield shell("cat report.md", "cat: report.md: No such file or directory", code=1)
            return
        lines = "\n".join(f"- {text}" for text in self.dice.sample(known, self.dice.between(2, 4)))
        yield shell(script(lines, "cat >> report.md"), "", think(self.dice, "note"))


def _merge(left: Table, right: Table, key: str) -> str:
    return script(
        f'import pandas as pd\nleft = pd.read_csv("{left.path}")\nright = pd.read_csv("{right.path}")\n'
        f'both = left.merge(right, on="{key}", how="left", indicator=True)\nprint(len(both), "rows")\n'
        "print(both._merge.value_counts())"
    )
