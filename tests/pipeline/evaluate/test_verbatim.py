"""A turn counts where all of it that is not blank is shown, in one part or in several."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.verbatim import verbatim_turns
from pipeline.schemas import SLATES

pytestmark = pytest.mark.flash
KEY = {"history_id": "h", "request_id": "q"}
TURN = {"session_index": 0, "turn_index": 0}


def found(text: str, *parts: tuple[str, int, int], with_text: bool = True) -> bool:
    items = [
        {**TURN, "unit_index": 0, "resolution": resolution, "start": start, "end": end, "rank": 1, "n_tokens": 1}
        for resolution, start, end in parts
    ]
    slate = {**KEY, "policy": "p", "budget": 9, "n_tokens": 1, "text": "", "items": items}
    texts = pl.DataFrame([{"history_id": "h", **TURN, "text": text}]).to_arrow() if with_text else None
    shown = verbatim_turns(pa.Table.from_pylist([slate], SLATES), texts, pl.DataFrame([{**KEY, **TURN}]))
    return shown.height == 1


def test_parts_that_follow_each_other_show_a_turn_and_blanks_between_them_do_not_matter() -> None:
    text = "one\n\ntwo  "
    assert found(text, ("raw", 0, 10))
    assert found(text, ("excerpt", 0, 3), ("excerpt", 5, 8))
    assert found(text, ("excerpt", 5, 8), ("raw", 0, 3))


def test_a_turn_of_which_a_letter_is_missing_is_not_shown() -> None:
    assert not found("one two", ("excerpt", 0, 6))
    assert not found("one two", ("excerpt", 1, 7))
    assert not found("one two", ("excerpt", 0, 3), ("excerpt", 5, 7))


def test_a_record_shows_no_turn() -> None:
    assert not found("one", ("record", 0, 3))


def test_without_texts_a_raw_item_counts_and_an_excerpt_does_not() -> None:
    assert found("one", ("raw", 0, 3), with_text=False)
    assert not found("one", ("excerpt", 0, 3), with_text=False)


@given(st.text(alphabet="ab \n", min_size=1, max_size=12), st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12))))
def test_it_is_what_looking_at_every_letter_says(text: str, spans: list[tuple[int, int]]) -> None:
    parts = [("excerpt", min(span), min(max(span), len(text))) for span in spans if min(span) < len(text)]
    seen = {at for _, start, end in parts for at in range(start, end)}
    expected = bool(parts) and all(at in seen or text[at].isspace() for at in range(len(text)))
    assert found(text, *parts) == expected
