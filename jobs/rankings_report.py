"""What `slatemill rankings` prints."""

from __future__ import annotations

from collections.abc import Mapping

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cluster.hints import command
from jobs.import_ranking import ImportReport
from jobs.rankings import RANKINGS, Imported


def show_import(report: ImportReport, lake: str, out: Console) -> None:
    """What came of a file's rows, and what to do next."""
    counts = report.counts
    said = "already imported" if report.already else "imported"
    ranked = f"{counts['turns']:,} turns ranked for {counts['requests']:,} requests, of {counts['rows']:,} rows"
    out.print(Text(f"{report.name}: {said}, {ranked}"), soft_wrap=True)
    if counts.get("unseen"):
        out.print(Text(f"  {counts['unseen']:,} dropped: the request must not see the turn"))
    if counts.get("repeated"):
        out.print(Text(f"  {counts['repeated']:,} dropped: they name a turn again, with a score that is no higher"))
    if report.lost:
        where = f"see `{command('quarantine', 'show', lake, '--stage', RANKINGS)}`"
        out.print(Text(f"  {report.lost:,} row(s) in quarantine: {where}", style="yellow"), soft_wrap=True)


def show_rankings(found: Mapping[str, Imported], out: Console) -> None:
    """One line a ranking."""
    if not found:
        out.print("no ranking was imported")
        return
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column("name", no_wrap=True)
    for name in ("requests", "turns", "rows"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, record in found.items():
        table.add_row(Text(name), *(f"{record.counts[column]:,}" for column in ("requests", "turns", "rows")))
    out.print(table)
