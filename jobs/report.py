"""What a person sees at the end of a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cluster.hints import command
from cluster.report import RunReport, StageReport
from jobs.answers_report import show_answers
from jobs.by_budget import pair, show_by_budget
from jobs.costs import cost_line
from jobs.ingest import NAMED, IngestReport
from jobs.plain import first_line, plain
from pipeline.evaluate.bootstrap import Estimate
from pipeline.evaluate.displayed import MANY_LINES
from pipeline.evaluate.of_memory import NOTHING, OfMemory
from pipeline.evaluate.reuse import FAR
from pipeline.evaluate.summary import Row, Summary


def show_ingest(source: str, result: IngestReport, lake: str, out: Console) -> None:
    """What one source brought to `lake`; both as a terminal may be told of them."""
    if result.already:
        out.print(f"{source}: already ingested as batch {result.batch.name}", markup=False, highlight=False)
        return
    counted = {name: count for name, count in result.counts.items() if count and (name, count) != ("files", 1)}
    shown = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in sorted(counted.items()))
    brought = shown or "nothing in it"
    out.print(f"{source}: {result.source_format}, batch {result.batch.name}, {brought}", markup=False, highlight=False)
    if result.lost:
        out.print(
            f"{result.lost} row(s) in quarantine: see `{command('quarantine', 'show', lake, '--stage', 'ingest')}`",
            style="yellow",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    if result.unheard:
        _show_unheard(result.unheard, out)


def _show_unheard(unheard: Mapping[str, list[str]], out: Console) -> None:
    """The histories that are asked about and have no turn: a name misspelt, or a delivery that is still to come."""
    named = [
        plain(history) + (f" (near it: {plain(', '.join(near))})" if near else "")
        for history, near in list(unheard.items())[:NAMED]
    ]
    more = f" and {len(unheard) - NAMED:,} more" if len(unheard) > NAMED else ""
    said = (
        f"no turn is stored of history {', '.join(named)}{more}: its requests see nothing. If the id is misspelt, ask "
        "anew under the right one; if its turns come later, ask then under a new request_id, or run with "
        "`--as-of latest`."
    )
    out.print(Text(said, style="yellow"), soft_wrap=True)


def show_run(result: RunReport, run_id: str, out: Console) -> None:
    """The shards of each stage."""
    table = Table(title=f"run {run_id}", title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    table.add_column("stage", no_wrap=True)
    for name in ("shards", "done", "reused", "failed", "blocked", "rows lost", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    for stage in result.stages:
        counts = (stage.total, stage.done, stage.reused, stage.failed, stage.blocked, stage.quarantined)
        table.add_row(stage.name, *map(str, counts), f"{stage.seconds:.1f}")
    out.print(table)


def show_costs(spent: Mapping[str, Mapping[str, Any]], out: Console) -> None:
    """What language models were asked (see jobs.costs.costs): a line for each kind."""
    for kind, cost in spent.items():
        out.print(f"{kind}: {cost_line(cost)}", markup=False, highlight=False, soft_wrap=True)


def show_empty(empty: pl.DataFrame, out: Console) -> None:
    """That slates hold nothing (see jobs.run.empty_slates), by budget."""
    for budget, slates, without in empty.iter_rows():
        said = (
            f"{without:,} of {slates:,} slates of {budget:,} tokens are empty: no turn fits, or the request sees none "
            "(`slatemill show` says which)"
        )
        out.print(Text(said, style="yellow"))


def show_trouble(result: RunReport, this_run: str, lake: str, err: Console) -> None:
    """What failed in a run of `lake`, and what to do about it; `this_run` is its command."""
    for failure in result.failures:
        err.print(f"failed: {failure.place}: {first_line(failure.reason)}", style="red", markup=False)
    for stage in result.stages:
        for said in _backfills(stage):
            err.print(
                f"{said}: {this_run} --backfill {stage.name}",
                style="yellow",
                markup=False,
                highlight=False,
            )
    for name in result.over_quarantine:
        said = f"{name}: quarantine is over the limit; see `{command('quarantine', 'list', lake)}`"
        err.print(said, style="red", markup=False, highlight=False, soft_wrap=True)


def _backfills(stage: StageReport) -> Iterator[str]:
    """What a costly stage left, and what naming it in a back-fill does about that."""
    elsewhere = stage.needs_backfill - stage.stale
    if elsewhere:
        yield (
            f"{elsewhere} shard(s) of {stage.name} exist under another choice (model or profile) only, and are needed. "
            "To make a second set beside the first"
        )
    if stage.stale:
        yield (
            f"{stage.stale} shard(s) of {stage.name} are out of date, and making them is costly (`slatemill plan` says "
            "why and what it costs). To make them anew in place of the old"
        )


def show_evaluation(result: Summary, about: Mapping[str, Any], out: Console) -> None:
    """The completeness table, and what was left out of it; where nothing can be measured, why, and what to do. Then
    what else is measured of slates of memory, and how good the answers from slates are."""
    title = f"profile {about['profile']}, run {about['run_id']}, pool {about['pool_size']}, style {about['style']}"
    out.print(title, highlight=False)
    if any(row.n for row in result.rows):
        _show_completeness(result, about, out)
    else:
        out.print(Text(_why_nothing(result), style="yellow"))
    _show_tokens(result.memory, out)
    _show_best_piece(result.memory, out)
    _show_reuse(result.memory, out)
    _show_displayed(result.memory, out)
    show_answers(result.answers, out)


def _show_completeness(result: Summary, about: Mapping[str, Any], out: Console) -> None:
    for budget in sorted({row.budget for row in result.rows}):
        table = Table(title=f"slates of {budget:,} tokens", title_justify="left", box=box.SIMPLE_HEAD, padding=0)
        table.add_column("requests, policy")  # a long name of a category may wrap, no number
        table.add_column("n", justify="right", no_wrap=True)
        for name in ("r_pool", "r_rank", "complete", "95%", "share", "tokens"):
            table.add_column(name, justify="right", no_wrap=True)
        rows = [row for row in result.rows if row.budget == budget]
        for stratum in dict.fromkeys(row.stratum for row in rows):
            of_stratum = [row for row in rows if row.stratum == stratum]
            table.add_row(stratum, f"{of_stratum[0].n:,}", style="bold")
            for row in of_stratum:
                table.add_row(f"  {row.policy}", "", *_cells(row))
        out.print(table)
    out.print(
        f"{result.n_requests:,} requests; left out: {result.left_out_no_evidence:,} without evidence, "
        f"{result.left_out_trained_on:,} of histories the ranker was trained on. "
        f"{about['requests_without_slate']:,} in quarantine, without a slate. "
        "Rows all and kappa leave out adversarial requests.",
        highlight=False,
    )
    if result.with_unseen_evidence:
        out.print(
            f"{result.with_unseen_evidence:,} request(s) have evidence of a time after they were asked: complete under "
            "no policy.",
            highlight=False,
        )
    if result.with_unresolved_citations:
        out.print(
            f"{result.with_unresolved_citations:,} request(s) cite a turn that is not stored: "
            "judged by the rest of their evidence.",
            highlight=False,
        )


def _show_tokens(memory: OfMemory, out: Console) -> None:
    """Tokens by resolution."""
    names = ("record", "excerpt", "raw", "other")
    rows = [
        (row.budget, row.policy, f"{row.n:,}", *(f"{getattr(row, name):,.0f}" for name in names))
        for row in memory.tokens
    ]
    show_by_budget("mean tokens of a slate, by what it shows", ("n", *names), rows, out)


def _show_best_piece(memory: OfMemory, out: Console) -> None:
    """One policy less the other, in bins of the rank of the best evidence piece."""
    if memory.pair is None:
        return
    title = f"slate completeness: {memory.pair[0]} minus {memory.pair[1]}, by the best evidence piece's BM25 rank"
    headings = ("n", "ours", "theirs", "difference", "95% over requests", "over histories")
    rows = [
        (
            row.budget,
            row.stratum,
            f"{row.n:,}",
            *(f"{share:.3f}" for share in (row.ours, row.theirs)),
            f"{row.ours - row.theirs:+.3f}",
            *(f"{each.low:+.3f} {each.high:+.3f}" for each in (row.over_requests, row.over_histories)),
        )
        for row in memory.best_piece
    ]
    show_by_budget(title, headings, rows, out)


def _show_reuse(memory: OfMemory, out: Console) -> None:
    """Strings in use that slates show."""
    headings = ("n", "shown", "95%", f"n {FAR}+", f"shown {FAR}+", "95%")
    rows = [
        (row.budget, row.policy, f"{row.n:,}", *pair(row.reuse), f"{row.n_far:,}", *pair(row.reuse_far))
        for row in memory.reuse
    ]
    title = f"agents: what the next step uses of what was seen ({FAR}+: last seen {FAR} or more steps before)"
    show_by_budget(title, headings, rows, out)


def _show_displayed(memory: OfMemory, out: Console) -> None:
    """How well slates tell which files were displayed."""
    headings = ("n", "sensitivity", "specificity", "balanced", "95%")
    rows = [
        (
            row.budget,
            row.policy,
            f"{row.n:,}",
            _share(row.sensitivity),
            _share(row.specificity),
            *pair(row.balanced_accuracy),
        )
        for row in memory.displayed
    ]
    title = f"agents: was this file displayed (named by an action with more than {MANY_LINES} lines of output)?"
    show_by_budget(title, headings, rows, out)


def _why_nothing(result: Summary) -> str:
    """Why no row of an evaluation has a request."""
    what = "nothing can be measured" if result.memory == NOTHING else "completeness cannot be measured"
    if not result.n_requests:
        return f"{what}: no request has a slate. Ingest requests, and run again."
    if not result.left_out_trained_on:
        return (
            f"{what}: of {result.n_requests:,} requests none has known evidence. Ingest requests with "
            "`evidence` (docs/native-format.md says how), and run again."
        )
    evidence = (
        "" if not result.left_out_no_evidence else f", and of {result.left_out_no_evidence:,} no evidence is known"
    )
    return (
        f"{what}: {result.left_out_trained_on:,} of {result.n_requests:,} requests are of histories "
        f"that the ranker was trained on{evidence}. Train again with --holdout 0.5, which keeps half of the histories "
        "from it, and --out FOLDER; run with --ranker FOLDER, then evaluate."
    )


def _cells(row: Row) -> tuple[str, ...]:
    complete, interval = pair(row.slate_completeness)
    tokens = "" if row.mean_tokens.value is None else f"{row.mean_tokens.value:,.0f}"
    return (_share(row.r_pool), _share(row.r_rank), complete, interval, _share(row.evidence_share), tokens)


def _share(estimate: Estimate) -> str:
    return "-" if estimate.value is None else f"{estimate.value:.3f}"
