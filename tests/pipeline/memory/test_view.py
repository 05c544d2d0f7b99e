"""Pieces are scored by BM25 with the constants of the paper; of equal ones the more alike comes first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noted import COUNTER, request, said, stored

from pipeline.memory.options import MemoryOptions
from pipeline.memory.slates import calls
from pipeline.policies.slates import SlateOptions
from pipeline.recall.bm25 import scores_reference
from pipeline.recall.options import PoolOptions
from pipeline.units.cut import CutOptions

pytestmark = pytest.mark.flash
MEMORY = MemoryOptions(cut=CutOptions(reader_tokens=40), piece_tokens=12)
TEXT = st.lists(st.sampled_from(["tea", "kite", "Oslo", "lamp", "rain", "port"]), min_size=1, max_size=9).map(" ".join)


@given(st.lists(TEXT, min_size=2, max_size=8), TEXT, st.data())
@settings(max_examples=25)
def test_scores_are_those_of_okapi_over_the_visible_pieces(texts, asked, data):
    seen = data.draw(st.integers(0, len(texts) - 1))
    made = stored([said(0, *texts)], [request(asked, seen_session=0, seen_turn=seen)], MEMORY)
    ((call, _),) = calls(made.asked, made.noted, SlateOptions((), (900,)), MEMORY, COUNTER, None)
    terms = call.view.notes.piece_terms
    pieces = [terms[piece].tolist() for piece in call.view.piece.tolist()]
    assert len(pieces) >= seen + 1
    expected = scores_reference(pieces, call.query.tolist(), PoolOptions(k1=1.2, b=0.75, epsilon=0.25))
    assert call.view.bm25(call.query) == pytest.approx(expected.scores, abs=1e-6)


def test_of_equal_pieces_the_one_whose_turn_is_more_like_the_request_comes_first():
    made = stored(
        [said(0, "red kite", "blue lamp", "red kite", "a port", "old lamp", "port")], [request("kite")], MEMORY
    )
    ((call, _),) = calls(made.asked, made.noted, SlateOptions((), (900,)), MEMORY, COUNTER, None)
    alike = replace(call, asked=replace(call.asked, dense=np.array([0.1, 0.9, 0.8, 0.7, np.nan, 0.5])))
    assert alike.ordered(alike.view.bm25(alike.query)).tolist() == [2, 0, 1, 3, 5, 4]
