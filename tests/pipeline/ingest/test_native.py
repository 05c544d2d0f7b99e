"""The native format: its schema, its two carriers, and how narrowly an error costs."""

from __future__ import annotations

import contextlib
import io
import json
from datetime import UTC, date, datetime, timedelta, timezone
from importlib import resources
from typing import Any

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import arrivals
from pipeline.ingest.source import Document


def a_line(**changed: Any) -> dict[str, Any]:
    line = {
        "history_id": "ada",
        "sessions": [
            {
                "session_id": "mon",
                "time": "2026-11-30T09:00:00+01:00",
                "turns": [{"role": "user", "text": "I moved to Rome.", "turn_id": "m1", "speaker": "Ada"}],
            },
            {"turns": [{"role": "assistant", "text": "Noted."}, {"role": "user", "text": "Thanks."}]},
        ],
        "requests": [
            {
                "request_id": "r",
                "text": "Where?",
                "asked_at": "2026-12-01",
                "evidence": [{"session": "mon", "turn": "m1"}, {"session": 1, "turn": 0}],
            }
        ],
    }
    return {**line, **changed}


def a_request(**more: Any) -> dict[str, Any]:
    return {"request_id": "r", "text": "Next?", **more}


def read(payload: bytes) -> Any:
    (arrival,) = arrivals("native", [Document.of(io.BytesIO(payload), "source.json")], {})
    return arrival


def parquet(rows: list[dict[str, Any]], schema: pa.Schema | None = None) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), sink)
    return sink.getvalue()


@pytest.mark.flash
def test_the_schema_is_valid_and_accepts_the_documented_example() -> None:
    schema = json.loads((resources.files("pipeline.ingest") / "native.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(a_line(), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(a_line(request=[]), schema)


@pytest.mark.flash
def test_a_line_becomes_a_history(deliver: Any, settle_first: Any) -> None:
    settled = settle_first(deliver("native", [a_line()]))
    turns = settled.turns.to_pylist()
    assert [(row["role"], row["speaker"], row["text"]) for row in turns] == [
        ("user", "Ada", "I moved to Rome."),
        ("assistant", None, "Noted."),
        ("user", None, "Thanks."),
    ]
    assert [row["session_time"] for row in turns] == [datetime(2026, 11, 30, 8, tzinfo=UTC), None, None]
    assert settled.sources["source_turn"].to_pylist() == ["m1", None, None]
    assert [(row["session_index"], row["turn_index"]) for row in settled.labels.to_pylist()] == [(0, 0), (1, 0)]
    assert settled.requests["mode"].to_pylist() == ["reader"]


@pytest.mark.flash
def test_an_agent_request_sees_up_to_a_named_turn(deliver: Any, settle_first: Any) -> None:
    requests = [
        a_request(mode="agent", seen={"session": 1, "turn": 1}),
        a_request(request_id="s", mode="agent", seen={"session": "mon", "turn": "m1"}),
        a_request(request_id="t", mode="agent", seen={"session": "mon", "turn": "m2"}),
        a_request(request_id="u", mode="agent", seen={"session": 7, "turn": 0}),
    ]
    settled = settle_first(deliver("native", [a_line(requests=requests)]))
    assert [(row["request_id"], row["seen_session"], row["seen_turn"]) for row in settled.requests.to_pylist()] == [
        ("r", 1, 1),
        ("s", 0, 0),
    ]
    assert {(row["request_id"], row["weight"]) for row in settled.quarantine.to_pylist()} == {("t", 1), ("u", 1)}


@pytest.mark.flash
@pytest.mark.parametrize(
    ("line", "place", "reason"),
    [
        ({"sessions": []}, "line 2", "'history_id' is a required property"),
        (a_line(history_id=5), "line 2", 'history_id: it is not what the schema asks: type "string"'),
        (a_line(histroy="x"), "line 2", "'histroy' was unexpected"),
        (a_line(sessions="x"), "line 2", "sessions: it is not what the schema asks: type"),
        (a_line(sessions=[{"time": None}]), "line 2, session 0", "'turns' is a required property"),
        (a_line(sessions=[{"time": "soon", "turns": []}]), "line 2, session 0", "time 'soon' is not ISO 8601"),
        (a_line(sessions=[{"turns": [{"text": "x"}]}]), "line 2, session 0, turn 0", "'role' is a required property"),
        (
            a_line(sessions=[{"turns": [{"role": " ", "text": "x"}]}]),
            "line 2, session 0, turn 0",
            "role: it is not what the schema asks: pattern",
        ),
        (a_line(requests=[a_request(asked="2026")]), "line 2, request 0", "'asked' was unexpected"),
        (a_line(requests=[a_request(askedat="2026")]), "line 2, request 0", "did you mean asked_at?"),
        (a_line(requests=[a_request(asked_at="soon")]), "line 2, request 0", "asked_at: time 'soon'"),
        (a_line(requests=[a_request(mode="robot")]), "line 2, request 0", "mode: it is not what the schema asks: enum"),
        (a_line(requests=["x"]), "line 2, request 0", 'type "object"'),
        (a_line(requests=[a_request(seen={"session": 0})]), "line 2, request 0", "seen: "),
    ],
)
def test_an_error_costs_the_least_that_holds_it_and_says_where_it_stands(
    deliver: Any, line: dict[str, Any], place: str, reason: str
) -> None:
    (arrival,) = deliver("native", [a_line(history_id="other"), line])
    refused = [row for row in arrival.quarantine.to_pylist() if row["weight"]]
    assert [row["place"] for row in refused] == [place]
    assert reason in refused[0]["reason"]
    kept = arrival.turns.filter(pa.compute.equal(arrival.turns["history_id"], "ada")).num_rows
    assert kept == (3 if "request" in place else 0)


@pytest.mark.flash
@pytest.mark.parametrize("name", ["x" * 5_000, 10**1_000])
def test_a_name_without_end_is_quoted_in_part(deliver: Any, settle_first: Any, name: Any) -> None:
    cited = {"session": name, "turn": name}
    settled = settle_first(deliver("native", [a_line(requests=[a_request(evidence=[cited])])]))
    assert all(len(row["place"]) < 200 and len(row["reason"]) < 200 for row in settled.quarantine.to_pylist())
    assert settled.quarantine["code"].to_pylist() == ["citation"]


@pytest.mark.flash
def test_a_line_that_is_not_json_is_quarantined_and_blank_lines_are_skipped() -> None:
    good = json.dumps(a_line()).encode()
    arrival = read(b"\xef\xbb\xbf" + good + b'\n\n{"history_id": \n' + good.replace(b"ada", b"bo\xff"))
    assert [(row["place"], row["weight"]) for row in arrival.quarantine.to_pylist()] == [("line 3", 1)]
    assert set(arrival.turns["history_id"].to_pylist()) == {"ada", "bo\\udcff"}
    assert arrival.counts["items"] == 2


@pytest.mark.flash
def test_one_history_may_be_spread_over_lines() -> None:
    arrival = read(json.dumps(a_line(), indent=2).encode())
    assert arrival.turns.equals(read(json.dumps(a_line()).encode()).turns)
    assert (arrival.turns.num_rows, arrival.quarantine.num_rows) == (3, 0)


@pytest.mark.flash
def test_a_file_without_a_usable_line_is_refused_and_an_empty_one_holds_nothing() -> None:
    with pytest.raises(IngestError, match=r"nothing in source\.json is native: line 1: the line is not JSON"):
        read(b"history_id,text\n1,hello\n")
    assert read(b"").turns.num_rows == 0


@pytest.mark.flash
def test_parquet_gives_what_jsonl_gives() -> None:
    line = a_line()
    line["requests"][0]["evidence"] = [{"session": "mon", "turn": "m1"}]
    from_lines, from_rows = read(json.dumps(line).encode()), read(parquet([line]))
    for table in ("turns", "requests", "citations"):
        columns = [name for name in getattr(from_rows, table).column_names if name != "place"]
        assert getattr(from_rows, table).select(columns).equals(getattr(from_lines, table).select(columns)), table


@pytest.mark.flash
def test_parquet_times_may_be_timestamps_and_dates() -> None:
    plus_two = datetime(2026, 11, 30, 9, tzinfo=timezone(timedelta(hours=2)))
    row = {
        "history_id": "ada",
        "sessions": [{"time": plus_two, "turns": [{"role": "user", "text": "x"}]}],
        "requests": [{"request_id": "r", "text": "?", "asked_at": date(2026, 12, 1)}],
    }
    session = pa.struct(
        [
            ("time", pa.timestamp("ns", tz="UTC")),
            ("turns", pa.list_(pa.struct([("role", pa.string()), ("text", pa.large_string())]))),
        ]
    )
    request = pa.struct([("request_id", pa.string()), ("text", pa.string()), ("asked_at", pa.date32())])
    schema = pa.schema([("history_id", pa.string()), ("sessions", pa.list_(session)), ("requests", pa.list_(request))])
    arrival = read(parquet([row], schema))
    assert arrival.turns["session_time"].to_pylist() == [datetime(2026, 11, 30, 7, tzinfo=UTC)]
    assert arrival.requests["asked_at"].to_pylist() == [datetime(2026, 12, 1, tzinfo=UTC)]


@pytest.mark.flash
def test_broken_parquet_is_refused() -> None:
    payload = parquet([a_line(requests=None)])
    with pytest.raises(IngestError, match="Parquet file cannot be read"):
        read(payload[: len(payload) // 2])


@pytest.mark.flash
def test_parquet_rows_are_refused_by_row_and_nulls_are_checked_like_keys() -> None:
    rows: list[dict[str, Any]] = [
        {"history_id": None, "sessions": []},
        {
            "history_id": "a",
            "sessions": [{"turns": [{"role": None, "text": "x"}, {"role": "user", "text": "y"}]}, None],
        },
    ]
    arrival = read(parquet(rows))
    assert arrival.turns["text"].to_pylist() == ["y"]
    assert [row["place"] for row in arrival.quarantine.to_pylist()] == [
        "row 0",
        "row 1, session 0, turn 0",
        "row 1, session 1",
    ]


@pytest.mark.flash
def test_a_parquet_column_that_the_schema_does_not_know_is_named() -> None:
    with pytest.raises(IngestError, match="'mood' was unexpected"):
        read(parquet([{"history_id": "a", "mood": "good"}]))


@pytest.mark.flash
def test_a_parquet_time_that_no_calendar_of_python_holds_costs_its_row() -> None:
    for kind, value in ((pa.timestamp("ms"), 10**15), (pa.timestamp("s"), -(10**12)), (pa.date32(), 10**7)):
        session = pa.struct(
            [("time", kind), ("turns", pa.list_(pa.struct([("role", pa.string()), ("text", pa.string())])))]
        )
        sessions = [[{"time": at, "turns": [{"role": "user", "text": "x"}]}] for at in (value, 0)]
        columns = {"history_id": ["far", "ok"], "sessions": pa.array(sessions, pa.list_(session))}
        sink = io.BytesIO()
        pq.write_table(pa.table(columns), sink)
        arrival = read(sink.getvalue())
        assert arrival.turns["history_id"].to_pylist() == ["ok"]
        assert [(row["code"], row["place"]) for row in arrival.quarantine.to_pylist()] == [("wrong_shape", "row 0")]


@pytest.mark.flash
def test_a_parquet_file_with_a_column_twice_is_refused() -> None:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["history_id", "history_id"]), sink)
    with pytest.raises(IngestError, match="the column 'history_id' more than once"):
        read(sink.getvalue())


def test_whatever_byte_of_a_parquet_file_is_damaged_it_is_read_or_refused() -> None:
    payload = parquet([a_line(history_id=name, requests=None) for name in "abc"])
    outcomes: dict[bool, int] = {True: 0, False: 0}
    for at in range(4, len(payload), 11):
        damaged = payload[:at] + bytes([payload[at] ^ 0xFF]) + payload[at + 1 :]
        refused = True
        with contextlib.suppress(IngestError):
            read(damaged)
            refused = False
        outcomes[refused] += 1
    assert min(outcomes.values()) > 0
