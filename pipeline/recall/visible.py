"""Which turns of its history a request sees: no look-ahead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from pipeline.recall.history import History, Mask, Request


def visible(history: History, request: Request) -> Mask:
    """Mask over the history's turns that the request sees, shape (turns,).

    A turn is hidden when its session is later than `asked_at` (where both times exist), or when it lies after the turn
    named by (`seen_session`, `seen_turn`); a `seen_session` without a `seen_turn` shows that session whole. Otherwise
    all that arrived is seen.
    """
    mask = np.ones(len(history), dtype=np.bool_)
    if not np.isnat(request.asked_at):
        mask &= ~(history.session_time > request.asked_at)  # NaT compares false: a turn without a time stays
    if request.seen_session is not None:
        at_bound = history.session_index == request.seen_session
        if request.seen_turn is not None:
            at_bound &= history.turn_index <= request.seen_turn
        mask &= (history.session_index < request.seen_session) | at_bound
    return mask


def hidden() -> pl.Expr:
    """Whether `visible` hides a turn: for rows with its session_index, turn_index and session_time, and the asked_at,
    seen_session and seen_turn of the request."""
    session, turn = pl.col("session_index"), pl.col("turn_index")
    later = pl.col("session_time") > pl.col("asked_at")
    beyond = (session > pl.col("seen_session")) | ((session == pl.col("seen_session")) & (turn > pl.col("seen_turn")))
    # A comparison with null is null, and hides nothing.
    return later.fill_null(value=False) | beyond.fill_null(value=False)


def views(history: History, requests: Sequence[Request]) -> Iterator[tuple[Mask, list[Request]]]:
    """Each distinct visible set with the requests that share it, so that its statistics are computed once."""
    masks: dict[tuple[object, ...], Mask] = {}
    sharing: dict[bytes, tuple[Mask, list[Request]]] = {}
    for request in requests:
        bounds = (request.asked_at.astype(np.int64), request.seen_session, request.seen_turn)
        if bounds not in masks:
            masks[bounds] = visible(history, request)
        mask = masks[bounds]
        sharing.setdefault(np.packbits(mask).tobytes(), (mask, []))[1].append(request)
    yield from sharing.values()
