"""`slatemill demo`: the whole path on generated histories, told step by step: a slate and the completeness table."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cluster import snapshot
from cluster.hints import command
from cluster.lake import Lake
from jobs import report
from jobs.config import load_profile
from jobs.evaluate import evaluate, log, run_outcomes
from jobs.ingest import ingest
from jobs.names import DEFAULT_PROFILE
from jobs.overrides import override
from jobs.plain import plain
from jobs.run import Resources, RunFailed, run
from jobs.show import show
from jobs.show_slate_report import show_text
from jobs.synth import synth
from jobs.train.job import Wanted, train
from jobs.train.report import show_doubts, show_training
from pipeline import schemas
from pipeline.evaluate.strata import HEADLINE
from pipeline.evaluate.summary import Summary

BUDGETS = "300,900"
"""Small ones: a slate of 300 tokens can be read at a glance."""

_HOLDOUT = 0.5

_TERMS = {
    "n": "requests that are measured",
    "r_pool": "share of them whose evidence is all in the pool, the candidates of recall",
    "r_rank": "of those, the share whose slate shows all of it",
    "complete": "r_pool x r_rank: the share of slates that hold all the evidence",
    "95%": "where that share lies, as far as so few requests can tell",
    "share": "the share of the evidence turns that slates show",
    "tokens": "mean length of a slate",
    "kappa": "sessions that the evidence of a request lies in; from 2 on it is hard",
    "recall_order": "the turns as recall has them, by words and meaning together",
    "bm25_order": "by shared words alone",
    "dense_order": "by likeness of meaning alone, from a small model",
    "late_interaction_order": "by the likeness of every word of the request, in the turn or next to it",
    "lambdarank": "by the ranker of step 2",
    "oracle": "told where the evidence is: the best that the pool allows",
}


def demo(folder: Path, histories: int, sessions: int, workers: int | None, out: Console) -> None:
    """Generates histories, ingests them, trains on half, runs all, and shows what came of the other half.

    `folder` is emptied first. Raises RunFailed when a shard failed.
    """
    if folder.exists():
        if not (folder / "lake" / "lake.json").exists() and any(folder.iterdir()):
            raise FileNotFoundError(f"{folder} holds something that is no demo; name another --folder")
        shutil.rmtree(folder)
    profile = override(load_profile(DEFAULT_PROFILE), BUDGETS, None)
    resources = Resources(workers=workers)
    out.rule("1. generated histories")
    source, place = folder / "histories.json", str(folder / "lake")
    synth(source, histories, sessions, seed=0)
    lake = Lake.init(place)
    arrived = ingest(lake, str(source), "longmemeval", {})
    _tell(
        f"{histories} histories of chats, {arrived.counts.get('turns', 0):,} turns, stored in {place}. Over each a "
        "question is asked, a request; the turns that hold its answer, its evidence, are known.",
        out,
    )
    out.rule("2. a ranker, trained on half of them")
    _tell("It learns from known evidence which turns to put first.", out)
    trained = train(lake, profile, resources, Wanted(_HOLDOUT, folds=1, out=folder / "ranker"))
    show_training(trained, out)
    show_doubts(trained, out)
    out.rule("3. slates")
    _tell(
        "A slate is the text that a model is given to read with a request: the few turns of a long past that fit a "
        "budget of tokens. Making one calls no LLM. The stages of a run (what step 2 made is reused):",
        out,
    )
    result, run_id = run(lake, profile, resources, trained.ranker, str(folder / "ranker"))
    report.show_run(result, run_id, out)
    report.show_trouble(result, "slatemill demo", place, out)
    if result.exit_code:
        raise RunFailed(result)
    chosen = choose(lake, run_id, trained.ranker.seen_histories)
    show_chosen(lake, profile.name, run_id, chosen, out)
    out.rule("4. how often is a slate complete?")
    _tell("Measured on the other half, which the ranker never saw. What the table says:", out)
    _show_terms(out)
    measured, about = evaluate(lake, profile.name, run_id, draws=10_000, seed=0)
    report.show_evaluation(headline(measured), about, out)
    log(measured, about)
    out.rule("what next")
    _show_next(place, chosen, out)


@dataclass(frozen=True)
class Chosen:
    """A slate worth showing: whose it is, of which policy and budget, and how many evidence turns of how many sessions
    it needs to be `complete`."""

    history_id: str
    request_id: str
    policy: str
    budget: int
    n_evidence: int
    kappa: int
    complete: bool


def choose(lake: Lake, run_id: str, seen_histories: Collection[str]) -> Chosen:
    """The slate of a run that shows best what one is for.

    First come those of histories that the ranker has not seen, then complete ones, of evidence in several sessions, of
    the smallest budget, of the ranker. The run must have requests with evidence.
    """
    results, _ = run_outcomes(lake, snapshot.load(lake, run_id))
    best = results.filter(pl.col("n_evidence") > 0, pl.col("policy") != "oracle").sort(
        pl.col("history_id").is_in(list(seen_histories)),
        ~pl.col("slate_complete"),
        pl.col("kappa") < 2,
        "budget",
        pl.col("policy") != "lambdarank",
        pl.col("policy") != "recall_order",
        *schemas.REQUEST_KEY,
        "policy",
    )
    row = best.rename({"slate_complete": "complete"}).row(0, named=True)
    return Chosen(**{part.name: row[part.name] for part in fields(Chosen)})


def show_chosen(lake: Lake, profile: str, run_id: str, chosen: Chosen, out: Console) -> None:
    """The chosen slate of a run of a profile with its question; evidence is marked."""
    shown = show(lake, profile, run_id, chosen.request_id, chosen.history_id, chosen.policy, chosen.budget)
    assert shown.slate is not None
    out.print(Text(f"The question of request {chosen.request_id}:"))
    out.print(Padding(Text(plain(shown.request["text"]), style="italic"), (1, 2)))
    evidence = f"{chosen.n_evidence} turn{'s' * (chosen.n_evidence != 1)} of {chosen.kappa} session"
    verdict = "complete: all" if chosen.complete else "not complete: not all"
    _tell(
        f"Its slate of policy {chosen.policy}, at most {chosen.budget} tokens, is {verdict} of its evidence is in it "
        f"(★), {evidence}{'s' * (chosen.kappa != 1)}. Beside each turn stands its rank.",
        out,
    )
    show_text(shown.slate, shown.empty, out)


def headline(measured: Summary) -> Summary:
    """The rows of the headline strata; evaluate prints all."""
    return replace(measured, rows=tuple(row for row in measured.rows if row.stratum in HEADLINE))


def _show_terms(out: Console) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for name, meaning in _TERMS.items():
        table.add_row(Text(f" {name}"), Text(meaning))
    out.print(table)
    out.print()


def _show_next(place: str, chosen: Chosen, out: Console) -> None:
    of_slate = ("--policy", chosen.policy, "--budget", str(chosen.budget))
    for words, what in (
        (
            ("show", place, chosen.request_id, *of_slate),
            "why these turns: the rank of each, and what the ranker made of it",
        ),
        (("evaluate", place), "the whole table: by the number of sessions, by kind of question"),
    ):
        out.print(Text(command(*words)), soft_wrap=True)
        out.print(Text(f"    {what}"))
    _tell("Your own chats: README.md, under “From your own chats to a slate”.", out)


def _tell(text: str, out: Console) -> None:
    out.print(Text(text))
