"""What is made of a lake, and how good it is: plan, run, train, evaluate."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cluster.exits import FAILED_SHARDS, QUARANTINE_LIMIT
from jobs.commands.console import err, given_to, out, say_json
from jobs.commands.options import (
    Address,
    AsJson,
    AsOf,
    Backfill,
    Budgets,
    LakeUrl,
    OwnProfile,
    ProfileName,
    RankerName,
    Workers,
    ranker_of,
)
from jobs.names import DEFAULT_PROFILE
from jobs.train.folds import FOLDS

app = typer.Typer()


class Way(StrEnum):
    """What a ranker learns from a teacher: its scores, the order of their grades, or what they are a sign of."""

    POINTWISE = "pointwise"
    LAMBDARANK = "lambdarank"
    DOUBTFUL = "doubtful"


@app.command(epilog="Example: slatemill plan lake --profile lexical --budgets 900,1800")
def plan(
    lake: LakeUrl,
    profile: ProfileName = DEFAULT_PROFILE,
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
    loaded, _ = ranker_of(chosen, ranker)
    planned = plan_job(opened, chosen, loaded, tuple(backfill or ()), workers)
    if as_json:
        say_json(planned.as_dict())
    else:
        show_plan(planned, given_to("run"), out)


@app.command(epilog="Example: slatemill run lake --profile lexical")
def run(
    lake: LakeUrl,
    profile: ProfileName = DEFAULT_PROFILE,
    workers: Workers = None,
    address: Address = None,
    backfill: Backfill = None,
    ranker: RankerName = None,
    budgets: Budgets = None,
    as_of: AsOf = None,
    deadline: Annotated[float, typer.Option(help="Seconds after which a shard is given to another worker.")] = 1800.0,
    quarantine_limit: Annotated[float, typer.Option(min=0, max=1, help="Share of a stage's rows.")] = QUARANTINE_LIMIT,
    as_json: AsJson = False,
) -> None:
    """Bring every slate of a profile up to date."""
    from cluster.lake import Lake
    from jobs import report
    from jobs.config import load_profile
    from jobs.costs import costs
    from jobs.overrides import override
    from jobs.run import Resources, empty_slates
    from jobs.run import run as run_job

    chosen = override(load_profile(profile), budgets, as_of)
    opened = Lake.open(lake)
    loaded, source = ranker_of(chosen, ranker)
    resources = Resources(workers, address, tuple(backfill or ()), deadline, quarantine_limit)
    result, run_id = run_job(opened, chosen, resources, loaded, source)
    empty = empty_slates(opened, result)
    if as_json:
        told = {**result.as_dict(), "empty": empty.to_dicts()}
        say_json({"lake": opened.url, "profile": chosen.name, "run_id": run_id, **told})
    else:
        report.show_run(result, run_id, out)
        report.show_costs(costs(chosen, result.stages), out)
        report.show_empty(empty, out)
    report.show_trouble(result, given_to("run"), lake, err)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


@app.command(epilog="Example: slatemill train lake --profile lexical --out ranker")
def train(
    lake: LakeUrl,
    profile: ProfileName = DEFAULT_PROFILE,
    holdout: Annotated[
        float, typer.Option(min=0, max=0.9, help="Share of histories that are never learned from.")
    ] = 0.0,
    folds: Annotated[int, typer.Option(min=1, help="Folds of the cross-validation by history; 1: none.")] = FOLDS,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Also without each group of features and each channel, and from one alone.")
    ] = False,
    curve: Annotated[
        bool, typer.Option("--curve", help="Also from a quarter, half and more of the histories.")
    ] = False,
    save_to: Annotated[Path | None, typer.Option("--out", help="Folder to save the ranker to, as text.")] = None,
    workers: Workers = None,
    address: Address = None,
    backfill: Backfill = None,
    as_json: AsJson = False,
) -> None:
    """Fit a ranker on gold evidence, cross-validated by history; log it and register it.

    For a profile with the policy auto it also learns which recovery mode serves a request.
    """
    from cluster.lake import Lake
    from jobs.config import load_profile
    from jobs.run import Resources
    from jobs.train.job import Wanted
    from jobs.train.job import train as train_job
    from jobs.train.report import show_doubts, show_training

    resources = Resources(workers, address, tuple(backfill or ()))
    opened = Lake.open(lake)
    trained = train_job(opened, load_profile(profile), resources, Wanted(holdout, folds, ablate, curve, save_to))
    if as_json:
        say_json({"lake": opened.url, "out": None if save_to is None else str(save_to), **trained.as_dict()})
    else:
        show_training(trained, out)
    show_doubts(trained, err)


@app.command(epilog="Example: slatemill promote lake slatemill-lexical/latest")
def promote(
    lake: LakeUrl,
    ranker: Annotated[str, typer.Argument(metavar="RANKER", help="NAME/VERSION in MLflow's registry, or NAME/latest.")],
    profile: OwnProfile = None,
    margin: Annotated[
        float, typer.Option(min=0, max=1, help="Share of requests by which slates may be less complete.")
    ] = 0.01,
    budgets: Budgets = None,
    force: Annotated[bool, typer.Option("--force", help="Make it champion whatever is found; this is logged.")] = False,
    workers: Workers = None,
    address: Address = None,
    backfill: Backfill = None,
    as_json: AsJson = False,
) -> None:
    """Make a ranker the champion, if it is not inferior to the present one.

    Both fill slates of the same requests, of histories that neither was trained on. Ends with code 1 where the version
    is not promoted.
    """
    from cluster.lake import Lake
    from jobs.overrides import override
    from jobs.promote import profile_of
    from jobs.promote import promote as promote_job
    from jobs.promote_report import show_promotion
    from jobs.run import Resources
    from models.registry import challenger_and_champion

    opened = Lake.open(lake)
    pair = challenger_and_champion(ranker)
    chosen = override(profile_of(pair[0], profile), budgets, None)
    resources = Resources(workers, address, tuple(backfill or ()))
    decided = promote_job(opened, chosen, *pair, margin, resources, force)
    if as_json:
        say_json({"lake": opened.url, "profile": chosen.name, **decided.as_dict()})
    else:
        show_promotion(decided, out)
    if not decided.promoted:
        raise typer.Exit(FAILED_SHARDS)


@app.command(epilog="Example: slatemill distill lake -p lexical --scores scores.parquet")
def distill(
    lake: LakeUrl,
    profile: ProfileName = DEFAULT_PROFILE,
    scores: Annotated[
        str | None, typer.Option(help="Parquet with scores of the lake's candidates. Default: the teacher's own.")
    ] = None,
    folds: Annotated[int, typer.Option(min=1, help="Folds of the cross-validation by history; 1: none.")] = FOLDS,
    way: Annotated[Way, typer.Option(help="What the ranker that is kept learns; all ways are judged.")] = Way.DOUBTFUL,
    top: Annotated[int | None, typer.Option(min=1, help="Turns of each pool that the teacher rates. [64]")] = None,
    save_to: Annotated[Path | None, typer.Option("--out", help="Folder to save the ranker to, as text.")] = None,
    workers: Workers = None,
    address: Address = None,
    backfill: Backfill = None,
    as_json: AsJson = False,
) -> None:
    """Fit a ranker on what a teacher rated, without any label; log it and register it.

    Where labels are known, its slates are compared with those of a ranker that learned from them.
    """
    from cluster.lake import Lake
    from jobs.config import load_profile
    from jobs.distill.job import Wanted
    from jobs.distill.job import distill as distill_job
    from jobs.distill.report import show_distillation
    from jobs.run import Resources
    from jobs.teacher_stages import teacher_of
    from pipeline.policies.orders import LLM_TOP

    resources = Resources(workers, address, tuple(backfill or ()))
    opened, chosen = Lake.open(lake), load_profile(profile)
    teacher = None if scores is not None else teacher_of(chosen, top or LLM_TOP)
    distilled = distill_job(opened, chosen, resources, Wanted(scores, folds, way.value, save_to), teacher)
    if as_json:
        say_json({"lake": opened.url, "out": None if save_to is None else str(save_to), **distilled.as_dict()})
    else:
        show_distillation(distilled, out)


@app.command(epilog="Example: slatemill finetune lake --profile tuned")
def finetune(
    lake: LakeUrl,
    profile: ProfileName = "tuned",
    folds: Annotated[int, typer.Option(min=2, help="Folds of histories; each is read by an encoder without it.")] = 3,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Times that every example is learned from, in place of the usual.")
    ] = None,
    save_to: Annotated[Path | None, typer.Option("--out", help="Folder to save the encoder to.")] = None,
    workers: Workers = None,
    address: Address = None,
    backfill: Backfill = None,
    as_json: AsJson = False,
) -> None:
    """Tune the late-interaction encoder on gold evidence, crosswise over histories; log it and register it."""
    from cluster.lake import Lake
    from jobs.config import load_profile
    from jobs.finetune import run_finetune, told
    from jobs.run import Resources
    from models.finetune import FinetuneParams

    resources = Resources(workers, address, tuple(backfill or ()))
    opened = Lake.open(lake)
    params = FinetuneParams() if epochs is None else FinetuneParams(epochs=epochs)
    report = run_finetune(opened, load_profile(profile), resources, folds, params, save_to)
    if as_json:
        say_json({"lake": opened.url, "out": None if save_to is None else str(save_to), **report.as_dict()})
    else:
        out.print(told(report), markup=False, highlight=False, soft_wrap=True)


@app.command(epilog="Example: slatemill evaluate lake --profile lexical --json numbers.json")
def evaluate(
    lake: LakeUrl,
    profile: ProfileName = DEFAULT_PROFILE,
    run_id: Annotated[str | None, typer.Option("--run", help="A run's id. Default: the profile's latest.")] = None,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="Write the numbers to this file; - is standard output, with nothing else."),
    ] = None,
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
    numbers = {**about, **result.as_dict()}
    if str(json_file) == "-":
        say_json(numbers)
    else:
        report.show_evaluation(result, about, out)
        if json_file is not None:
            json_file.write_text(json.dumps(numbers, indent=2) + "\n", encoding="utf-8")
    log(result, about)


@app.command(epilog="Example: slatemill compare lake -p lexical:oracle -a lexical:recall_order")
def compare(
    lake: LakeUrl,
    profile: Annotated[
        str, typer.Option("--profile", "-p", help="PROFILE or PROFILE:POLICY; default policy: lambdarank.")
    ] = DEFAULT_PROFILE,
    against: Annotated[str, typer.Option("--against", "-a", help="The other side, likewise.")] = "agentmemrec",
    budget: Annotated[int | None, typer.Option(help="One budget of ours, set against --against-budget.")] = None,
    against_budget: Annotated[int | None, typer.Option(help="The other side's budget. Default: the same.")] = None,
    draws: Annotated[int, typer.Option(min=100, help="Bootstrap draws.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Compare two profiles or policies on the same requests: paired differences with intervals."""
    from cluster.lake import Lake
    from jobs.compare import compare as compare_job
    from jobs.compare import log, show_comparison, side

    ours, theirs = side(profile, budget), side(against, against_budget if against_budget is not None else budget)
    if against_budget is not None and budget is None:
        raise typer.BadParameter("--against-budget needs --budget")
    found, about = compare_job(Lake.open(lake), ours, theirs, draws, seed)
    if as_json:
        say_json({**about, "rows": [row.as_dict() for row in found]})
    else:
        show_comparison(found, ours, theirs, out)
    log(found, about)
