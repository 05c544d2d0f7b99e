"""What a person sees of a training: how well the ranker does out of fold, and what else was asked for."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jobs.train.crossval import RANKER, CrossValidation, by_policy
from jobs.train.job import TrainReport
from jobs.train.judge import RECALL
from jobs.train.modes import LearnedModes
from jobs.train.pool_sizes import PoolSizes
from jobs.train.variants import Outcome
from pipeline.evaluate.strata import HEADLINE

FEW_GROUPS = 50
"""Requests with evidence below which it is said that a ranker may be worse than none."""


def show_training(result: TrainReport, out: Console) -> None:
    """What was fitted, how well it does, and where it is."""
    counts, crossval = result.counts, result.validated.crossval
    _say(
        f"fitted on {counts['groups']:,} requests ({counts['rows']:,} candidates) of {counts['histories']:,} "
        f"histories; {counts['holdout_groups']:,} requests held out",
        out,
    )
    if crossval is None:
        _say("not cross-validated", out)
    else:
        _show_folds(crossval, out)
        _show_complete(crossval, out)
    if result.validated.pools is not None:
        _show_pools(result.validated.pools, out)
    if result.validated.modes is not None:
        _show_modes(result.validated.modes, out)
    for name, value in result.metrics.items():
        if not name.startswith("cv_"):
            _say(f"  {name} {value:.3f}", out)
    if result.validated.ablation:
        _show_outcomes("ablation", "features", result.validated.ablation, out)
    if result.validated.curve:
        _show_outcomes("learning curve", "histories", result.validated.curve, out)
    champion = " (champion)" if result.version.is_champion else ""
    _say(f"registered: {result.version.name} version {result.version.version}{champion}", out)


def _show_modes(modes: LearnedModes, out: Console) -> None:
    """What the choice of the recovery mode gives out of fold, beside always the one and always the other."""
    table = Table(
        title="auto: complete by the mode that is chosen", title_justify="left", box=box.SIMPLE_HEAD, padding=0
    )
    for heading in ("budget", "n", "chosen", "units", "pieces", "better of both", "takes units"):
        table.add_column(heading, justify="right")
    for row in modes.regrets:
        shares = (row.chosen, row.units, row.pieces, row.best, row.share_of_units)
        table.add_row(f"{row.budget:,}", f"{row.n:,}", *(f"{share:.3f}" for share in shares))
    out.print(table)


def show_doubts(result: TrainReport, out: Console) -> None:
    """Says so where a ranker is worse than the order of recall, or learned from so few requests that it may be."""
    for said in (_said_of_worse(result.validated.crossval), _said_of_few(result.counts["groups"])):
        if said:
            out.print(Text(said, style="yellow"))


def _said_of_worse(crossval: CrossValidation | None) -> str:
    differences = {
        row.budget: row.difference
        for row in (() if crossval is None else crossval.rows)
        if (row.policy, row.stratum) == (RANKER, "all")
    }
    worse = [budget for budget, found in sorted(differences.items()) if found.high is not None and found.high < 0]
    if not worse:
        return ""
    return (
        f"out of fold the ranker is worse than the order of recall beyond doubt, at "
        f"{', '.join(f'{budget:,}' for budget in worse)} tokens: take policy recall_order there, until it has more to "
        "learn from or better features."
    )


def _said_of_few(groups: int) -> str:
    if groups >= FEW_GROUPS:
        return ""
    return (
        f"learned from {groups} request{'s' * (groups != 1)} only: of so few, a ranker may be worse than the order of "
        "recall."
    )


def _show_folds(crossval: CrossValidation, out: Console) -> None:
    budgets = sorted({row.budget for row in crossval.rows})
    table = _table("out of fold: by rankers that have not seen a history", "fold")
    for name in ("histories", "requests", "trees", "nDCG@10", "AUC", *[f"@{budget:,}" for budget in budgets]):
        table.add_column(name, justify="right", no_wrap=True)
    for number, fold in enumerate(crossval.folds, start=1):
        complete = [f"{fold.complete[budget]:.3f}" if budget in fold.complete else "-" for budget in budgets]
        numbers = (f"{fold.n_histories:,}", f"{fold.n_groups:,}", str(fold.best_trees), f"{fold.ndcg_10:.3f}")
        table.add_row(str(number), *numbers, f"{fold.auc:.3f}", *complete)
    out.print(table)
    _say(
        f"nDCG@10 {crossval.ndcg_10.text(interval=True)} (order of recall {crossval.recall_ndcg_10:.3f}), "
        f"AUC {crossval.auc:.3f}; {crossval.trees} trees",
        out,
    )


def _show_complete(crossval: CrossValidation, out: Console) -> None:
    table = _table("slate completeness out of fold, 95% over histories", "slates of")
    for name in ("n", "r_pool", "r_rank", "complete", "recall", "difference"):
        table.add_column(name, justify="right", no_wrap=True)
    for stratum in HEADLINE:
        table.add_row(stratum, style="bold")
        for budget in sorted({row.budget for row in crossval.rows}):
            rows = by_policy(crossval.rows, stratum, budget)
            ours, recall = rows[RANKER], rows[RECALL].slate_completeness
            shares = [share.text() for share in (ours.r_pool, ours.r_rank, ours.slate_completeness, recall)]
            difference = ours.difference.text(signed=True, interval=True)
            table.add_row(f"  {budget:,} tokens", f"{ours.n:,}", *shares, difference)
    out.print(table)


def _show_pools(pools: PoolSizes, out: Console) -> None:
    table = _table("smaller pools: r_pool x r_rank", "pool")
    table.add_column("r_pool", justify="right", no_wrap=True)
    for budget in pools.budgets:
        table.add_column(f"@{budget:,}", justify="right", no_wrap=True)
    for size in pools.sizes:
        cells = [pools.of(size, budget) for budget in pools.budgets]
        complete = [f"{cell.r_rank.text()} = {cell.slate_completeness.text()}" for cell in cells]
        table.add_row(f"{size:,}", f"{cells[0].r_pool.text()} x", *complete)
    out.print(table)
    _say(pools.advice, out)


def _show_outcomes(title: str, learned_from: str, outcomes: Sequence[Outcome], out: Console) -> None:
    budget = min(row.budget for row in outcomes[0].rows)
    table = _table(f"{title}: slates of {budget:,} tokens out of fold, difference to all", "trained from")
    for name in (learned_from, "nDCG@10", "complete", "difference"):
        table.add_column(name, justify="right", no_wrap=True)
    for found in outcomes:
        row = found.at(budget, "all")
        name = "all" if found.name == RANKER else found.name
        amount = found.n_features if learned_from == "features" else found.n_histories
        difference = row.difference.text(signed=True, interval=True) if found.name != RANKER else ""
        table.add_row(name, f"{amount:,.0f}", found.ndcg_10.text(), row.slate_completeness.text(), difference)
    out.print(table)


def _table(title: str, first: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    table.add_column(first, no_wrap=True)
    return table


def _say(text: str, out: Console) -> None:
    out.print(text, highlight=False, markup=False)
