"""Chosen turns as text: sessions in time order under their headers, turns in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import polars as pl

from pipeline.render.style import Style


@dataclass(frozen=True)
class Shown:
    """The turns of one history as a slate may show them, in the order in which it would; lists of equal length.

    `session_times` and `session_indices` are of the turn's session; `names` say who speaks; `texts` are what is shown.
    """

    session_indices: Sequence[int]
    turn_indices: Sequence[int]
    session_times: Sequence[datetime | None]
    names: Sequence[str]
    texts: Sequence[str]


def in_time_order(turns: pl.DataFrame) -> pl.DataFrame:
    """Turns of one history in the order of a slate: by session time, then session_index, then turn_index.

    A session without a time stands where it arrived: after the last earlier session that has one. `turns` is the whole
    history, not what pools hold of it: else the other requests of a batch would decide where a session stands.
    """
    sessions = (
        turns.select("session_index", "session_time")
        .unique("session_index", keep="first")
        .sort("session_index")
        .with_columns(shown_at=pl.col("session_time").forward_fill())
        .select("session_index", "shown_at")
    )
    ordered = turns.join(sessions, on="session_index", how="left", maintain_order="left")
    return ordered.sort("shown_at", "session_index", "turn_index", nulls_last=False).drop("shown_at")


def render(shown: Shown, places: Sequence[int], style: Style) -> str:
    """The text of the turns at `places`, which ascend. Nothing chosen: the empty text."""
    return "".join([part for part, _ in _parts(shown, places, style)][:-1])


def line_spans(shown: Shown, places: Sequence[int], style: Style) -> list[tuple[int, int]]:
    """Where the lines of `places` stand in what `render` makes of them: characters of the text, the end excluded."""
    spans: list[tuple[int, int]] = []
    start = 0
    for part, is_line in _parts(shown, places, style):
        end = start + len(part)
        if is_line:
            spans.append((start, end))
        start = end
    return spans


def _parts(shown: Shown, places: Sequence[int], style: Style) -> Iterator[tuple[str, bool]]:
    """The text part by part, with a break after the last line, and whether a part is a turn's line."""
    names = style.names(Counter(shown.names[place] for place in places))
    if names.legend:
        yield names.legend, False
    ordinal = 0
    current: int | None = None
    before: datetime | None = None
    for place in places:
        session, time = shown.session_indices[place], shown.session_times[place]
        if session != current:
            ordinal += 1
            yield style.header(ordinal, time, before), False
            yield style.after_header, False
            current, before = session, time
        yield style.line(names.called[shown.names[place]], shown.texts[place]), True
        yield style.after_line, False
