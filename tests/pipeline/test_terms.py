from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from pipeline.schemas import TERMS, TURNS
from pipeline.terms import terms


def turn(history: str, turn_index: int, text: str, speaker: str | None = None) -> dict[str, Any]:
    key = {"history_id": history, "session_index": 0, "turn_index": turn_index}
    return {**key, "role": "user", "speaker": speaker, "text": text, "n_tokens": 1}


@pytest.mark.flash
def test_terms_are_those_of_speaker_and_text_sorted_by_turn() -> None:
    rows = [turn("h", 1, "the"), turn("h", 0, "two dogs, one dog", "Ann"), turn("g", 0, "京都市")]
    found = terms(pa.Table.from_pylist(rows, schema=TURNS))
    assert found.schema.equals(TERMS)
    assert [(row["history_id"], row["turn_index"], row["terms"]) for row in found.to_pylist()] == [
        ("g", 0, ["京", "京都", "都", "都市", "市"]),
        ("h", 0, ["ann", "two", "dog", "one", "dog"]),
        ("h", 1, []),
    ]


@pytest.mark.flash
def test_the_role_is_no_term() -> None:
    found = terms(pa.Table.from_pylist([turn("h", 0, "hello")], schema=TURNS))
    assert found["terms"].to_pylist() == [["hello"]]


@pytest.mark.flash
def test_no_turns_make_an_empty_table_with_the_schema() -> None:
    found = terms(TURNS.empty_table())
    assert found.num_rows == 0
    assert found.schema.equals(TERMS)
