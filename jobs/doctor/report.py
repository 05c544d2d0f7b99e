"""What a person sees of the checks, each as it ends."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jobs.doctor.check import Finding

_STYLES = {"ok": "green", "warning": "yellow", "fails": "bold red"}
_STATE, _NAME = 7, 15


def show_finding(finding: Finding, out: Console) -> None:
    """One check: its state, its name, what it found, and below it what to do."""
    row = Table.grid(padding=(0, 1))
    row.add_column(width=_STATE)
    row.add_column(width=_NAME)
    row.add_column(overflow="fold")
    said = Text(finding.said)
    if finding.to_do:
        said.append(f"\n-> {finding.to_do}", style="bold")
    row.add_row(Text(finding.state, style=_STYLES[finding.state]), Text(finding.name), said)
    out.print(row, highlight=False)


def show_verdict(profile: str, well: bool, out: Console) -> None:
    """Whether the profile works here."""
    said = f"profile {profile} works here" if well else f"profile {profile} does not work here: see what fails"
    out.print(Padding(Text(said, style="bold"), (1, 0, 0, 0)))
