"""What `slatemill show` prints: the request, its evidence turns, its slates and what they lost, and one slate."""

from __future__ import annotations

from typing import Any

import polars as pl
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jobs.plain import plain
from jobs.show import Shown
from jobs.show_slate_report import heading, show_slate
from pipeline.evaluate.losses import (
    DID_NOT_FIT,
    NOT_IN_POOL,
    NOT_RAW,
    NOT_RECOVERED,
    NOT_VISIBLE,
    RANK_UNKNOWN,
    RANKED_TOO_LOW,
)
from pipeline.ingest.settle import POSITION_BITS

_REQUEST_LENGTH = 600
_LEGEND = "did not fit: longer than what was left; too low: the budget was spent before it"
_COLUMNS = 10
"""Evidence turns beside each other in one table of slates: as many as 80 columns have room for."""


def show_request(shown: Shown, out: Console, with_slate: bool = True) -> None:
    """Prints all of it, in any width from 80 columns; the slate itself only if asked."""
    _show_head(shown, out)
    if shown.evidence.turns.height:
        out.print(_turns_table(shown))
        among = f"{', '.join(shown.run['channels'])}: among all turns that it sees; ranker: among the pool"
        out.print(Text(f" {among}\n", style="dim"))
    for table in _slates_tables(shown):
        out.print(table)
    lost = set(shown.evidence.in_slate["lost"].drop_nulls())
    if lost:
        out.print(_lost_table(shown))
    if lost & {DID_NOT_FIT, RANKED_TOO_LOW}:
        out.print(Text(f" {_LEGEND}\n", style="dim"))
    if with_slate and shown.slate is not None:
        show_slate(shown.slate, shown.run["channels"], shown.empty, out)
    for note in shown.notes:
        out.print(Text(note, style="yellow"))


def _show_head(shown: Shown, out: Console) -> None:
    request, evidence = shown.request, shown.evidence
    out.print(Text(plain(f"request {request['request_id']} of history {request['history_id']}"), style="bold"))
    out.print(Text(f"profile {shown.run['profile']}, run {shown.run['run_id']}"))
    text = request["text"]
    cut = f" … ({len(text):,} characters)" if len(text) > _REQUEST_LENGTH else ""
    out.print(Padding(Text(plain(text[:_REQUEST_LENGTH]) + cut, style="italic"), (1, 2)))
    category = f"category {request['category'] or '-'}{' (adversarial)' if request['adversarial'] else ''}"
    out.print(Text(plain(f"mode {request['mode']}, {category}, {_asked(request)}")))
    n = evidence.turns.height
    held = f"{n} turn{'s' * (n != 1)}, kappa {evidence.kappa}" if n else "none known"
    out.print(Text(f"evidence: {held}; the request sees {evidence.n_visible:,} of {evidence.n_turns:,} turns\n"))


def _asked(request: dict[str, Any]) -> str:
    asked_at = request["asked_at"]
    asked = "asked without a time" if asked_at is None else f"asked at {asked_at:%Y-%m-%d %H:%M} UTC"
    if request["seen_session"] is None:
        return asked
    batch, session = divmod(request["seen_session"], 1 << POSITION_BITS)
    turn = "" if request["seen_turn"] is None else f" t{request['seen_turn']}"
    return f"{asked}, after b{batch} s{session}{turn}"


def _turns_table(shown: Shown) -> Table:
    channels = shown.run["channels"]
    title = f"evidence turns (b batch, s session, t turn): ranks, and place in the pool of {shown.run['pool_size']:,}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("turn", no_wrap=True)
    for name in (*channels, "pool", "ranker"):
        table.add_column(heading(name), justify="right", no_wrap=True)
    table.add_column("said", overflow="fold")
    for row in shown.evidence.turns.iter_rows(named=True):
        ranks = [_rank(row[f"{name}_rank"]) for name in channels]
        at = f"b{row['batch']} s{row['session']} t{row['turn_index']}"
        table.add_row(str(row["number"]), at, *ranks, _pool(row), _rank(row["ranker_rank"]), _said(row))
    return table


def _pool(row: dict[str, Any]) -> str:
    if not row["visible"]:
        return "not\nvisible"
    if row["pool_position"] is not None:
        return _rank(row["pool_position"])
    return "not in\npool" if row["recall_rank"] is None else f"{row['recall_rank']:,}: not\nin pool"


def _said(row: dict[str, Any]) -> Text:
    """Who said what, and below it how the source calls the turn."""
    said = Text(plain(f"{row['speaker'] or row['role']}: {row['text_start']}"))
    called = " ".join(name for name in (row["source_session"], row["source_turn"]) if name is not None)
    source = f"{row['source_format']} {called or '(without ids)'}"
    if row["continues"] is not None:
        source += ", a later part of its session"
    return said.append(f"\n{plain(source)}", style="dim")


def _slates_tables(shown: Shown) -> list[Table]:
    """The slates by policy and budget with a column for each evidence turn; many turns are spread over several."""
    evidence = shown.evidence
    numbers = evidence.turns["number"].to_list()
    blocks = [numbers[start : start + _COLUMNS] for start in range(0, len(numbers), _COLUMNS)] or [[]]
    return [_slates_table(evidence.slates, evidence.in_slate, block) for block in blocks if evidence.slates.height]


def _slates_table(slates: pl.DataFrame, in_slate: pl.DataFrame, numbers: list[int]) -> Table:
    title = "slates, and which evidence turn each shows" if numbers else "slates"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    table.add_column("policy", no_wrap=True)
    for name in ("budget", "tokens", "turns"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("complete", no_wrap=True)
    for number in numbers:
        table.add_column(str(number), justify="right", no_wrap=True)
    marks = in_slate.with_columns(mark=pl.when("in_slate").then(pl.lit("✓")).otherwise(pl.lit("✗")))
    wide = marks.filter(pl.col("number").is_in(numbers)).group_by("policy", "budget").agg(pl.col("mark"))
    rows = slates.join(wide, on=["policy", "budget"], how="left", maintain_order="left")
    for row in rows.iter_rows(named=True):
        counts = (f"{row['budget']:,}", f"{row['n_tokens']:,}", f"{row['n_turns']:,}")
        complete = "-" if row["complete"] is None else "yes" if row["complete"] else "no"
        table.add_row(row["policy"], *counts, complete, *(row["mark"] or []))
    return table


def _lost_table(shown: Shown) -> Table:
    """A row for each evidence turn, way in which it was lost, and policy; beside it the budgets where that is so."""
    table = Table(title="missing evidence, and where it was lost", title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("lost")
    table.add_column("policy", no_wrap=True)
    table.add_column("budgets")
    turns = {row["number"]: row for row in shown.evidence.turns.iter_rows(named=True)}
    rows: dict[tuple[int, str, str], list[str]] = {}
    for cell in shown.evidence.in_slate.filter(pl.col("lost").is_not_null()).iter_rows(named=True):
        before_policies = cell["lost"] in (NOT_VISIBLE, NOT_IN_POOL)
        phrase = _lost(cell, turns[cell["number"]], shown.run["pool_size"])
        key = (cell["number"], phrase, "all" if before_policies else cell["policy"])
        rows.setdefault(key, []).append("all" if before_policies else f"{cell['budget']:,}")
    for (number, phrase, policy), budgets in rows.items():
        table.add_row(str(number), phrase, policy, ", ".join(dict.fromkeys(budgets)))
    return table


def _lost(cell: dict[str, Any], turn: dict[str, Any], pool_size: int) -> str:
    known = "unknown" if turn["recall_rank"] is None else f"{turn['recall_rank']:,}"
    phrases = {
        NOT_VISIBLE: "not visible to the request",
        NOT_IN_POOL: f"not in the pool of {pool_size:,}: recall rank {known}",
        NOT_RAW: "shown, but not whole",
        NOT_RECOVERED: "no room for its unit or pieces",
        RANK_UNKNOWN: "in the pool, rank unknown",
        DID_NOT_FIT: f"did not fit: rank {_rank(cell['rank'])}, {turn['n_tokens']:,} tokens",
        RANKED_TOO_LOW: f"ranked too low: rank {_rank(cell['rank'])}",
    }
    return phrases[cell["lost"]]


def _rank(rank: int | None) -> str:
    return "-" if rank is None else f"{rank:,}"
