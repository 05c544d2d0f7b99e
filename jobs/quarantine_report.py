"""What `slatemill quarantine` prints."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jobs.plain import plain
from jobs.quarantine import Group, Requeued

_REASONS = 10
"""Reasons that are shown of one code; the rest is counted."""


def show_groups(groups: Sequence[Group], out: Console) -> None:
    """Counts by stage, code and reason, the most frequent reasons first."""
    if not groups:
        out.print("nothing is in quarantine")
        return
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column("stage", no_wrap=True)
    table.add_column("code", no_wrap=True)
    for name in ("rows", "lost", "shards"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("reason", overflow="fold")
    for (stage, choice, code), found in groupby(groups, lambda group: (group.stage, group.choice, group.code)):
        of_code = list(found)
        for group in of_code[:_REASONS]:
            counts = (f"{group.rows:,}", f"{group.lost:,}", f"{group.shards:,}")
            table.add_row(f"{stage}\n{choice}".strip(), code, *counts, Text(plain(group.reason)))
        rest = of_code[_REASONS:]
        if rest:
            rows, lost = sum(group.rows for group in rest), sum(group.lost for group in rest)
            table.add_row(stage, code, f"{rows:,}", f"{lost:,}", "", f"... {len(rest):,} more reasons")
    out.print(table)
    out.print(Text("lost: rows that count toward the quarantine limit; the others are notes"))


def show_rows(rows: pl.DataFrame, total: int, out: Console) -> None:
    """Each row with where it stood, whose it is, and why it is here."""
    for row in rows.iter_rows(named=True):
        stage = f"{row['stage']}{' ' + row['choice'] if row['choice'] else ''}"
        note = "" if row["weight"] else " (a note: nothing is lost)"
        out.print(Text(f"{row['code']}: {plain(row['reason'])}{note}", style="bold"))
        out.print(Text(f"  {stage}, batch {row['batch']}, bucket {row['bucket']}{_place(row)}"))
    if total > rows.height:
        out.print(Text(f"{rows.height:,} of {total:,} rows; --limit shows more", style="dim"))
    if not total:
        out.print("nothing of it is in quarantine")


def _place(row: dict[str, Any]) -> str:
    named = {
        "": row["file"],
        "at ": row["place"],
        "history ": row["history_id"],
        "request ": row["request_id"],
        "session_index ": row["session_index"],
        "turn_index ": row["turn_index"],
    }
    return "".join(f", {name}{plain(str(value))}" for name, value in named.items() if value is not None)


def show_requeued(taken: Requeued, command: str, out: Console) -> None:
    """What was taken back in, and the run that computes it; `command` is that run."""
    if not taken.units:
        out.print(Text(f"{taken.stage}: no unit was taken out by bisection; what the stage itself refused stays"))
        return
    backfill = f" --backfill {taken.stage}" if taken.costly else ""
    out.print(Text(f"{taken.stage}: {taken.units:,} unit(s) of {taken.shards:,} shard(s) are taken back in. Now run"))
    out.print(Text(f"{command}{backfill}"), soft_wrap=True)
