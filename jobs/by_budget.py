"""Tables of what is measured of slates, by budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from pipeline.evaluate.bootstrap import Estimate


def show_by_budget(title: str, headings: Sequence[str], rows: Sequence[Sequence[Any]], out: Console) -> None:
    """A table of rows (budget, name, texts of the cells), by budget; nothing where there are no rows."""
    if not rows:
        return
    out.print(title, highlight=False)
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column("slates of", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for budget in sorted({row[0] for row in rows}):
        table.add_row(f"{budget:,} tokens", style="bold")
        for _, name, *cells in (row for row in rows if row[0] == budget):
            table.add_row(f"  {name}", *cells)
    out.print(table)


def pair(estimate: Estimate) -> tuple[str, str]:
    """A value and its interval."""
    return estimate.text(), "" if estimate.low is None else f"{estimate.low:.2f}-{estimate.high:.2f}"
