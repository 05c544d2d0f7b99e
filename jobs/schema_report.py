"""What `slatemill schema` prints: one table's columns, or a line for each table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text


def show_tables(tables: Mapping[str, Any], out: Console) -> None:
    """The tables with their columns' number and the first sentence about each."""
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column("table", no_wrap=True)
    table.add_column("columns", justify="right", no_wrap=True)
    table.add_column("holds", overflow="fold")
    for name, info in tables.items():
        table.add_row(name, str(len(info["columns"])), Text(f"{info['description'].split('. ')[0].rstrip('.')}"))
    out.print(table)
    out.print(Text("`slatemill schema TABLE` shows the columns of one"))


def show_table(name: str, info: Mapping[str, Any], out: Console) -> None:
    """One table: what it holds, and its columns."""
    table = Table(title=f"table {name}", title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    for heading in ("column", "type", "null"):
        table.add_column(heading, no_wrap=True)
    for place, column in _flattened(info["columns"]):
        table.add_row(Text(place), Text(column["type"]), "yes" if column["nullable"] else "no")
    out.print(table)
    out.print(Text(info["description"]))


def _flattened(columns: Sequence[Mapping[str, Any]], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    for column in columns:
        place = f"{prefix}{column['name']}"
        yield place, column
        many = "[]" if "list<" in column["type"] else ""
        yield from _flattened(column.get("fields", ()), f"{place}{many}.")
