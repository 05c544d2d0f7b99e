"""Where a request of an agent stands in its history: what it has seen, and the step that follows."""

from __future__ import annotations

from itertools import pairwise

import polars as pl

from pipeline.ingest.steps import ACTION, BLOCK, OBSERVATION

_KEY = ["history_id", "request_id"]
_TURN = ["history_id", "session_index", "turn_index"]

Spans = list[tuple[int, int]]
"""Characters from the first of a pair to the second, exclusive."""


def in_order(turns: pl.DataFrame) -> pl.DataFrame:
    """Turns (TURNS) with their `place` in their history, from 0, and `step`: how many steps (turns of the assistant)
    there are up to them, their own among them; by history, session and turn."""
    is_step = pl.col("role") == "assistant"
    return turns.sort(_TURN).with_columns(
        place=pl.int_range(pl.len()).over("history_id"), step=is_step.cast(pl.Int64).cum_sum().over("history_id")
    )


def moments(requests: pl.DataFrame, ordered: pl.DataFrame) -> pl.DataFrame:
    """Of each request of mode agent that says what it has seen: history_id, request_id, n_seen, next.

    n_seen is the number of turns of its history (of `ordered`, see in_order) up to its last seen one: those of lower
    places. next is the place of the step that follows, the first of the assistant behind them; null where there is
    none, or where a user says something before it, which the request cannot know.
    """
    asked = requests.filter(
        (pl.col("mode") == "agent") & pl.col("seen_session").is_not_null() & pl.col("seen_turn").is_not_null()
    ).select(*_KEY, session_index="seen_session", turn_index="seen_turn")
    # Turns and bounds in one order; of equal ones the turn first: it is seen.
    bounds = pl.concat([ordered.select(_TURN), asked], how="diagonal").sort(*_TURN, "request_id", nulls_last=False)
    counted = bounds.with_columns(n_seen=pl.col("request_id").is_null().cast(pl.Int64).cum_sum().over("history_id"))
    of_each = counted.filter(pl.col("request_id").is_not_null()).select(*_KEY, "n_seen")
    speaks = pl.col("role").is_in(["assistant", "user"])
    acts = pl.col("role") == "assistant"
    # Before each place, the first turn from there on that is a step or a user's.
    following = ordered.filter(speaks).select("history_id", "place", next=pl.when(acts).then("place")).sort("place")
    return (
        of_each.sort("n_seen")
        .join_asof(
            following, left_on="n_seen", right_on="place", by="history_id", strategy="forward", check_sortedness=False
        )
        .select(*_KEY, "n_seen", "next")
        .sort(_KEY)
    )


def actions(text: str) -> Spans:
    """Where a step's text says what is done, without `$ ` (pipeline.ingest.steps)."""
    return [(start + len(ACTION), end) for start, end, acts in _blocks(text) if acts]


def acted_in(text: str) -> list[str]:
    """The actions of a step."""
    return [text[start:end] for start, end in actions(text)]


def told_by_others(role: str, text: str) -> str:
    """What of a turn the agent did not write: the outputs of a step, all of any other turn."""
    if role != "assistant":
        return text
    return "\n".join(text[start + len(OBSERVATION) : end] for start, end, acts in _blocks(text) if not acts)


def acted_and_seen(text: str) -> list[tuple[str, str]]:
    """The action and the output of each thing that a step did; the output is empty where nothing came, the action
    where none is told."""
    pairs: list[tuple[str, str]] = []
    for start, end, acts in _blocks(text):
        if acts:
            pairs.append((text[start + len(ACTION) : end].strip(), ""))
            continue
        output = text[start + len(OBSERVATION) : end].strip("\n")
        action = pairs.pop()[0] if pairs and not pairs[-1][1] else ""
        pairs.append((action, output))
    return pairs


def _blocks(text: str) -> list[tuple[int, int, bool]]:
    """Where actions and outputs begin and end, and whether it is an action; what stands before the first is thought."""
    borders = [match.start() for match in BLOCK.finditer(text)] + [len(text)]
    return [(start, end, text.startswith(ACTION, start)) for start, end in pairwise(borders)]
