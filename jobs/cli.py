"""The command `slatemill`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

# Read by Polars and the BLAS libraries when they are imported: the driver shares the machine with its workers.
for _name in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Budgeted, complete memory slates for LLM agents, as a distributed batch job.",
)
out = Console()
err = Console(stderr=True)

DONE, FAILED, USAGE, QUARANTINE = range(4)
QUARANTINE_LIMIT = 0.01

LakeUrl = Annotated[str, typer.Argument(metavar="LAKE", help="Folder or URL of the lake.")]
ProfileName = Annotated[str, typer.Option("--profile", "-p", help="Name of a profile, or a YAML file.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Shards in flight. Default: the CPUs.")]
Address = Annotated[str | None, typer.Option(help="Address of a running Ray cluster. Default: a local one.")]
Backfill = Annotated[
    list[str] | None, typer.Option(help="Costly stage to redo for what arrived before; may be given several times.")
]


@app.command()
def init(
    lake: LakeUrl,
    buckets: Annotated[int, typer.Option(min=1, max=4096, help="Number of buckets; fixed for ever.")] = 16,
) -> None:
    """Make a lake."""
    from cluster.lake import Lake

    made = Lake.init(lake, buckets=buckets)
    out.print(f"{made.url}: {made.buckets} buckets, tokens counted in {made.tokenizer}")


@app.command()
def ingest(
    lake: LakeUrl,
    sources: Annotated[
        list[str] | None, typer.Argument(help="Files, folders, globs or URLs; each becomes a batch.")
    ] = None,
    source_format: Annotated[
        str, typer.Option("--format", "-f", help="A format, or auto: by content. `slatemill formats` lists them.")
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
) -> None:
    """Store histories: the same source twice is a no-op."""
    from cluster import batches
    from cluster.lake import Lake
    from jobs.ingest import AUTO
    from jobs.ingest import ingest as store
    from jobs.report import show_ingest
    from pipeline.ingest.formats import FORMATS

    opened = Lake.open(lake)
    if void:
        dropped = batches.void(opened)
        out.print(f"dropped: {', '.join(dropped)}" if dropped else "nothing to drop: every claim is committed")
        return
    if not sources:
        raise typer.BadParameter("name at least one source, or give --void")
    if source_format not in (AUTO, *FORMATS):
        raise typer.BadParameter(f"no format {source_format!r}; there are {', '.join(FORMATS)}, and {AUTO}")
    if any("=" not in pair for pair in keys or []):
        raise typer.BadParameter("--key takes what=key, such as history=user.id")
    options = {"items": items, "requests": requests, "keys": dict(pair.split("=", 1) for pair in keys or [])}
    over = False
    for source in sources:
        report = store(
            opened, source, source_format, {name: value for name, value in options.items() if value}, workers
        )
        show_ingest(source, report, out)
        over |= report.lost_share > QUARANTINE_LIMIT
    if over:
        raise typer.Exit(QUARANTINE)


@app.command()
def run(
    lake: LakeUrl,
    profile: ProfileName = "agentmemrec",
    workers: Workers = None,
    address: Address = None,
    backfill: Backfill = None,
    ranker: Annotated[
        str | None, typer.Option(help="Directory or registry name. Default: the profile's champion.")
    ] = None,
    budgets: Annotated[str | None, typer.Option(help="Token budgets in place of the profile's: 900,2700")] = None,
    as_of: Annotated[str | None, typer.Option(help="arrival or latest, in place of the profile's.")] = None,
    deadline: Annotated[float, typer.Option(help="Seconds after which a shard is given to another worker.")] = 1800.0,
    quarantine_limit: Annotated[float, typer.Option(min=0, max=1, help="Share of a stage's rows.")] = QUARANTINE_LIMIT,
) -> None:
    """Bring every slate of a profile up to date."""
    from cluster.lake import Lake
    from jobs import report
    from jobs.config import load_profile
    from jobs.overrides import override
    from jobs.run import Resources
    from jobs.run import run as run_job
    from models.registry import load_ranker

    chosen = override(load_profile(profile), budgets, as_of)
    opened = Lake.open(lake)
    loaded, source = None, None
    if "lambdarank" in chosen.slates.policies:
        found = load_ranker(ranker, chosen.name)
        if found is None:
            err.print(f"no ranker for profile {chosen.name}: lambdarank is left out. `slatemill train` makes one.")
        else:
            loaded, source = found
            err.print(f"ranker: {source}", highlight=False)
    resources = Resources(workers, address, tuple(backfill or ()), deadline, quarantine_limit)
    result, run_id = run_job(opened, chosen, resources, loaded, source)
    report.show_run(result, run_id, f"slatemill run {lake} --profile {profile}", out, err)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


@app.command()
def train(
    lake: LakeUrl,
    profile: ProfileName = "agentmemrec",
    holdout: Annotated[
        float, typer.Option(min=0, max=0.9, help="Share of histories that are never learned from.")
    ] = 0.0,
    save_to: Annotated[Path | None, typer.Option("--out", help="Folder to save the ranker to, as text.")] = None,
    workers: Workers = None,
    address: Address = None,
    backfill: Backfill = None,
) -> None:
    """Fit a ranker on gold evidence; log it and register it."""
    from cluster.lake import Lake
    from jobs import report
    from jobs.config import load_profile
    from jobs.run import Resources
    from jobs.train import train as train_job

    resources = Resources(workers, address, tuple(backfill or ()))
    report.show_training(train_job(Lake.open(lake), load_profile(profile), resources, holdout, save_to), out)


@app.command()
def evaluate(
    lake: LakeUrl,
    profile: ProfileName = "agentmemrec",
    run_id: Annotated[str | None, typer.Option("--run", help="A run's id. Default: the profile's latest.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the numbers to this file.")] = None,
    draws: Annotated[int, typer.Option(min=100, help="Bootstrap draws.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
) -> None:
    """Measure how often a slate holds all the evidence its request needs."""
    from cluster.lake import Lake
    from jobs import report
    from jobs.config import load_profile
    from jobs.evaluate import evaluate as evaluate_job
    from jobs.evaluate import log

    result, about = evaluate_job(Lake.open(lake), load_profile(profile).name, run_id, draws, seed)
    report.show_evaluation(result, about, out)
    if json_file is not None:
        json_file.write_text(json.dumps({**about, **result.as_dict()}, indent=2) + "\n", encoding="utf-8")
    log(result, about)


@app.command()
def show(
    lake: LakeUrl,
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="A request's id.")],
    profile: ProfileName = "agentmemrec",
    history: Annotated[str | None, typer.Option(help="The request's history, where several have the id.")] = None,
    run_id: Annotated[str | None, typer.Option("--run", help="A run's id. Default: the profile's latest.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON to standard output, and nothing else.")] = False,
) -> None:
    """Follow the evidence of one request through recall, pool and ranker to the slates."""
    from cluster.lake import Lake
    from jobs.config import load_profile
    from jobs.show import show as show_job
    from jobs.show_report import show_request

    shown = show_job(Lake.open(lake), load_profile(profile).name, run_id, request, history)
    if as_json:
        typer.echo(json.dumps(shown.as_dict(), indent=2))
    else:
        show_request(shown, out)


@app.command()
def synth(
    target: Annotated[Path, typer.Argument(metavar="OUT", help="JSON file to write.")],
    histories: Annotated[int, typer.Option(min=1)] = 100,
    sessions: Annotated[int, typer.Option(min=1)] = 20,
    seed: Annotated[int, typer.Option()] = 0,
) -> None:
    """Write generated histories with planted evidence, LongMemEval-shaped."""
    from jobs.synth import synth as write

    size = write(target, histories, sessions, seed)
    out.print(f"{target}: {histories:,} histories, {size / 1e6:.1f} MB", highlight=False)


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Where the demo's lake is made.")] = Path(".demo"),
    histories: Annotated[int, typer.Option(min=4)] = 40,
    sessions: Annotated[int, typer.Option(min=2)] = 12,
    workers: Workers = None,
) -> None:
    """Run everything on generated histories: a slate and the completeness table."""
    from jobs.demo import demo as show

    show(folder, histories, sessions, workers, out)


def main() -> None:
    """Entry point: errors that a person can mend become one message and exit code 2."""
    from cluster.errors import LakeError
    from jobs.config import ConfigError
    from jobs.run import RunFailed
    from jobs.train import NothingToLearn
    from models.ranker import RankerError
    from models.registry import RankerNotFound
    from models.resolve import ModelNotFound
    from pipeline.ingest.errors import IngestError

    try:
        app()
    except RunFailed as error:
        err.print(str(error), style="red", markup=False)
        sys.exit(error.report.exit_code)
    except (
        LakeError,
        ConfigError,
        NothingToLearn,
        RankerError,
        RankerNotFound,
        ModelNotFound,
        IngestError,
        FileNotFoundError,
    ) as error:
        err.print(str(error), style="red", markup=False)
        sys.exit(USAGE)
