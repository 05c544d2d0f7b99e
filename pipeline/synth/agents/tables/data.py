"""The tables of a study: paths, columns, counts, limits, outliers, and what the pipeline logged of them."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.synth.agents.chances import hexadecimal
from pipeline.synth.banks.agents.tables import PERIODS, STUDIES, Study
from pipeline.synth.dice import Dice


@dataclass(frozen=True)
class Table:
    """One file: its columns, its number of rows, and by column its counts of values or its limits."""

    path: str
    name: str
    period: str
    columns: tuple[str, ...]
    rows: int
    counts: dict[str, tuple[tuple[str, int], ...]]
    limits: dict[str, dict[str, str]]
    outliers: tuple[str, ...]
    checksum: str
    run: str

    @property
    def spoken(self) -> str:
        """The file in words."""
        year, quarter = self.period.split("_q")
        ordinal = ("first", "second", "third", "fourth")[int(quarter) - 1]
        return f"{self.name.replace('_', ' ')} of the {ordinal} quarter of {year}"


@dataclass(frozen=True)
class Data:
    """A study with its tables."""

    study: Study
    tables: tuple[Table, ...]


def data(dice: Dice) -> Data:
    """The tables of one study, in several periods."""
    study = dice.pick(STUDIES)
    tables = []
    for name in study.tables:
        numbers, categories = dice.sample(study.numbers, dice.between(2, 4)), dice.sample(study.categories, 2)
        columns = (study.key, *dice.shuffled([*numbers, *categories, "recorded_at"]))
        for period in dice.sample(PERIODS, dice.between(2, 5)):
            tables.append(_table(dice, study, name, period, columns))
    return Data(study, tuple(tables))


def _table(dice: Dice, study: Study, name: str, period: str, columns: tuple[str, ...]) -> Table:
    rows = dice.between(4_000, 960_000)
    return Table(
        f"data/{study.folder}/{name}_{period}.csv",
        name,
        period,
        columns,
        rows,
        {column: _counts(dice, study, rows) for column in columns if column in study.categories},
        {column: _limits(dice) for column in columns if column in study.numbers},
        tuple(code(dice, study) for _ in range(dice.between(3, 9))),
        hexadecimal(dice, 32),
        f"run-{hexadecimal(dice, 7)}",
    )


def code(dice: Dice, study: Study) -> str:
    """A value of the key column."""
    return f"{study.prefix}{dice.between(100_000, 999_999)}"


def _counts(dice: Dice, study: Study, rows: int) -> tuple[tuple[str, int], ...]:
    left, counts = rows, []
    for value in dice.sample(study.values, dice.between(4, 8)):
        count = dice.between(left // 9, left // 2)
        left -= count
        counts.append((value, count))
    return tuple(sorted(counts, key=lambda pair: -pair[1]))


def _limits(dice: Dice) -> dict[str, str]:
    low = dice.between(1, 90)
    mid = low + dice.between(20, 900)
    high = mid + dice.between(300, 4_000)
    texts = {"min": low, "mean": mid, "p95": high, "max": high + dice.between(900, 90_000)}
    return {name: f"{value}.{dice.between(10, 99)}" for name, value in texts.items()}
