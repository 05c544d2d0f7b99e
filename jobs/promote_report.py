"""What a person sees of a promotion: both numbers at each budget, the interval between them, and the decision."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jobs.plain import plain
from jobs.promote import CHALLENGER, CHAMPION, Bout, Promotion
from pipeline.evaluate.strata import HEADLINE


def show_promotion(decided: Promotion, out: Console) -> None:
    """The comparison, if there was one, and what came of it."""
    version = f"{decided.chosen.name} version {decided.chosen.version}"
    if decided.champion is None:
        _say(f"{version} is the champion: there was none", out)
        return
    if decided.champion.version == decided.chosen.version:
        _say(f"{version} is the champion already", out)
        return
    if decided.bout is not None:
        _show_bout(decided, decided.bout, out)
    against = f"version {decided.champion.version}"
    if not decided.why_not:
        _say(f"{version} is the champion now, in place of {against}: not inferior by {decided.margin:g} or more", out)
    elif decided.forced:
        said = f"{version} is the champion now, in place of {against}, by force: {decided.why_not}"
        out.print(Text(plain(said), style="yellow"))
    else:
        said = f"{version} is not promoted: {decided.why_not}. {against.capitalize()} stays the champion"
        out.print(Text(plain(said), style="yellow"))


def _show_bout(decided: Promotion, bout: Bout, out: Console) -> None:
    left_out = f"; {bout.n_left_out:,} left out, that a version was trained on" if bout.n_left_out else ""
    _say(f"{bout.n_requests:,} requests of {bout.n_histories:,} histories{left_out}", out)
    title = "slate completeness, difference with its 95% interval over histories"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    table.add_column("slates of", no_wrap=True)
    for name in ("n", "champion", "challenger", "difference", f"> -{decided.margin:g}"):
        table.add_column(name, justify="right", no_wrap=True)
    for stratum in HEADLINE:
        table.add_row(stratum, style="bold")
        for budget in bout.budgets:
            ours, theirs = bout.of(CHALLENGER, budget, stratum), bout.of(CHAMPION, budget, stratum)
            passed = "" if stratum != "all" else "yes" if bout.lower_bound(budget) > -decided.margin else "no"
            shares = (theirs.slate_completeness.text(), ours.slate_completeness.text())
            difference = ours.difference.text(signed=True, interval=True)
            table.add_row(f"  {budget:,} tokens", f"{ours.n:,}", *shares, difference, passed)
    out.print(table)
    _say(f"data {bout.digest}", out)


def _say(text: str, out: Console) -> None:
    out.print(plain(text), highlight=False, markup=False, soft_wrap=True)
