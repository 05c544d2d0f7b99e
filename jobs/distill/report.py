"""What a person sees of a distillation: agreement with the teacher, and slates beside those of a ranker from labels."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from jobs.distill.job import DistillReport
from jobs.distill.judging import Validated
from jobs.train.crossval import by_policy
from pipeline.evaluate.strata import HEADLINE


def show_distillation(result: DistillReport, out: Console) -> None:
    """What was fitted, how well it does, and where it is."""
    counts = result.counts
    _say(
        f"distilled from {counts['rows']:,} rated candidates of {counts['groups']:,} requests in "
        f"{counts['histories']:,} histories",
        out,
    )
    left_out = {"that the teacher could not rate": counts["scores_failed"], "in no pool": counts["scores_unknown"]}
    for why, count in left_out.items():
        if count:
            _say(f"left out: {count:,} {why}", out)
    if result.validated.agreements:
        _show_agreement(result.validated, out)
    else:
        _say("not cross-validated", out)
    if result.validated.rows:
        _show_complete(result.validated, out)
    champion = " (champion)" if result.version.is_champion else ""
    _say(f"kept: {result.way}, {result.ranker.params.trees} trees", out)
    _say(f"registered: {result.version.name} version {result.version.version}{champion}", out)


def _show_agreement(validated: Validated, out: Console) -> None:
    table = _table("agreement with the teacher out of fold, 95% over histories", "order")
    for name in ("Kendall's tau", "nDCG@64"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in validated.agreements:
        table.add_row(each.name, each.kendall_tau.text(interval=True), each.ndcg_64.text(interval=True))
    out.print(table)


def _show_complete(validated: Validated, out: Console) -> None:
    table = _table(f"slate completeness out of fold, difference to {validated.against}", "slates of")
    for name in ("n", "complete", "difference"):
        table.add_column(name, justify="right", no_wrap=True)
    for stratum in HEADLINE:
        for budget in sorted({row.budget for row in validated.rows}):
            table.add_row(f"{stratum}, {budget:,} tokens", style="bold")
            for name, row in by_policy(validated.rows, stratum, budget).items():
                difference = "" if name == validated.against else row.difference.text(signed=True, interval=True)
                table.add_row(f"  {name}", f"{row.n:,}", row.slate_completeness.text(), difference)
    out.print(table)


def _table(title: str, first: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    table.add_column(first, no_wrap=True)
    return table


def _say(text: str, out: Console) -> None:
    out.print(text, highlight=False, markup=False)
