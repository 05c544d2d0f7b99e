"""What `slatemill status` prints: the stages, the last run, what is under way, and what to do about the rest."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cluster.exits import DONE, FAILED_SHARDS, NEEDS_BACKFILL, OVER_QUARANTINE
from cluster.heartbeat import Beat
from cluster.hints import command
from cluster.progress import per_second
from cluster.snapshot import Run
from jobs.plain import first_line
from jobs.status import FIRST_FAILURES, Status

_CODES = {
    DONE: "done",
    FAILED_SHARDS: "failed shards",
    NEEDS_BACKFILL: "a back-fill is needed",
    OVER_QUARANTINE: "quarantine over its limit",
}


def show_status(found: Status, profile: str, out: Console) -> None:
    """Prints all of it, in any width from 80 columns; `profile` is how the profile was named."""
    counts = ", ".join(f"{count:,} {name}" for name, count in found.arrived.items())
    out.print(Text(f"{found.lake}: {found.batches} batch{'' if found.batches == 1 else 'es'}, {counts}"))
    if found.stages:
        out.print(_stages_table(found))
    if found.lost_by_ingest:
        out.print(Text(f"ingest: {found.lost_by_ingest:,} row(s) in quarantine", style="yellow"))
    _show_last_run(found, profile, out)
    for beat in found.live:
        _show_beat(beat, found.now, out)
    for claim, since in found.claims:
        said = (
            f"batch {claim.name} was claimed {_ago(found.now - since)} and is not committed: an ingest is under way, "
            "or broke off. If none is: ingest that source again to finish it, or drop it with "
            f"`{command('ingest', found.lake, '--void')}`. Until then no other source can be ingested."
        )
        out.print(Text(said, style="yellow"))
    for note in found.notes:
        out.print(Text(note, style="yellow"))


def _stages_table(found: Status) -> Table:
    title = f"profile {found.profile}: shards, and rows left out"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    table.add_column("stage", no_wrap=True)
    for name in ("shards", "done", "stale", "missing", "waiting", "failed", "rows lost"):
        table.add_column(name, justify="right", no_wrap=True)
    for stage in found.stages:
        shards = (stage.shards, stage.done, stage.stale, stage.missing, stage.waiting, stage.failed)
        table.add_row(stage.stage, *(f"{count:,}" for count in (*shards, stage.quarantined)))
    return table


def _show_last_run(found: Status, profile: str, out: Console) -> None:
    run = found.last_run
    out.print(Text(f"no run of profile {found.profile} yet" if run is None else _last_run(run, found.now)))
    for failure in found.failures[:FIRST_FAILURES]:
        out.print(Text(f"failed: {failure.place}: {first_line(failure.reason)}", style="red"))
    if run is not None and len(found.failures) > FIRST_FAILURES:
        rest = len(found.failures) - FIRST_FAILURES
        said = f"failed: {rest:,} more, with reasons and tracebacks in runs/{run.run_id}/failures.parquet"
        out.print(Text(said, style="red"))
    lacking = sum(stage.stale + stage.missing + stage.waiting for stage in found.stages)
    if lacking:
        why = command("plan", found.lake, "--profile", profile)
        out.print(Text(f"{lacking:,} shard(s) to do: `{why}` says why"))


def _last_run(run: Run, now: datetime) -> str:
    seconds = (run.ended - run.started).total_seconds()
    said = _CODES.get(run.exit_code, "")
    when = f"{run.started:%Y-%m-%d %H:%M} UTC, {_ago(now - run.started)}"
    return f"last run {run.run_id}: {when}, took {seconds:,.1f} s, exit code {run.exit_code} ({said})"


def _show_beat(beat: Beat, now: datetime, out: Console) -> None:
    last = _ago(now - beat.at)
    if beat.is_dead(now):
        said = (
            f"run {beat.run_id} of profile {beat.profile} is dead: it gave its last sign {last} and did not end. "
            "What it wrote stays: run again."
        )
        out.print(Text(said, style="red"))
        return
    title = f"run {beat.run_id} of profile {beat.profile} is under way since {_ago(now - beat.started)}, seen {last}"
    out.print(Text(title, style="green"))
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column("stage", no_wrap=True)
    for name in ("done", "of", "failed", "shards/s", "left"):
        table.add_column(name, justify="right", no_wrap=True)
    for stage in beat.stages:
        table.add_row(stage["name"], *_progress(stage))
    out.print(table)


def _progress(stage: dict[str, Any]) -> tuple[str, ...]:
    settled = stage["done"] + stage["reused"]
    rate = "" if stage["rate"] is None else per_second(stage["rate"])
    left = "" if stage["left"] is None or settled == stage["total"] else str(timedelta(seconds=round(stage["left"])))
    return f"{settled:,}", f"{stage['total']:,}", f"{stage['failed']:,}", rate, left


def _ago(span: timedelta) -> str:
    seconds = max(0, round(span.total_seconds()))
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return f"{seconds} s ago"
