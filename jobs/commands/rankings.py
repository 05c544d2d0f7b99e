"""slatemill rankings: import, list."""

from __future__ import annotations

from typing import Annotated

import typer

from cluster.exits import OVER_QUARANTINE, QUARANTINE_LIMIT
from jobs.commands.console import err, out, say_json
from jobs.commands.options import AsJson, LakeUrl

app = typer.Typer(no_args_is_help=True, help="Rankings of other systems, to be filled and evaluated beside ours.")


@app.command("import", epilog="Example: slatemill rankings import lake mem0.parquet --name mem0")
def rankings_import(
    lake: LakeUrl,
    source: Annotated[str, typer.Argument(metavar="FILE", help="Parquet: a file, a folder, a glob or a URL.")],
    name: Annotated[str, typer.Option("--name", "-n", help="What the policy is called in slates.policies.")],
    as_json: AsJson = False,
) -> None:
    """Store what another system ranked for the requests of a lake; it becomes a policy.

    Columns: request_id, source_turn, score; history_id and source_session where the ids alone do not tell. Another
    file under the same name replaces the first; the same one again is a no-op.
    """
    from cluster.lake import Lake
    from jobs.import_ranking import import_ranking
    from jobs.rankings_report import show_import

    report = import_ranking(Lake.open(lake), source, name)
    if as_json:
        say_json(report.as_dict())
    else:
        show_import(report, lake, out)
    if report.lost_share > QUARANTINE_LIMIT:
        said = f"more than {QUARANTINE_LIMIT:.0%} of the rows are in quarantine, all else is stored"
        err.print(f"{said}: hence exit code {OVER_QUARANTINE}", style="yellow", markup=False, highlight=False)
        raise typer.Exit(OVER_QUARANTINE)


@app.command("list", epilog="Example: slatemill rankings list lake")
def rankings_list(lake: LakeUrl, as_json: AsJson = False) -> None:
    """List the rankings that a lake holds."""
    from cluster.lake import Lake
    from jobs.rankings import rankings_of
    from jobs.rankings_report import show_rankings

    found = rankings_of(Lake.open(lake))
    if as_json:
        say_json([{"name": name, "counts": record.counts} for name, record in found.items()])
    else:
        show_rankings(found, out)
