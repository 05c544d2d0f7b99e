"""What records cite for a request follows the candidates of the channels: what matches best first, nothing unseen."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noted import request, said, stored

from pipeline import schemas
from pipeline.memory.options import MemoryOptions
from pipeline.recall.cited import Citations
from pipeline.recall.options import PoolOptions
from pipeline.recall.pools import pools
from pipeline.terms import terms
from pipeline.units.cut import CutOptions

pytestmark = pytest.mark.flash
MEMORY = MemoryOptions(cut=CutOptions(reader_tokens=40, agent_tokens=40))


def pooled(
    turns: list[dict[str, Any]], asked: dict[str, Any], size: int, cited: int, agent: bool = False
) -> list[tuple[int, int]]:
    """The pool of a request, as (session, turn), in order."""
    asked = {**asked, "mode": "agent"} if agent else asked
    noted = stored([turns], [asked], MEMORY).noted
    requests = pa.Table.from_pylist([asked], schemas.REQUESTS)
    options = PoolOptions(channels=("bm25",), pool_size=size, record_cited=cited)
    citations = Citations(requests, noted.units, noted.records)
    found, _ = pools(requests, noted.turns, terms(noted.turns), None, None, options, None, citations)
    frame = pl.DataFrame(found)
    assert frame["pool_position"].to_list() == list(range(1, frame.height + 1))
    return list(frame.select("session_index", "turn_index").iter_rows())


def chat(count: int) -> list[dict[str, Any]]:
    return [
        row
        for number in range(count)
        for row in said(number, f"I bought a red kite number {number} in Oslo for {number + 3} euros.", "A fine kite!")
    ]


def test_they_follow_those_of_the_channels_and_are_no_more_than_the_profile_says():
    turns = chat(8)
    asked = request("Which kite did I buy in Oslo for 7 euros?")
    alone = pooled(turns, asked, size=2, cited=0)
    more = pooled(turns, asked, size=2, cited=3)
    assert more[:2] == alone
    assert len(more) == 5
    assert len(set(more)) == 5
    assert pooled(turns, asked, size=16, cited=32) == pooled(turns, asked, size=16, cited=0)


def test_the_fact_that_matches_best_is_cited_first():
    turns = chat(8)
    # The channel puts the newest of those that share no word first: a pool of one turn cannot hold two answers.
    first, cited = pooled(turns, request("euros 7 9"), size=1, cited=1)
    assert {first, cited} == {(4, 0), (6, 0)}


def test_a_request_without_words_and_a_history_without_facts_cite_nothing():
    assert len(pooled(chat(4), request("?"), size=2, cited=9)) <= 2
    assert len(pooled(said(0, "Hm.", "Hm."), request("kite"), size=1, cited=9)) == 1


TEXT = st.lists(st.sampled_from(["I", "bought", "a kite", "in Oslo.", "He went", "42", "home."]), min_size=2).map(
    " ".join
)


@given(st.lists(TEXT, min_size=2, max_size=10), TEXT, st.booleans(), st.data())
@settings(max_examples=25)
def test_what_follows_what_a_request_sees_cites_nothing_and_changes_nothing(texts, words, agent, data):
    seen = data.draw(st.integers(0, len(texts) - 1))
    asked = request(words, seen_session=1, seen_turn=seen)
    earlier = said(0, "I bought a kite in Oslo for 42 euros.", "Fine.")
    whole = said(1, *texts)
    now = pooled(earlier + whole[: seen + 1], asked, size=1, cited=32, agent=agent)
    assert pooled(earlier + whole, asked, size=1, cited=32, agent=agent) == now
    assert all(place <= (1, seen) for place in now)
