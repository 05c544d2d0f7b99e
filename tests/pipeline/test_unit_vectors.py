"""Vectors of records and of spans: one each, of unit length, and what is not finite goes to quarantine."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from noted import HashEmbedder, said, stored

from pipeline.memory.options import MemoryOptions
from pipeline.schemas import span_vectors as span_schema
from pipeline.schemas import unit_vectors as unit_schema
from pipeline.units.cut import CutOptions
from pipeline.vectors import SPAN_TOKENS, span_vectors, unit_vectors

pytestmark = pytest.mark.flash
MEMORY = MemoryOptions(cut=CutOptions(reader_tokens=300), piece_tokens=40)


class Broken(HashEmbedder):
    """Makes no finite vector of what holds the word kaput."""

    def embed_windows(self, texts):
        rows, vectors = super().embed_windows(texts)
        vectors[["kaput" in text for text in texts]] = np.nan
        return rows, vectors


def notes():
    long = " ".join(f"word{number}" for number in range(120))
    turns = [
        row for number in range(4) for row in said(number, f"I saw kite {number}. {long}", "Fine then.", speaker="Ana")
    ]
    return stored([turns], [], MEMORY).noted


def test_each_record_has_one_vector_of_unit_length() -> None:
    noted = notes()
    made, lost = unit_vectors(noted.records, HashEmbedder())
    assert made.schema.equals(unit_schema(HashEmbedder.dim))
    assert (made.num_rows, lost.num_rows) == (noted.records.num_rows, 0)
    assert np.linalg.norm(np.array(made["vector"].to_pylist(), float), axis=1) == pytest.approx(1, abs=1e-2)


def test_spans_are_the_pieces_of_a_unit_one_after_the_other_until_they_are_full() -> None:
    noted = notes()
    made, _ = span_vectors(noted.pieces, noted.turns, HashEmbedder())
    assert made.schema.equals(span_schema(HashEmbedder.dim))
    spans, pieces = pl.DataFrame(made), pl.DataFrame(noted.pieces)
    of_unit = pieces.group_by("session_index", "unit_index").agg(pl.col("n_tokens").sum())
    counts = (
        spans.group_by("session_index", "unit_index").agg(pl.len()).join(of_unit, on=["session_index", "unit_index"])
    )
    assert counts.height == of_unit.height
    assert (counts["len"] <= counts["n_tokens"] // SPAN_TOKENS + 1).all()
    last = spans.group_by("session_index", "unit_index", maintain_order=True).agg(pl.col("last_turn").last())
    assert last["last_turn"].to_list() == [1] * 4


def test_a_record_without_a_finite_vector_goes_to_quarantine_and_the_others_stay() -> None:
    turns = [*said(0, "The lamp is kaput since Monday."), *said(1, "The kite is red since Monday.")]
    noted = stored([turns], [], MEMORY).noted
    made, lost = unit_vectors(noted.records, Broken())
    assert made["session_index"].to_pylist() == [1]
    assert lost.select(["session_index", "code"]).to_pylist() == [{"session_index": 0, "code": "not_finite"}]
    made, lost = span_vectors(noted.pieces, noted.turns, Broken())
    assert (made["session_index"].to_pylist(), lost["session_index"].to_pylist()) == ([1], [0])
