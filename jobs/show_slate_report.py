"""What `slatemill show` prints of one slate: its text with marks beside it, and what moved each of its turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from jobs.plain import plain
from pipeline.evaluate.one_slate import OneSlate

_WIDE = 100
"""Columns of a terminal from which three features are named of a turn; below it, two."""
COLORS = {"record": "yellow", "excerpt": "cyan", "raw": "default"}
"""How the resolutions of a slate of memory are shown."""
_HUNDREDTH = 0.005
"""A contribution that two digits would show as zero is not named."""


def show_slate(slate: OneSlate, channels: Sequence[str], empty: str | None, out: Console) -> None:
    """Prints the text in a panel, turns numbered by rank and evidence marked; then a table of the turns by rank.

    `empty` says why the slate holds nothing, where that is so.
    """
    show_text(slate, empty, out)
    if not slate.turns.height:
        return
    if slate.of_memory:
        out.print(_resolutions(slate))
        return
    out.print(Text(" beside the text: the turn's rank; ★ and the number of an evidence turn\n", style="dim"))
    out.print(_turns_table(slate, channels, features=3 if out.width >= _WIDE else 2))
    said = f"{', '.join(channels)}: among all turns that the request sees"
    if slate.base is not None:
        said += f"; moved by: the most of what features add to the score, from {slate.base:+.2f}"
    out.print(Text(f" {said}\n", style="dim"))


def show_text(slate: OneSlate, empty: str | None, out: Console) -> None:
    """Prints the text alone, in its panel."""
    n = slate.turns.height
    shown = "part" if slate.of_memory else "turn"
    title = f"{slate.policy}, budget {slate.budget:,}: {slate.n_tokens:,} tokens, {n:,} {shown}{'s' * (n != 1)}"
    text = Text(f"(empty: {empty})", style="dim") if empty is not None else _text(slate)
    out.print(Panel(text, title=Text(title), title_align="left", box=box.ROUNDED))


def _text(slate: OneSlate) -> RenderableType:
    """The slate's text. A line of the grid is a turn, or what stands between two: its marks are beside the text."""
    if not slate.lines_known:
        return Text(plain(slate.text))
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True, justify="right")
    grid.add_column(overflow="fold")
    end = 0
    for turn in slate.turns.iter_rows(named=True):
        # The breaks around what stands between two turns are those of the grid's own lines.
        between = slate.text[end + (end > 0) : turn["line_start"]]
        if between:
            grid.add_row("", "", Text(plain(between[:-1]), style="dim"))
        end = turn["line_end"]
        gold = turn["evidence"] is not None
        color = COLORS[turn["resolution"]] if slate.of_memory else ""
        line = Text(plain(slate.text[turn["line_start"] : end]), style=f"bold {color}".strip() if gold else color)
        rank = f"{turn['rank']:,}" if turn["rank"] else ""
        grid.add_row(Text(_mark(turn), style="bold green"), Text(rank, style="dim"), line)
    rest = slate.text[end + (end > 0) :]
    if rest:
        grid.add_row("", "", Text(plain(rest), style="dim"))
    return grid


def _resolutions(slate: OneSlate) -> Text:
    """How many parts of the text show what at which resolution, in the colours of the text."""
    said = Text(" ")
    for resolution, color in COLORS.items():
        rows = slate.turns.filter(resolution=resolution)
        if rows.height:
            said.append(f"{resolution}: {rows.height:,} of {int(rows['n_tokens'].sum()):,} tokens", style=color)
            said.append("   ")
    said.append("\n beside the text: rank; ★ and the number of an evidence turn\n", style="dim")
    return said


def heading(name: str) -> str:
    """The name of a channel on several lines: columns of ranks are narrow."""
    return name.replace("_", "_\n")


def _turns_table(slate: OneSlate, channels: Sequence[str], features: int) -> Table:
    explained, scored = slate.base is not None, slate.turns["score"].null_count() < slate.turns.height
    table = Table(title="the slate's turns, by rank", title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    table.add_column("", no_wrap=True)
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("turn", no_wrap=True)
    for name in (*(["score"] if scored else []), *channels, "pool"):
        table.add_column(heading(name), justify="right", no_wrap=True)
    if explained:
        table.add_column("moved by")
    for turn in slate.turns.sort("rank").iter_rows(named=True):
        at = f"b{turn['batch']} s{turn['session']} t{turn['turn_index']}"
        score = ["-" if turn["score"] is None else f"{turn['score']:.2f}"] if scored else []
        places = ["-" if rank is None else f"{rank:,}" for rank in _places(turn, channels)]
        moved = [moved_by(turn["contributions"], features)] if explained else []
        table.add_row(_mark(turn), f"{turn['rank']:,}", at, *score, *places, *moved)
    return table


def _places(turn: Mapping[str, Any], channels: Sequence[str]) -> list[int | None]:
    return [turn[name] for name in (*[f"{channel}_rank" for channel in channels], "pool_position")]


def _mark(turn: Mapping[str, Any]) -> str:
    return "" if turn["evidence"] is None else f"★{turn['evidence']}"


def moved_by(contributions: Mapping[str, float], most: int) -> str:
    """The features that added or took most, the largest first: `bm25_rank +1.20, age_days -0.31`."""
    largest = sorted(contributions.items(), key=lambda pair: -abs(pair[1]))[:most]
    return ", ".join(f"{name} {value:+.2f}" for name, value in largest if abs(value) >= _HUNDREDTH)
