"""`slatemill formats`: what can be ingested, as each reader says of itself."""

from __future__ import annotations

import inspect
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.ingest.formats import FORMATS
from pipeline.ingest.options import FLAGS


@dataclass(frozen=True)
class Described:
    """A format: its name, one line of what it is, and the options that it takes."""

    name: str
    what: str
    options: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, by the names above."""
        return asdict(self)


def formats() -> list[Described]:
    """Every format, in the order in which they are told apart."""
    return [
        Described(name, _first_line(inspect.getmodule(known.read)), ("items", *known.options))
        for name, known in FORMATS.items()
    ]


def show_formats(described: list[Described], out: Console) -> None:
    """Each format, what it is, and under it its options."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in described:
        said = Text(f"{one.what}\n")
        said.append(f"options: {', '.join(FLAGS[option] for option in one.options)}", style="dim")
        table.add_row(Text(one.name, style="bold"), said)
    out.print(table, highlight=False)


def _first_line(module: object) -> str:
    return (inspect.getdoc(module) or "").partition("\n")[0]
