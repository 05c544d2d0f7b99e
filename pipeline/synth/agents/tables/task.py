"""The family: an analysis of tables in a shell, and what an agent looks at first and next."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.synth.agents.chances import think
from pipeline.synth.agents.ends import LooseEnds
from pipeline.synth.agents.fresh import Fresh
from pipeline.synth.agents.shell import script, shell
from pipeline.synth.agents.step import Step
from pipeline.synth.agents.tables import printed
from pipeline.synth.agents.tables.data import Table, data
from pipeline.synth.agents.tables.following import Following
from pipeline.synth.banks.agents.tables import TASKS
from pipeline.synth.dice import Dice
from pipeline.synth.grammar import say


class TablesTask:
    """Explain numbers. Paths, columns, counts, limits and keys that were read are what filters and joins need."""

    def __init__(self, dice: Dice) -> None:
        self.dice, self.ends, self.data = dice, LooseEnds(dice), data(dice)
        self.following = Following(dice, self.data, self.ends)
        self._fresh = Fresh(dice)
        study = self.data.study
        first, second = dice.sample(study.tables, 2)
        values = {"folder": study.folder, "about": study.about, "first": first, "second": second}
        self.task = say(dice.pick(TASKS), dice, values)
        self._looks = (
            (self._head, 5),
            (self._count, 2),
            (self._statistics, 4),
            (self._categories, 4),
            (self._duplicates, 3),
            (self._dictionary, 2),
            (self._log, 3),
            (self._report, 2),
        )

    def start(self) -> Iterator[Step]:
        """Lists the files and looks at one or two."""
        tables = sorted(self.data.tables, key=lambda table: table.path)
        shows = [table.path for table in tables]
        command = f"ls -l data/{self.data.study.folder}/*.csv"
        yield shell(command, printed.listing(self.dice, tables), think(self.dice, "survey"), shows)
        yield from self._head()
        yield from self._count()

    def explore(self) -> Iterator[Step]:
        """Looks at a file, a column, a page of the documentation, or a log."""
        yield from self.dice.weighted(self._looks)()

    def finish(self) -> Iterator[Step]:
        """The last part of the report, a look at it, the submission."""
        findings = self.following.known()
        lines = "\n".join(f"- {text}" for text in self.dice.sample(findings, 6))
        yield shell(script(f"## Conclusions\n\n{lines}", "cat >> report.md"), "", think(self.dice, "note"))
        yield shell(
            "wc -l report.md", f"{self.dice.between(20, 90)} report.md", think(self.dice, "check", subject="report")
        )
        yield shell("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "submitted", think(self.dice, "finish"))

    def _table(self, way: str) -> Table:
        return self._fresh.pick(way, self.data.tables)

    def _head(self) -> Iterator[Step]:
        table = self._table("head")
        lines = self.dice.pick((4, 6, 10, 25, 60))
        told, keys = printed.head(self.dice, self.data, table, lines)
        thought = think(self.dice, "look", subject=table.spoken)
        yield shell(f"head -n {lines + 1} {table.path}", told, thought, [*table.columns, *keys])
        other = self._table("join")
        self.ends.leave(f"join the {table.spoken} with another table", self.following.join, table, other)
        key = self.dice.pick(keys)
        self.ends.leave(
            f"see where else a record of the {table.spoken} occurs", self.following.inspect, table, key
        )  # fmt: skip

    def _count(self) -> Iterator[Step]:
        name = self._fresh.pick("count", self.data.study.tables)
        tables = [table for table in self.data.tables if table.name == name]
        told = [f"{table.rows + 1:>9} {table.path}" for table in tables]
        total = f"{sum(table.rows + 1 for table in tables):>9} total"
        shows = [text for table in tables for text in (table.path, str(table.rows + 1))]
        command = f"wc -l data/{self.data.study.folder}/{name}_*.csv"
        yield shell(command, "\n".join([*told, total]), think(self.dice, "measure", subject=name), shows)
        for table in self.dice.sample(tables, 2):
            hint = f"check that no row of the {table.spoken} got lost"
            self.ends.leave(hint, self.following.compare_rows, table)

    def _statistics(self) -> Iterator[Step]:
        table = self._table("statistics")
        columns = self.dice.sample([*table.limits], self.dice.between(1, 4))
        body = (
            f'import pandas as pd\nframe = pd.read_csv("{table.path}")\n'
            f"print(frame[{columns!r}].describe(percentiles=[0.95]).T)"
        )
        shows = [table.limits[column][name] for column in columns for name in ("mean", "p95", "max")]
        thought = think(self.dice, "measure", subject=table.spoken)
        yield shell(script(body), printed.statistics(table, columns), thought, [*shows, *columns])
        column = self.dice.pick(columns)
        hint = f"list what lies in the upper tail of the {table.spoken}"
        self.ends.leave(hint, self.following.beyond, table, column, table.limits[column]["p95"])
        self.following.found(f"{table.path}: {column} up to {table.limits[column]['max']}", *shows[:2])

    def _categories(self) -> Iterator[Step]:
        table = self._table("categories")
        column = self.dice.pick([*table.counts])
        place = table.columns.index(column) + 1
        told = "\n".join(f"{count:>8} {value}" for value, count in table.counts[column])
        command = f"cut -d, -f{place} {table.path} | tail -n +2 | sort | uniq -c | sort -rn"
        shows = [text for value, count in table.counts[column] for text in (value, str(count))]
        yield shell(command, told, think(self.dice, "measure", subject=table.spoken), shows)
        value, count = self.dice.pick(table.counts[column])
        hint = f"look at one group of the {table.spoken}"
        self.ends.leave(hint, self.following.group, table, column, value)
        self.following.found(str(count), value)

    def _duplicates(self) -> Iterator[Step]:
        table = self._table("duplicates")
        told = "\n".join(f"{self.dice.between(2, 9):>7} {key}" for key in table.outliers)
        command = f"cut -d, -f1 {table.path} | sort | uniq -cd | sort -rn | head"
        yield shell(command, told, think(self.dice, "measure", subject=table.spoken), table.outliers)
        for key in self.dice.sample(table.outliers, 2):
            hint = f"see a duplicate of the {table.spoken}"
            self.ends.leave(hint, self.following.inspect, table, key)
        self.following.found(self.dice.pick(table.outliers))

    def _dictionary(self) -> Iterator[Step]:
        name = self._fresh.pick("dictionary", self.data.study.tables)
        table = next(table for table in self.data.tables if table.name == name)
        told, limits = printed.dictionary(self.dice, self.data, table)
        command = f"cat docs/{self.data.study.folder}/{table.name}.md"
        yield shell(command, told, think(self.dice, "look", subject=table.name), [*table.columns, *limits.values()])
        for column in self.dice.sample([*limits], 2):
            hint = f"count what the documentation excludes from the {table.spoken}"
            self.ends.leave(hint, self.following.beyond, table, column, limits[column])

    def _log(self) -> Iterator[Step]:
        tables = self.dice.sample(self.data.tables, self.dice.between(2, 6))
        told, rejected = printed.log(self.dice, self.data, tables, self.dice.pick((2, 8, 20)))
        day = f"2024-{self.dice.between(1, 12):02}-{self.dice.between(1, 28):02}"
        shows = [text for table in tables for text in (table.run, table.checksum, table.path, str(table.rows))]
        yield shell(f"cat logs/pipeline-{day}.log", told, think(self.dice, "log"), [*shows, *rejected])
        for table in self.dice.sample(tables, 2):
            hint = f"verify the checksum of the {table.spoken}"
            self.ends.leave(hint, self.following.verify, table)
        table = self.dice.pick(tables)
        self.ends.leave(
            f"find out which run wrote the {table.spoken}, and how it ended", self.following.trace, table
        )  # fmt: skip
        if rejected:
            key = self.dice.pick(rejected)
            hint = "see whether a rejected record is in the tables all the same"
            self.ends.leave(hint, self.following.inspect, table, key)

    def _report(self) -> Iterator[Step]:
        yield from self.following.report()
