"""Units are the turns of a session part, whole and in order; and as long as the mode of their history says."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.tokens import token_counter
from pipeline.schemas import TURNS, UNITS
from pipeline.units.cut import CutOptions, units

pytestmark = pytest.mark.flash

COUNTER = token_counter("o200k_base")
OPTIONS = CutOptions(reader_tokens=12, agent_tokens=8)
SESSIONS = st.lists(
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.integers(1, 30)), min_size=1, max_size=8),
    min_size=1,
    max_size=4,
)


def turns_of(sessions: dict[tuple[str, int], list[tuple[str, int]]]) -> pa.Table:
    """Turns of so many words, one a line of up to seven; each word is one token, and so is each line break."""
    rows: list[dict[str, Any]] = []
    for (history, session), turns in sessions.items():
        for turn, (role, n_words) in enumerate(turns):
            lines = [" ".join(["word"] * min(7, n_words - start)) for start in range(0, n_words, 7)]
            text = "\n".join(lines)
            key = {"history_id": history, "session_index": session, "turn_index": turn}
            rows.append({**key, "role": role, "text": text, "n_tokens": COUNTER.count(text)})
    return pa.Table.from_pylist(rows, schema=TURNS)


def cut(sessions: dict[tuple[str, int], list[tuple[str, int]]], agents: tuple[str, ...] = ()) -> pl.DataFrame:
    return pl.DataFrame(units(turns_of(sessions), agents, OPTIONS, COUNTER))


def spans(found: pl.DataFrame) -> list[tuple[int, int]]:
    return list(found.select("first_turn", "last_turn").iter_rows())


@given(SESSIONS, st.booleans())
@settings(max_examples=200, deadline=None)
def test_they_are_the_turns_whole_and_in_order_and_cross_no_session_part(sessions, is_agent) -> None:
    given_turns = {("h", index << 20): turns for index, turns in enumerate(sessions)}
    table = turns_of(given_turns)
    made = units(table, ("h",) if is_agent else (), OPTIONS, COUNTER)
    assert made.schema.equals(UNITS)
    found = pl.DataFrame(made)
    for (history, session), turns in given_turns.items():
        texts = table.filter(pc.field("session_index") == session)["text"].to_pylist()
        of_part = found.filter(history_id=history, session_index=session)
        assert of_part["unit_index"].to_list() == list(range(of_part.height))
        rebuilt = [""] * len(turns)
        for first, start, last, end in of_part.select("first_turn", "start", "last_turn", "end").iter_rows():
            for turn in range(first, last + 1):
                rebuilt[turn] += texts[turn][start if turn == first else 0 : end if turn == last else None]
        assert rebuilt == texts


@given(SESSIONS)
@settings(max_examples=200, deadline=None)
def test_those_of_a_reader_fit_and_could_not_take_what_follows(sessions) -> None:
    given_turns = {("h", index << 20): turns for index, turns in enumerate(sessions)}
    found = cut(given_turns)
    assert (found["n_tokens"] <= OPTIONS.reader_tokens).all()
    tokens = {(row["session_index"], row["turn_index"]): row["n_tokens"] for row in turns_of(given_turns).to_pylist()}
    for before, after in zip(found.iter_rows(named=True), found.slice(1).iter_rows(named=True), strict=False):
        if before["session_index"] != after["session_index"] or before["of_a_long_turn"] or after["of_a_long_turn"]:
            continue
        first, session = after["first_turn"], after["session_index"]
        turns = given_turns["h", session]
        end = next((turn for turn in range(first + 1, len(turns)) if turns[turn][0] == "user"), len(turns))
        exchange = sum(tokens[session, turn] for turn in range(first, end))
        assert before["n_tokens"] + min(exchange, OPTIONS.reader_tokens) > OPTIONS.reader_tokens or (
            turns[first][0] != "user" and before["n_tokens"] + tokens[session, first] > OPTIONS.reader_tokens
        )


@given(SESSIONS)
@settings(max_examples=200, deadline=None)
def test_those_of_an_agent_are_packed_until_they_reach_their_size(sessions) -> None:
    given_turns = {("h", index << 20): turns for index, turns in enumerate(sessions)}
    found = cut(given_turns, ("h",)).filter(~pl.col("of_a_long_turn"))
    last = found.filter(pl.col("unit_index") == pl.col("unit_index").max().over("session_index"))
    assert (found["n_tokens"] < 2 * OPTIONS.agent_tokens).all()
    assert last.height <= len(sessions)


@given(SESSIONS, SESSIONS, st.booleans())
@settings(max_examples=100, deadline=None)
def test_what_comes_later_changes_no_unit(sessions, later, is_agent) -> None:
    agents = ("h",) if is_agent else ()
    first = {("h", index): turns for index, turns in enumerate(sessions)}
    both = first | {("h", 100 + index): turns for index, turns in enumerate(later)} | {("g", 0): later[0]}
    grown = cut(both, agents)
    assert grown.filter(history_id="h").filter(pl.col("session_index") < 100).equals(cut(first, agents))


def test_a_session_is_cut_before_turns_of_the_user() -> None:
    turns = [("user", 3), ("assistant", 5), ("user", 2), ("assistant", 2), ("user", 1), ("assistant", 4)]
    assert spans(cut({("h", 0): turns})) == [(0, 3), (4, 5)]


def test_an_exchange_that_is_longer_begins_a_unit_and_is_cut_before_other_turns() -> None:
    turns = [("user", 1), ("assistant", 1), ("user", 3), ("assistant", 7), ("assistant", 7), ("user", 2)]
    assert spans(cut({("h", 0): turns})) == [(0, 1), (2, 3), (4, 5)]


@given(SESSIONS, st.booleans(), st.data())
@settings(max_examples=200, deadline=None)
def test_turns_added_to_a_session_change_at_most_its_last_unit(sessions, is_agent, data) -> None:
    whole = [turn for turns in sessions for turn in turns]
    n_first = data.draw(st.integers(1, len(whole)))
    agents = ("h",) if is_agent else ()
    first = cut({("h", 0): whole[:n_first]}, agents)
    assert cut({("h", 0): whole}, agents).head(first.height - 1).equals(first.head(-1))


def test_steps_are_packed_until_a_unit_reaches_its_size() -> None:
    turns = [("assistant", 3), ("assistant", 4), ("assistant", 2), ("assistant", 1), ("assistant", 7), ("user", 1)]
    found = cut({("h", 0): turns}, ("h",))
    assert spans(found) == [(0, 2), (3, 4), (5, 5)]
    assert found["n_tokens"].to_list() == [9, 8, 1]


def test_a_turn_longer_than_a_unit_is_cut_at_line_breaks_and_says_so() -> None:
    found = cut({("h", 0): [("user", 2), ("assistant", 21), ("user", 2)]})
    assert spans(found) == [(0, 0), (1, 1), (1, 1), (1, 1), (2, 2)]
    assert found["of_a_long_turn"].to_list() == [False, True, True, True, False]
    assert found["start"].to_list() == [0, 0, 35, 70, 0]


def test_no_turns_have_no_units() -> None:
    found = units(TURNS.empty_table(), (), OPTIONS, COUNTER)
    assert found.equals(UNITS.empty_table())
