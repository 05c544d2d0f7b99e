"""What `slatemill requests` prints: two lines for each request, whatever the length of its ids."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from jobs.list_requests import Listed
from jobs.plain import plain

_TEXT_START = 200
"""Characters of a text that may be shown: one line of a wide terminal."""


def show_listed(listed: Listed, out: Console) -> None:
    """Each request with its mode, time and history, below it how it begins; then how many there are."""
    if not listed.total:
        whose = "" if listed.history is None else f" of history {plain(listed.history)}"
        out.print(Text(f"{listed.lake} has no request{whose}"), soft_wrap=True)
        return
    for row in listed.rows.iter_rows(named=True):
        when = "no time" if row["asked_at"] is None else f"{row['asked_at']:%Y-%m-%d %H:%M} UTC"
        about = plain(f", {row['mode']}, {when}, of history {row['history_id']}")
        # An id that is broken over two lines could not be copied.
        out.print(Text.assemble((plain(row["request_id"]), "bold"), about), soft_wrap=True)
        begun = " ".join(plain(row["text"][:_TEXT_START]).split())
        out.print(Text(f"  {begun}"), overflow="ellipsis", no_wrap=True)
    more = "; --limit shows more" if listed.rows.height < listed.total else ""
    out.print(Text(f"{listed.rows.height:,} of {listed.total:,} request{'s' * (listed.total != 1)}{more}", style="dim"))
