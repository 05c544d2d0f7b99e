"""slatemill quarantine: list, show, requeue."""

from __future__ import annotations

from typing import Annotated

import typer

from cluster.hints import command
from jobs.commands.console import out, say_json
from jobs.commands.options import AsJson, LakeUrl, ProfileName
from jobs.names import DEFAULT_PROFILE, complete_profile

app = typer.Typer(no_args_is_help=True, help="What could not be processed: count it, read it, take it back.")

OfStage = Annotated[str | None, typer.Option("--stage", "-s", help="ingest, or a stage of a run. Default: all.")]


@app.command("list", epilog="Example: slatemill quarantine list lake")
def quarantine_list(
    lake: LakeUrl,
    stage: OfStage = None,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile", "-p", help="Only what this profile uses. Default: all.", autocompletion=complete_profile
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count what is in quarantine, by stage, code and reason."""
    from cluster.lake import Lake
    from jobs.config import load_profile
    from jobs.quarantine import kept_aside
    from jobs.quarantine_report import show_groups

    groups = kept_aside(Lake.open(lake), stage, None if profile is None else load_profile(profile))
    if as_json:
        say_json([group.as_dict() for group in groups])
    else:
        show_groups(groups, out)


@app.command("show", epilog="Example: slatemill quarantine show lake --limit 5")
def quarantine_show(
    lake: LakeUrl,
    stage: OfStage = None,
    code: Annotated[str | None, typer.Option("--code", "-c", help="Only rows with this code.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many rows.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show the rows in quarantine: where each stood in its source, whose it is, and why it is there."""
    from cluster.lake import Lake
    from jobs.quarantine import rows_aside
    from jobs.quarantine_report import show_rows

    rows = rows_aside(Lake.open(lake), stage, code)
    if as_json:
        say_json(rows.head(limit).to_dicts())
    else:
        show_rows(rows.head(limit), rows.height, out)


@app.command("requeue", epilog="Example: slatemill quarantine requeue lake --stage pools --profile lexical")
def quarantine_requeue(
    lake: LakeUrl,
    stage: Annotated[str, typer.Option("--stage", "-s", help="A stage of a run.")],
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Take back in what was taken out because it killed its worker: the next run computes it anew."""
    from cluster.lake import Lake
    from jobs.config import load_profile
    from jobs.quarantine import requeue
    from jobs.quarantine_report import show_requeued

    taken = requeue(Lake.open(lake), load_profile(profile), stage)
    if as_json:
        say_json(taken.as_dict())
    else:
        show_requeued(taken, command("run", lake, "--profile", profile), out)
