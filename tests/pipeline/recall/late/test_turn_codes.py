from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from word_tokens import InParts, WordTokenEncoder

from pipeline.recall.late import turn_codes as module
from pipeline.recall.late.codes import encode
from pipeline.recall.late.options import Code
from pipeline.recall.late.turn_codes import CodeSource, FreshCodes, StoredCodes, encode_turns, text_blocks
from pipeline.schemas import TURN_TOKENS, TURNS
from pipeline.tokens import turn_tokens

pytestmark = pytest.mark.flash

CODES = ("int8", "pooled")
TEXT = st.lists(st.sampled_from(["kite", "lamp", "moss", "fern", "nan"]), max_size=9).map(" ".join)


def turns_of(texts: list[str], history: str = "h") -> pa.Table:
    """Three turns a session; the sessions' numbers are far apart, as batches make them."""
    rows = [
        {"history_id": history, "session_index": (k // 3) << 20, "turn_index": k % 3, "role": "user", "text": text}
        for k, text in enumerate(texts)
    ]
    return pa.Table.from_pylist([{**row, "n_tokens": 1} for row in rows], TURNS)


def stored(texts: list[str], code: Code, rows: int) -> StoredCodes:
    """The codes of a history that lies between two others, read `rows` at a time."""
    turns = pa.concat_tables([turns_of(["moss"], "a"), turns_of(texts), turns_of(["fern"], "z")])
    made = [table for table, _ in turn_tokens(turns, WordTokenEncoder(), code)]
    keys = turns_of(texts)
    session, turn = (keys[name].to_numpy().astype(np.int64) for name in ("session_index", "turn_index"))
    return StoredCodes(InParts(pa.concat_tables(made), rows), "h", session, turn, 16)


def by_turn(source: CodeSource, turns: list[int]) -> dict[int, tuple[bytes, bytes]]:
    """What a source gives of each turn that has any codes."""
    found = {}
    for places, codes in source.parts(np.array(turns, np.int64)):
        for k, place in enumerate(places.tolist()):
            one = codes.take(np.array([k])).codes
            assert place not in found
            if len(one.scales):
                found[place] = (one.values.tobytes(), one.scales.tobytes())
    return found


@settings(max_examples=60)
@given(st.lists(TEXT, min_size=1, max_size=10), st.sampled_from(CODES), st.integers(1, 5), st.data())
def test_stored_codes_are_those_that_are_made_afresh_and_of_the_turns_asked_for(
    texts: list[str], code: Code, rows: int, data: st.DataObject
) -> None:
    wanted = sorted(data.draw(st.sets(st.integers(0, len(texts) - 1))))
    fresh = by_turn(FreshCodes(texts, WordTokenEncoder(), code), wanted)
    assert by_turn(stored(texts, code, rows), wanted) == fresh
    with_codes = [turn for turn in wanted if texts[turn] and "nan" not in texts[turn].split()]
    assert sorted(fresh) == with_codes
    if code == "int8":
        for turn in with_codes:
            alone = encode(WordTokenEncoder().encode([texts[turn]], "document").vectors)
            assert fresh[turn] == (alone.values.tobytes(), alone.scales.tobytes())


@settings(max_examples=40)
@given(st.lists(TEXT, min_size=1, max_size=8), st.lists(st.sets(st.integers(0, 7)), max_size=4), st.integers(0, 12))
def test_codes_that_were_forgotten_are_made_again_alike(texts: list[str], asked: list[set[int]], kept: int) -> None:
    limited, unlimited = (FreshCodes(texts, WordTokenEncoder(), "int8", kept=limit) for limit in (kept, 10**9))
    for turns in asked:
        wanted = sorted(turn for turn in turns if turn < len(texts))
        assert by_turn(limited, wanted) == by_turn(unlimited, wanted)
        assert sum(len(codes.scales) for codes in limited._known.values()) <= kept


def test_a_turn_is_read_once_while_it_is_kept_and_equal_texts_once_together() -> None:
    encoder = WordTokenEncoder()
    source = FreshCodes(["kite", "lamp", "kite"], encoder, "int8")
    first, again = by_turn(source, [0, 1, 2]), by_turn(source, [0, 2])
    assert again == {turn: first[turn] for turn in (0, 2)}
    assert encoder.read == ["kite", "lamp"]


def test_equal_texts_get_equal_codes_and_one_with_a_vector_that_is_not_finite_none() -> None:
    found, broken = encode_turns(["kite moss", "nan fern", "", "kite moss"], WordTokenEncoder(), "int8")
    assert broken.tolist() == [False, True, False, False]
    assert np.diff(found.offsets).tolist() == [2, 0, 0, 2]
    assert found.codes.values[:2].tobytes() == found.codes.values[2:].tobytes()


def test_a_turn_that_the_history_does_not_have_is_passed_over() -> None:
    made = pa.concat_tables([table for table, _ in turn_tokens(turns_of(["kite"] * 7), WordTokenEncoder(), "int8")])
    known = np.array([0, 1 << 20]), np.array([0, 1])
    source = StoredCodes(InParts(made, 2), "h", *known, 16)
    assert sorted(by_turn(source, [0, 1])) == [0, 1]
    assert by_turn(StoredCodes(InParts(TURN_TOKENS.empty_table(), 2), "h", *known, 16), [0, 1]) == {}


@settings(max_examples=60)
@given(st.lists(st.integers(0, 30), max_size=20), st.integers(1, 5), st.integers(1, 40))
def test_blocks_hold_every_text_in_order_and_no_more_than_their_measure_unless_one_text_does(
    lengths: list[int], texts: int, characters: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_TEXTS", texts)
        patch.setattr(module, "BLOCK_CHARACTERS", characters)
        blocks = list(text_blocks(lengths))
    assert [k for start, stop in blocks for k in range(start, stop)] == list(range(len(lengths)))
    for start, stop in blocks:
        assert 1 <= stop - start <= texts
        assert stop - start == 1 or sum(lengths[start:stop]) <= characters
