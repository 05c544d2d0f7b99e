"""What `slatemill plan` prints: the shards of each stage by what a run does with them, why, and the cost."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cluster.forecast import Outlook
from cluster.stamp import Cause, Reason
from jobs.costs import cost_line
from jobs.plan import COSTLY, TO_DO, Planned, StagePlan

_SAID = {
    Cause.NEW: "new",
    Cause.CHOICE: "not made under this choice",
    Cause.VERSION: "stage version",
    Cause.CONFIG: "config",
    Cause.MODEL: "model",
    Cause.INPUT: "input",
    Cause.QUARANTINE: "quarantine",
    Cause.UPSTREAM: "upstream",
    Cause.UNKNOWN: "made by an earlier slatemill",
}


def show_plan(planned: Planned, command: str, out: Console) -> None:
    """Prints all of it, in any width from 80 columns; `command` is the run that was planned."""
    out.print(_stages_table(planned))
    if any(stage.why for stage in planned.stages):
        out.print(_why_table(planned))
    _show_sum(planned, command, out)


def _stages_table(planned: Planned) -> Table:
    title = f"plan of profile {planned.profile} over {_count(planned.batches, 'batch', 'batches')}: shards"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    table.add_column("stage", no_wrap=True)
    for name in ("reuse", "do", "follow", "backfill", "blocked", "worker s"):
        table.add_column(name, justify="right", no_wrap=True)
    for stage in planned.stages:
        table.add_row(stage.name, *(f"{stage.shards[outlook]:,}" for outlook in Outlook), _cost(stage))
    return table


def _cost(stage: StagePlan) -> str:
    """Worker seconds of what is to be done or redone, with what may follow and what a back-fill would take."""
    if not any(stage.rows[outlook] for outlook in COSTLY):
        return "0"
    if stage.price is None:
        return "unknown"
    total = sum(stage.seconds(outlook) or 0.0 for outlook in COSTLY)
    return f"{_seconds(total)}{'' if stage.price.of_this_choice else '*'}"


def _why_table(planned: Planned) -> Table:
    table = Table(title="why", title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    table.add_column("stage", no_wrap=True)
    table.add_column("shards", justify="right", no_wrap=True)
    table.add_column("what", no_wrap=True)
    table.add_column("because of", overflow="fold")
    for stage in planned.stages:
        for (outlook, reasons), shards in sorted(stage.why.items(), key=lambda item: list(Outlook).index(item[0][0])):
            said = "; ".join(_said(reason) for reason in reasons)
            table.add_row(stage.name, f"{shards:,}", outlook.value.replace("needs_", ""), Text(said))
    return table


def _said(reason: Reason) -> str:
    names = ", ".join(reason.names)
    return f"{_SAID[reason.cause]}: {names}" if names else _SAID[reason.cause]


def _show_sum(planned: Planned, command: str, out: Console) -> None:
    do, follow = planned.shards(Outlook.DO), planned.shards(Outlook.FOLLOW)
    if not do and not follow:
        out.print(Text("a run has nothing to do"))
    else:
        more = f", and up to {follow:,} more as far as what they read changes" if follow else ""
        out.print(Text(f"a run does {_count(do, 'shard', 'shards')}{more}"))
        seconds, unpriced = planned.seconds(*TO_DO), planned.unpriced(*TO_DO)
        least = "at least " if unpriced and seconds else ""
        if seconds:
            wall = f"{_seconds(seconds / planned.workers)} s with {_count(planned.workers, 'worker', 'workers')}"
            out.print(Text(f"cost: {least}{_seconds(seconds)} worker seconds, about {wall}"))
        for kind, spent in planned.costs.items():
            out.print(Text(f"{kind}: about {cost_line(spent)}"), soft_wrap=True)
        if unpriced:
            out.print(Text(f"unknown: the cost of {', '.join(unpriced)}, which no run of this lake has worked on"))
    if any(
        stage.price is not None and not stage.price.of_this_choice and any(stage.rows[outlook] for outlook in COSTLY)
        for stage in planned.stages
    ):
        out.print(Text("* as another choice (model or profile) took it; this one never ran here"))
    for stage in planned.stages:
        lacking = stage.shards[Outlook.NEEDS_BACKFILL]
        if lacking:
            cost = stage.seconds(Outlook.NEEDS_BACKFILL)
            price = "at unknown cost" if cost is None else f"for {_seconds(cost)} worker seconds"
            said = (
                f"{_count(lacking, 'shard', 'shards')} of {stage.name} need a back-fill ({price}), or a run ends with "
            )
            out.print(Text(f"{said}code 2: {command} --backfill {stage.name}", style="yellow"), soft_wrap=True)


def _count(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.1f}"
