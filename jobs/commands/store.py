"""What comes into a lake: init, ingest, formats, synth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cluster.exits import OVER_QUARANTINE, QUARANTINE_LIMIT
from jobs.commands.console import err, out, say_json
from jobs.commands.options import AsJson, LakeUrl, Workers
from jobs.names import complete_format

app = typer.Typer()


@app.command(epilog="Example: slatemill init lake")
def init(
    lake: LakeUrl,
    buckets: Annotated[int, typer.Option(min=1, max=4096, help="Number of buckets; fixed for ever.")] = 16,
) -> None:
    """Make a lake."""
    from cluster.errors import NotALake
    from cluster.lake import Lake

    try:
        Lake.open(lake)
        made = "there already"
    except NotALake:
        made = "made"
    opened = Lake.init(lake, buckets=buckets)
    out.print(
        f"{lake}: {made}, {opened.buckets} buckets, tokens counted in {opened.tokenizer}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


@app.command(epilog="Example: slatemill ingest lake histories.json --format longmemeval")
def ingest(
    lake: LakeUrl,
    sources: Annotated[
        list[str] | None, typer.Argument(help="Files, folders, globs or URLs; each becomes a batch.")
    ] = None,
    source_format: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            help="A format, or auto: by content. `slatemill formats` lists them.",
            autocompletion=complete_format,
        ),
    ] = "auto",
    items: Annotated[
        str | None, typer.Option(help="Which items of an array or lines, by position or id: 0-2,5,conv-26")
    ] = None,
    requests: Annotated[
        str | None, typer.Option(help="Requests to make of a log that asks none: last, every-step or none.")
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option("--key", help="Where history, session or time stand in a chat export: history=user.id"),
    ] = None,
    workers: Workers = None,
    void: Annotated[bool, typer.Option("--void", help="Drop an ingest that was begun and not finished.")] = False,
    as_json: AsJson = False,
) -> None:
    """Store histories: the same source twice is a no-op."""
    from cluster import batches
    from cluster.lake import Lake
    from jobs.ingest import AUTO, IngestReport
    from jobs.ingest import ingest as store
    from jobs.plain import plain
    from jobs.reach import address_without_secrets
    from jobs.report import show_ingest
    from pipeline.ingest.formats import FORMATS
    from pipeline.text import sanitise_name

    opened = Lake.open(lake)
    if void:
        dropped = batches.void(opened)
        if as_json:
            say_json({"dropped": dropped})
        else:
            out.print(f"dropped: {', '.join(dropped)}" if dropped else "nothing to drop: every claim is committed")
        return
    if not sources:
        raise typer.BadParameter("name at least one source, or give --void")
    if source_format not in (AUTO, *FORMATS):
        raise typer.BadParameter(f"no format {source_format!r}; there are {', '.join(FORMATS)}, and {AUTO}")
    if any("=" not in pair for pair in keys or []):
        raise typer.BadParameter("--key takes what=key, such as history=user.id")
    options = {"items": items, "requests": requests, "keys": dict(pair.split("=", 1) for pair in keys or [])}
    given = {name: value for name, value in options.items() if value}
    stored: list[tuple[str, IngestReport]] = []
    try:
        for source in sources:
            report = store(opened, source, source_format, given, workers)
            named = plain(sanitise_name(address_without_secrets(source)))
            stored.append((named, report))
            if not as_json:
                show_ingest(named, report, lake, out)
    finally:
        # What was stored is told also where a later source cannot be.
        if as_json:
            say_json([{"source": named, **report.as_dict()} for named, report in stored])
    over = [named for named, report in stored if report.lost_share > QUARANTINE_LIMIT]
    if over:
        said = (
            f"more than {QUARANTINE_LIMIT:.0%} of the rows of {', '.join(over)} are in quarantine, all else is stored"
        )
        err.print(f"{said}: hence exit code {OVER_QUARANTINE}", style="yellow", markup=False, highlight=False)
        raise typer.Exit(OVER_QUARANTINE)


@app.command(epilog="Example: slatemill formats")
def formats(as_json: AsJson = False) -> None:
    """List the formats that can be ingested, and the options that each takes."""
    from jobs.formats import formats as described
    from jobs.formats import show_formats

    if as_json:
        say_json([one.as_dict() for one in described()])
    else:
        show_formats(described(), out)


@app.command(epilog="Example: slatemill synth histories.json --histories 20 --sessions 6")
def synth(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(metavar="OUT", help="JSON file to write.")],
    histories: Annotated[int, typer.Option(min=1)] = 100,
    sessions: Annotated[int, typer.Option(min=1)] = 20,
    seed: Annotated[int, typer.Option()] = 0,
    requests: Annotated[int, typer.Option(min=1, help="Asked of each history, at most.")] = 1,
    agent: Annotated[bool, typer.Option("--agent", help="Runs of agents, whose steps reuse details.")] = False,
    steps: Annotated[str, typer.Option(help="With --agent: the fewest and the most of a run.")] = "60-250",
) -> None:
    """Write generated histories: chats with planted evidence, LongMemEval-shaped, or runs of agents."""
    from jobs.synth import parse_steps, synth_agents
    from jobs.synth import synth as write

    given = [name for name in ("sessions", "requests", "steps") if _is_given(context, name)]
    of_the_other = [f"--{name}" for name in given if (name == "steps") != agent]
    if of_the_other:
        kind, other = ("runs of agents", "chats") if agent else ("chats", "runs of agents, that is with --agent")
        raise typer.BadParameter(f"{' and '.join(of_the_other)} cannot be chosen for {kind}, only for {other}")
    if agent:
        try:
            fewest_and_most = parse_steps(steps)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
        size = synth_agents(target, histories, fewest_and_most, seed)
    else:
        size = write(target, histories, sessions, seed, requests)
    out.print(f"{target}: {histories:,} histories, {size / 1e6:.1f} MB", markup=False, highlight=False, soft_wrap=True)


def _is_given(context: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line, rather than having its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
