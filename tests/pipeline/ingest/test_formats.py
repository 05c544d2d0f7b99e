"""Every format streams arrivals of bounded size, and the arrivals have the staged schemas."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from pipeline.ingest import formats
from pipeline.ingest.arrival import CITATIONS, STAGED_REQUESTS, STAGED_TURNS, Arrival
from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import FORMATS, arrivals
from pipeline.ingest.source import Document
from pipeline.schemas import QUARANTINE

SCHEMAS = {"turns": STAGED_TURNS, "requests": STAGED_REQUESTS, "citations": CITATIONS, "quarantine": QUARANTINE}


def lines(count: int, characters: int) -> bytes:
    turns = [{"role": "user", "text": "x" * characters}]
    return b"\n".join(
        json.dumps({"history_id": f"h{number}", "sessions": [{"turns": turns}]}).encode() for number in range(count)
    )


@pytest.mark.flash
def test_arrivals_are_closed_when_they_are_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "ARRIVAL_CHARACTERS", 1_000)
    arrived = list(arrivals("native", [Document.of(io.BytesIO(lines(7, 100)), "source.json")], {}))
    assert [arrival.turns.num_rows for arrival in arrived] == [3, 3, 1]
    assert [arrival.counts["items"] for arrival in arrived] == [3, 3, 1]
    assert [name for arrival in arrived for name in arrival.turns["history_id"].to_pylist()] == [
        f"h{n}" for n in range(7)
    ]


@pytest.mark.flash
def test_rows_with_hardly_a_text_fill_an_arrival_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "ARRIVAL_CHARACTERS", 1_000)
    cited = [{"session": "s", "turn": "t"}]
    filling = {
        "turns": {"sessions": [{"turns": [{"role": "user", "text": "x"}]}]},
        "requests": {"requests": [{"request_id": "r", "text": "?"}]},
        "citations": {"requests": [{"request_id": "r", "text": "?", "evidence": cited * 9}]},
        "quarantine": {"sessions": [{"turns": 5}]},
    }
    for table, told in filling.items():
        payload = b"\n".join(json.dumps({"history_id": f"h{number}", **told}).encode() for number in range(100))
        arrived = list(arrivals("native", [Document.of(io.BytesIO(payload), "source.json")], {}))
        assert max(getattr(arrival, table).num_rows for arrival in arrived) < 10, table


@pytest.mark.flash
def test_a_source_is_not_read_ahead_of_its_arrivals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "ARRIVAL_CHARACTERS", 1)
    stream = io.BytesIO(lines(1_000, 1_000))
    document = Document.of(stream, "source.json")
    next(arrivals("native", [document], {}))
    assert stream.tell() < 20_000


@pytest.mark.flash
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_arrivals_have_the_staged_schemas_with_and_without_rows(name: str, deliver: Any) -> None:
    values: dict[str, Any] = {
        "mini-swe-agent": [{"role": "assistant", "content": "x"}],
        "openhands": [{"action": "message", "source": "agent", "args": {"content": "x"}}],
        "swe-agent": {"trajectory": [{"action": "x"}]},
        "evermemos": {"conversation_list": [{"content": "x"}]},
        "memsim": [{"tid": 0, "message_list": [{"message": "x"}], "question_list": [{"question": "?"}]}],
        "realtalk": {"session_1": [{"clean_text": "x"}], "qa": [{"question": "?"}]},
        "chatgpt": [
            {"mapping": {"n": {"message": {"author": {"role": "user"}, "content": {"parts": ["x"]}}, "parent": None}}}
        ],
        "letta": {"agents": [{"id": "agent-0", "messages": [{"role": "user", "content": "x"}]}]},
        "openai-chat": [{"messages": [{"role": "user", "content": "x"}]}],
        "sharegpt": [{"conversations": [{"from": "human", "value": "x"}]}],
        "longmemeval": [
            {"question_id": "q", "question": "?", "haystack_sessions": [[{"role": "user", "content": "x"}]]}
        ],
        "locomo": [{"conversation": {"session_1": [{"text": "x"}]}, "qa": [{"question": "?"}]}],
        "native": [
            {
                "history_id": "h",
                "sessions": [{"turns": [{"role": "user", "text": "x"}]}],
                "requests": [{"request_id": "r", "text": "?"}],
            }
        ],
    }
    empty: dict[str, Any] = {"evermemos": {"conversation_list": []}, "realtalk": {"session_1": []}}
    without = deliver(name, empty.get(name, []))[0]
    for arrival, rows in [(deliver(name, values[name])[0], 1), (without, 0), (Arrival.empty(), 0)]:
        for table, schema in SCHEMAS.items():
            assert getattr(arrival, table).schema.equals(schema)
        assert (arrival.turns.num_rows, arrival.requests.num_rows) == (rows, rows)


@pytest.mark.flash
@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("payload", [b"\x89PNG\r\n\x1a\n" * 50, b"<html></html>", b'{"a": 1}', b"[1, 2, 3]"])
def test_bytes_of_no_format_are_refused_by_all(name: str, payload: bytes) -> None:
    with pytest.raises(IngestError):
        list(arrivals(name, [Document.of(io.BytesIO(payload), "source.json")], {}))


@pytest.mark.flash
def test_an_item_that_is_asked_for_and_not_there_is_an_error() -> None:
    with pytest.raises(IngestError, match="of 2 items, lacks: h9"):
        list(arrivals("native", [Document.of(io.BytesIO(lines(2, 1)), "source.json")], {"items": "h1,h9"}))


@pytest.mark.flash
@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("payload", [b"[{", b"{", b"\x00", b"[5]", b"5", b"PAR1"])
def test_a_file_that_cannot_be_read_is_named_once(name: str, payload: bytes) -> None:
    with pytest.raises(IngestError) as raised:
        list(arrivals(name, [Document.of(io.BytesIO(payload), "nights/7.json")], {}))
    assert str(raised.value).count("nights/7.json") == 1
    assert "\n" not in str(raised.value)
    with pytest.raises(IngestError) as raised:
        list(arrivals(name, [Document.of(io.BytesIO(payload), "a")], {}))
    assert str(raised.value).startswith(("a: ", "nothing in a is "))
