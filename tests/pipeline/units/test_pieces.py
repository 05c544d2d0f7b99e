"""Pieces are the text of their units, in order, within their tokens, and cross neither turn nor block."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.tokens import token_counter
from pipeline.schemas import PIECES, TURNS
from pipeline.units.cut import CutOptions, units
from pipeline.units.pieces import pieces

pytestmark = pytest.mark.flash

COUNTER = token_counter("o200k_base")
OPTIONS = CutOptions(reader_tokens=20, agent_tokens=12)
LINE = st.sampled_from(
    ["", "=>", "$ ls -l", "a word", "some more words here", "x" * 60, "日本語の文", "=> no", "see $ here"]
)
TEXT = st.lists(LINE, min_size=1, max_size=6).map("\n".join).filter(str.strip)


def turns_of(texts: list[str]) -> pa.Table:
    rows: list[dict[str, Any]] = [
        {
            "history_id": "h",
            "session_index": 0,
            "turn_index": turn,
            "role": "user" if turn % 2 == 0 else "assistant",
            "text": text,
            "n_tokens": COUNTER.count(text),
        }
        for turn, text in enumerate(texts)
    ]
    return pa.Table.from_pylist(rows, schema=TURNS)


def cut(texts: list[str], limit: int, *, agent: bool = False) -> pl.DataFrame:
    table = turns_of(texts)
    agents = ("h",) if agent else ()
    made = pieces(units(table, agents, OPTIONS, COUNTER), table, limit, COUNTER)
    assert made.schema.equals(PIECES)
    return pl.DataFrame(made)


def shown(texts: list[str], found: pl.DataFrame) -> list[str]:
    return [texts[turn][start:end] for turn, start, end in found.select("turn_index", "start", "end").iter_rows()]


@given(st.lists(TEXT, min_size=1, max_size=5), st.integers(2, 20), st.booleans())
@settings(max_examples=200, deadline=None)
def test_they_are_all_the_text_of_their_units_in_order(texts: list[str], limit: int, agent: bool) -> None:
    found = cut(texts, limit, agent=agent)
    assert "".join(shown(texts, found)) == "".join(texts)
    assert found.equals(found.sort("unit_index", "piece_index"))
    for numbers in found.group_by("unit_index").agg("piece_index")["piece_index"]:
        assert numbers.to_list() == list(range(len(numbers)))


@given(st.lists(TEXT, min_size=1, max_size=5), st.integers(2, 20), st.booleans())
@settings(max_examples=200, deadline=None)
def test_each_counts_its_own_text_and_has_no_more_tokens_than_the_limit(
    texts: list[str], limit: int, agent: bool
) -> None:
    found = cut(texts, limit, agent=agent)
    counts = found["n_tokens"].to_list()
    assert counts == [COUNTER.count(text) for text in shown(texts, found)]
    assert all(count <= limit or len(text) == 1 for count, text in zip(counts, shown(texts, found), strict=True))


@given(st.lists(TEXT, min_size=1, max_size=5), st.integers(2, 20))
@settings(max_examples=200, deadline=None)
def test_none_of_an_agent_crosses_a_block_of_a_step(texts: list[str], limit: int) -> None:
    for turn, start, end in cut(texts, limit, agent=True).select("turn_index", "start", "end").iter_rows():
        lines = texts[turn].split("\n")
        places = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]
        blocks = [place for place, line in zip(places, lines, strict=True) if line == "=>" or line.startswith("$ ")]
        assert not any(start < place < end for place in blocks)


def test_a_step_is_cut_where_its_action_and_its_output_begin() -> None:
    step = "The colon is missing.\n\n$ python division.py\n=>\n8.2"
    found = cut([step], 50, agent=True)
    assert shown([step], found) == ["The colon is missing.\n\n", "$ python division.py\n", "=>\n8.2"]
    assert shown([step], cut([step], 50)) == [step]


def test_no_units_have_no_pieces() -> None:
    table = TURNS.empty_table()
    assert pieces(units(table, (), OPTIONS, COUNTER), table, 10, COUNTER).equals(PIECES.empty_table())
