"""What commands print of tables."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.synth.agents.tables.data import Data, Table, code
from pipeline.synth.banks.agents.tables import REJECTS
from pipeline.synth.dice import Dice


def head(dice: Dice, data: Data, table: Table, lines: int, keys: Sequence[str] = ()) -> tuple[str, list[str]]:
    """The first lines of a file, and the keys in them."""
    known = [*keys, *(code(dice, data.study) for _ in range(lines - len(keys)))]
    rows = [",".join(_cell(dice, data, table, column, key) for column in table.columns) for key in known]
    return "\n".join([",".join(table.columns), *rows]), known


def listing(dice: Dice, tables: Sequence[Table]) -> str:
    """As `ls -l`."""
    return "\n".join(
        f"-rw-r--r-- 1 data data {table.rows * dice.between(31, 90):>10} {dice.pick(('Jan', 'Apr', 'Jul', 'Oct'))} "
        f"{dice.between(1, 28):2} {dice.below(24):02}:{dice.below(60):02} {table.path}"
        for table in tables
    )


def statistics(table: Table, columns: Sequence[str]) -> str:
    """Limits of columns, a line each."""
    heads = ("min", "mean", "p95", "max")
    lines = [" " * 16 + "".join(f"{name:>12}" for name in heads)]
    lines += [f"{column:<16}" + "".join(f"{table.limits[column][name]:>12}" for name in heads) for column in columns]
    return "\n".join(lines)


def log(dice: Dice, data: Data, tables: Sequence[Table], rejects: int) -> tuple[str, list[str]]:
    """A log of the pipeline for some files, and the keys that it rejected."""
    lines, rejected = [], []
    for table in tables:
        lines.append(f"[{table.run}] read {table.path}")
        for _ in range(dice.between(0, rejects)):
            key = code(dice, data.study)
            rejected.append(key)
            lines.append(f"[{table.run}] reject {data.study.key}={key}: {dice.pick(REJECTS)}")
        for number in range(dice.between(1, 4)):
            lines.append(
                f"[{table.run}] chunk {number}: {dice.between(1000, 90_000)} rows in {dice.between(40, 900)} ms"
            )
        lines.append(f"[{table.run}] wrote {table.rows} rows, md5 {table.checksum}")
    return "\n".join(lines), rejected


def dictionary(dice: Dice, data: Data, table: Table) -> tuple[str, dict[str, str]]:
    """The documentation of a table, and the limit that it gives for each number."""
    limits = {column: f"{dice.between(500, 99_000)}.5" for column in table.limits}
    lines = [f"# {table.name}", "", f"Key: `{data.study.key}` ({data.study.prefix} and six digits).", ""]
    for column in table.columns:
        lines += [f"## {column}", ""]
        if column in limits:
            lines += [f"A number. Exclude what is above {limits[column]}: sensors saturate there.", ""]
        elif column in table.counts:
            lines += ["One of:", "", *(f"- `{value}`" for value, _ in table.counts[column][:-1]), ""]
        else:
            lines += ["See the key, or a time in UTC.", ""]
    return "\n".join(lines), limits


def _cell(dice: Dice, data: Data, table: Table, column: str, key: str) -> str:
    if column == data.study.key:
        return key
    if column in table.counts:
        return dice.pick(table.counts[column])[0]
    if column in table.limits:
        return f"{dice.between(1, 4000)}.{dice.below(10)}"
    return (
        f"{table.period[:4]}-{dice.between(1, 12):02}-{dice.between(1, 28):02}T{dice.below(24):02}:{dice.below(60):02}"
    )
