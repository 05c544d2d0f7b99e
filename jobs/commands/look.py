"""What a lake holds, and where it stands: status, requests, show, schema, features."""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.commands.console import err, out, say_json
from jobs.commands.options import AsJson, LakeUrl, ProfileName, RankerName, ranker_of
from jobs.names import DEFAULT_PROFILE, complete_profile

app = typer.Typer()


@app.command(epilog="Example: slatemill status lake --profile lexical")
def status(
    lake: LakeUrl, profile: ProfileName = DEFAULT_PROFILE, ranker: RankerName = None, as_json: AsJson = False
) -> None:
    """Show where a lake stands: its stages, the last run, a run or an ingest under way.

    waiting: will be done anew only if what it reads turns out changed. failed: in the last run.
    """
    from cluster.lake import Lake
    from jobs.config import load_profile
    from jobs.status import status as status_job
    from jobs.status_report import show_status

    chosen, opened = load_profile(profile), Lake.open(lake)
    loaded, _ = ranker_of(chosen, ranker)
    found = status_job(opened, chosen, loaded)
    if as_json:
        say_json(found.as_dict())
    else:
        show_status(found, profile, out)


@app.command(epilog="Example: slatemill requests lake --limit 5")
def requests(
    lake: LakeUrl,
    history: Annotated[str | None, typer.Option(help="Only those of this history. Default: of all.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many requests.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the requests of a lake, in order of arrival: the ids that `slatemill show` takes."""
    from cluster.lake import Lake
    from jobs.list_requests import list_requests
    from jobs.list_requests_report import show_listed

    listed = list_requests(Lake.open(lake), history, limit)
    if as_json:
        say_json(listed.as_dict())
    else:
        show_listed(listed, out)


@app.command(epilog="Example: slatemill show lake 684ae6a25003513b --profile lexical")
def show(
    lake: LakeUrl,
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="A request's id.")],
    profile: ProfileName = DEFAULT_PROFILE,
    history: Annotated[str | None, typer.Option(help="The request's history, where several have the id.")] = None,
    run_id: Annotated[str | None, typer.Option("--run", help="A run's id. Default: the profile's latest.")] = None,
    policy: Annotated[
        str | None, typer.Option(help="Whose slate to print. Default: lambdarank, else the profile's first.")
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Of which budget. Default: the smallest.")] = None,
    slate: Annotated[bool, typer.Option(help="Print a slate, and what moved its turns.")] = True,
    text: Annotated[
        bool, typer.Option("--text", help="Write the slate's text to standard output, and nothing else.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Follow the evidence of one request through recall, pool and ranker to the slates, and read one of them.

    JSON has all of it, and the slate also with --no-slate.
    """
    if text and as_json:
        raise typer.BadParameter("give --text or --json, not both")
    from cluster.lake import Lake
    from jobs.config import load_profile
    from jobs.show import show as show_job
    from jobs.show import text_of
    from jobs.show_report import show_request

    shown = show_job(Lake.open(lake), load_profile(profile).name, run_id, request, history, policy, budget)
    if as_json:
        say_json(shown.as_dict())
    elif text:
        typer.echo(text_of(shown))
        if shown.empty is not None:
            err.print(f"the slate is empty: {shown.empty}", markup=False, highlight=False)
    else:
        show_request(shown, out, with_slate=slate)


@app.command(epilog="Example: slatemill schema turn_vectors --dim 384")
def schema(
    table: Annotated[str | None, typer.Argument(metavar="[TABLE]", help="A table. Default: all of them.")] = None,
    dim: Annotated[int | None, typer.Option(min=1, help="Length of vectors, where a table has them.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the tables of a lake: columns, types, which may be null, and what they hold."""
    from jobs.schema import schema as schema_job
    from jobs.schema_report import show_table, show_tables

    tables = schema_job(table, dim)
    if as_json:
        say_json(tables)
    elif table is None:
        show_tables(tables, out)
    else:
        show_table(table, tables[table], out)


@app.command(epilog="Example: slatemill features --profile lexical")
def features(
    profile: Annotated[
        str | None,
        typer.Option("--profile", "-p", help="Those of one profile. Default: all.", autocompletion=complete_profile),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Write the table as Markdown.")] = False,
    as_json: AsJson = False,
) -> None:
    """List features: name, group, formula, unit, and when it is null. `<channel>` stands for any channel or view."""
    from jobs.config import load_profile
    from jobs.features import as_markdown, as_rows, features_of, show_features

    chosen = features_of(None if profile is None else load_profile(profile))
    if as_json:
        say_json(as_rows(chosen))
    elif markdown:
        out.print(as_markdown(chosen), markup=False, highlight=False, soft_wrap=True, end="")
    else:
        show_features(chosen, out)
