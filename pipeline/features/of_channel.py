"""Features that every channel (and view) has: its score and rank, and its scores of the turns around a candidate."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from pipeline.features.feature import REQUEST, SESSION, Feature

_OUTSIDE = "the channel gives no score"


def _plain(channel: str, column: str, formula: str, unit: str, null: str) -> Feature:
    return Feature(f"{channel}_{column}", channel, formula, unit, null, pl.col(f"{channel}_{column}"))


def _score(channel: str) -> Feature:
    return _plain(channel, "score", f"score of channel {channel}", "the channel's own", _OUTSIDE)


def _rank(channel: str) -> Feature:
    formula = f"place in channel {channel} among the visible turns"
    return _plain(channel, "rank", formula, "turns, from 1", "the channel did not recall the turn")


def _gap(channel: str) -> Feature:
    score = pl.col(f"{channel}_score")
    expression = score.max().over(REQUEST) - score
    return Feature(
        f"{channel}_gap", channel, f"best {channel} score of the pool minus the turn's", "as the score", _OUTSIDE,
        expression,
    )  # fmt: skip


def _beside(channel: str, step: int, name: str, word: str) -> Feature:
    """The score of the turn that stands `step` places before (1) or after (-1) the candidate in its session."""
    apart = pl.col("turn_index") - pl.col("turn_index").shift(step)
    score = pl.when(apart == step).then(pl.col(f"{channel}_score").shift(step))
    return Feature(
        f"{channel}_{name}",
        "context",
        f"{channel} score of the turn {word} it in the session",
        "as the score",
        f"that turn is not in the pool, or {_OUTSIDE}",
        score.over(SESSION, order_by="turn_index"),
    )


def _before(channel: str) -> Feature:
    return _beside(channel, 1, "before", "before")


def _after(channel: str) -> Feature:
    return _beside(channel, -1, "after", "after")


def _of_session(channel: str, name: str, formula: str, unit: str, expression: pl.Expr) -> Feature:
    null = "the channel gives none of its turns a score"
    return Feature(f"{channel}_session_{name}", "context", formula, unit, null, expression)


def _session_best(channel: str) -> Feature:
    best = pl.col(f"{channel}_score").max().over(SESSION)
    return _of_session(
        channel, "best", f"best {channel} score of the pool's turns of the session", "as the score", best
    )


def _session_mean(channel: str) -> Feature:
    mean = pl.col(f"{channel}_score").mean().over(SESSION)
    return _of_session(
        channel, "mean", f"mean {channel} score of the pool's turns of the session", "as the score", mean
    )


def _session_place(channel: str) -> Feature:
    place = pl.col(f"{channel}_score").max().over(SESSION).rank("dense", descending=True).over(REQUEST)
    return _of_session(channel, "place", f"place of the session by its best {channel} score", "sessions, from 1", place)


FAMILIES: dict[str, Callable[[str], Feature]] = {
    "score": _score,
    "rank": _rank,
    "gap": _gap,
    "before": _before,
    "after": _after,
    "session_best": _session_best,
    "session_mean": _session_mean,
    "session_place": _session_place,
}
"""By the end of the name, what makes the feature of a channel: `bm25_before` is `FAMILIES["before"]("bm25")`."""
