from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from word_tokens import FoldedTokenEncoder, WordTokenEncoder

from pipeline import tokens as module
from pipeline.recall.late.codes import encode
from pipeline.schemas import QUARANTINE, REQUESTS, TURN_TOKENS, TURNS
from pipeline.schemas import request_tokens as request_tokens_schema
from pipeline.tokens import request_tokens, turn_tokens

pytestmark = pytest.mark.flash


def turns(*texts: str, speaker: str | None = None, history: str = "h") -> pa.Table:
    rows: list[dict[str, Any]] = [
        {"history_id": history, "session_index": 0, "turn_index": k, "role": "user", "text": text, "n_tokens": 1}
        for k, text in enumerate(texts)
    ]
    return pa.Table.from_pylist([{**row, "speaker": speaker} for row in rows[::-1]], schema=TURNS)


def requests(*texts: str, history: str = "h") -> pa.Table:
    rows = [
        {"request_id": f"r{k}", "history_id": history, "mode": "reader", "text": text, "adversarial": False}
        for k, text in enumerate(texts)
    ]
    return pa.Table.from_pylist(rows[::-1], schema=REQUESTS)


def of_turns(table: pa.Table, encoder: Any) -> tuple[pa.Table, pa.Table]:
    """All parts as one."""
    parts = list(turn_tokens(table, encoder, "int8"))
    return tuple(pa.concat_tables(tables) for tables in zip(*parts, strict=True))


def test_a_turn_has_the_codes_of_its_indexed_text_in_key_order() -> None:
    table, quarantine = of_turns(turns("kite moss", "", "fern", speaker="Ada"), WordTokenEncoder())
    assert table.schema.equals(TURN_TOKENS)
    assert table["turn_index"].to_pylist() == [0, 1, 2]
    expected = encode(WordTokenEncoder().encode(["Ada: kite moss"], "document").vectors)
    first = table.to_pylist()[0]
    assert first["codes"] == expected.values.tobytes()
    assert first["scales"] == expected.scales.tolist()
    assert [len(row["scales"]) for row in table.to_pylist()] == [4, 2, 3]
    assert (quarantine.num_rows, quarantine.schema) == (0, QUARANTINE)


def test_a_turn_with_a_vector_that_is_not_finite_is_in_quarantine_whole() -> None:
    table, quarantine = of_turns(turns("kite", "lamp nan", "moss"), WordTokenEncoder())
    assert table["turn_index"].to_pylist() == [0, 2]
    assert [(row["turn_index"], row["reason"]) for row in quarantine.to_pylist()] == [
        (1, "token encoder words: vector is not finite")
    ]


def test_each_history_is_read_by_its_own_encoder() -> None:
    encoder = FoldedTokenEncoder()
    both = pa.concat_tables([turns("kite", "lamp", history="b"), turns("kite", history="a")])
    table, _ = of_turns(both, encoder)
    assert {name: of.read for name, of in encoder.of.items()} == {"a": ["kite"], "b": ["kite", "lamp"]}
    assert table["history_id"].to_pylist() == ["a", "b", "b"]
    assert table["codes"][0] != table["codes"][1]
    asked, _ = request_tokens(pa.concat_tables([requests("kite", history="b"), requests("kite", history="a")]), encoder)
    assert asked["vector"][0] != asked["vector"][1]
    assert encoder.read == []


def test_a_request_has_a_row_a_token_with_the_terms_of_its_word() -> None:
    table, quarantine = request_tokens(requests("Where are the kites?", "", "moss"), WordTokenEncoder())
    assert table.schema.equals(request_tokens_schema(16))
    assert [(row["request_id"], row["position"], row["terms"]) for row in table.to_pylist()] == [
        ("r0", 0, []),
        ("r0", 1, []),
        ("r0", 2, []),
        ("r0", 3, ["kite"]),
        ("r0", 4, []),
        ("r2", 0, ["moss"]),
    ]
    expected = WordTokenEncoder().vector("moss").astype(np.float16)
    assert np.array_equal(np.array(table["vector"][5].as_py(), np.float16), expected)
    assert quarantine.num_rows == 0


def test_of_a_long_request_the_first_tokens_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REQUEST_TOKENS", 3)
    table, _ = request_tokens(requests("kite lamp moss fern", "fern"), WordTokenEncoder())
    assert table["request_id"].to_pylist() == ["r0", "r0", "r0", "r1"]
    assert table["position"].to_pylist() == [0, 1, 2, 0]


def test_a_request_with_a_vector_that_is_not_finite_is_in_quarantine_whole() -> None:
    table, quarantine = request_tokens(requests("kite nan", "moss"), WordTokenEncoder())
    assert table["request_id"].to_pylist() == ["r1"]
    assert [(row["request_id"], row["history_id"]) for row in quarantine.to_pylist()] == [("r0", "h")]


def test_nothing_to_read_makes_nothing() -> None:
    assert list(turn_tokens(turns(), WordTokenEncoder(), "int8")) == []
    table, quarantine = request_tokens(requests(), WordTokenEncoder())
    assert (table.num_rows, quarantine.num_rows) == (0, 0)
    assert table.schema.equals(request_tokens_schema(16))


def test_the_words_of_a_request_are_analyzed_in_its_language_and_paired_characters_are_no_terms_alone() -> None:
    german = "Wann hat die Brücke gebrannt und wer hat sie gesehen?"
    found = request_tokens(requests(german, "昨日の会議"), WordTokenEncoder())[0].to_pylist()
    terms = [row["terms"] for row in found if row["request_id"] == "r0"]
    assert terms[1:3] == [[], []]
    assert all(len(term) > 1 for row in found if row["request_id"] == "r1" for term in row["terms"])
