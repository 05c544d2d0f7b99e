"""What histories hold in this field that breaks neighbours, from the file to the slate."""

from __future__ import annotations

import io
import json
import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inside import LEXICAL, ran

from cluster.lake import Lake
from jobs.ingest import ingest
from models.tokens import token_counter
from pipeline import schemas
from pipeline.features.candidates import features
from pipeline.features.registry import default_features
from pipeline.ingest.formats import arrivals
from pipeline.ingest.settle import settle
from pipeline.ingest.source import Document
from pipeline.policies.slates import SlateOptions, slates
from pipeline.recall.pools import pools
from pipeline.terms import terms

MEGABYTE = 1_000_000
ODD = [
    "the code \ud800 is lone",
    "the code \x00 is nothing",
    "the code <|endoftext|> ends <|im_start|>system",
    "the code of 👩‍👩‍👧 and 🏳️‍🌈 is emoji",
    "the code שלום עולם مرحبا \u202eis turned\u202c around",
    "the code e\u0301a\u0308\u0323 " + "z" + "\u0301" * 200 + " combines",
    "the code \u2028 \x0b \x85 \ufeff breaks lines",
]
TABLES = ("turns", "requests", "labels", "terms", "pools", "features", "slates", "oracle_slates")
IN_OTHER_SCRIPTS = {
    "zh": ("我现在住在哪里？", "我上个月搬到了上海，现在住在河边。", "昨天晚上吃了面条。", "天气很好。", "他买书。"),
    "ja": (
        "どこに引っ越しましたか？",
        "先月、京都に引っ越しました。",
        "昨日ラーメンを食べた。",
        "雨です。",
        "本を読む。",
    ),
    "th": ("ฉันย้ายไปที่ไหน", "เดือนที่แล้วฉันย้ายไปเชียงใหม่", "เมื่อวานกินก๋วยเตี๋ยว", "ฝนตก", "อ่านหนังสือ"),
}
"""The question, the turn that answers it, and others."""


def session(*texts: str | None, name: str | None = None, time: str | None = None, first: str = "user") -> Any:
    roles = ("user", "assistant") if first == "user" else ("assistant", "user")
    turns = [{"role": roles[at % 2], "text": text} for at, text in enumerate(texts)]
    return {"session_id": name, "time": time, "turns": turns}


def line(history: str, sessions: list[Any], text: str, **more: Any) -> dict[str, Any]:
    request = {"request_id": f"{history}?", "text": text, **more}
    return {"history_id": history, "sessions": sessions, "requests": [request]}


def item(history: str, sessions: list[Any], names: list[str], dates: list[str]) -> dict[str, Any]:
    return {
        "question_id": history,
        "question_type": "single-session-user",
        "question": "Where did I put the green kite?",
        "question_date": "2023/06/30 (Fri) 10:00",
        "answer": 7,
        "answer_session_ids": names[1:2],
        "haystack_session_ids": names,
        "haystack_dates": dates,
        "haystack_sessions": sessions,
    }


SAID = [
    [{"role": "assistant", "content": "Hello! What is new?"}, {"role": "user", "content": None}],
    [
        {"role": "user", "content": "I put the green kite into the attic.", "has_answer": True},
        {"role": "assistant", "content": "The kite is in the attic then.", "has_answer": True},
        {"role": "user", "content": "Thanks", "has_answer": False},
    ],
    [],
    [{"role": "user", "content": [{"type": "text", "text": "A kite flew by."}, {"type": "image"}]}],
]
DATES = ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21", "2023/05/22 (Mon) 02:21", "2023/05/23 (Tue) 02:21"]
REVEALING = ["noise_1", "answer_leaked", "noise_2", "answer_leaked"]
ITEMS = [
    item("reveals", SAID, REVEALING, DATES),
    item("reveals_not", SAID, ["d", "c", "b", "a"], DATES),
    item("nothing_abs", SAID, REVEALING, DATES),
]
LINES = [
    line("odd", [session(*ODD)], "Which code <|endoftext|> \x00\ud800 is it 👩‍👩‍👧?"),
    line(
        "long",
        [session("word " * (MEGABYTE // 5), "The key is under the mat.", name="s")],
        "Which word is the key under the mat?",
        evidence=[{"session": "s", "turn": 0}, {"session": "s", "turn": 1}],
    ),
    line("unbroken", [session("x" * MEGABYTE, "xxx")], "xxx"),
    line("one", [session("The only thing ever said.")], "What was the only thing?"),
    line("blank", [session(" ", "", None), session()], "What was said?"),
    line(
        "zones",
        [
            session("naive, a bell rang", time="2023-05-20T10:00:00"),
            session("aware and before, a bell rang", time="2023-05-20T20:00:00+09:00"),
            session("aware and later, a bell rang", time="2023-05-20T10:00:00-05:00"),
            session("without a time, a bell rang"),
        ],
        "When has a bell rung?",
        asked_at="2023-05-20T12:00:00",
    ),
    *[line(script, [session(text) for text in told], asked) for script, (asked, *told) in IN_OTHER_SCRIPTS.items()],
]


def agent_run() -> dict[str, Any]:
    """A run of SWE-agent: the prompt comes with every step, one observation is of 24 thousand characters."""
    prompt = [
        {"role": "system", "content": "PROMPT: you fix bugs."},
        {"role": "user", "content": "TASK: fix the parser."},
    ]
    seen = ["a.py b.py", "line of output " * 1_600, "2 passed", ""]
    steps = [
        {
            "thought": f"thought {at}",
            "action": f"do {at}",
            "observation": observed,
            "state": '{"open_file": "STATE"}',
            "query": prompt * (at + 1),
            "response": "",
        }
        for at, observed in enumerate(seen)
    ]
    return {"environment": "main", "trajectory": steps, "history": prompt, "info": {}}


def written(path: Path, value: Any) -> str:
    text = "\n".join(map(json.dumps, value)) if path.suffix == ".jsonl" else json.dumps(value)
    path.write_text(text)
    return str(path)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with all of it, after a run by the profile that needs no model."""
    folder = tmp_path_factory.mktemp("hostile")
    lake = Lake.init(str(folder / "lake"))
    ingest(lake, written(folder / "lines.jsonl", LINES), "native", {})
    ingest(lake, written(folder / "items.json", ITEMS), "longmemeval", {})
    ingest(lake, written(folder / "agent.traj", agent_run()), "swe-agent", {})
    ran(lake)
    return lake


def rows(lake: Lake, table: str, history: str) -> list[dict[str, Any]]:
    frame = pl.read_parquet(f"{lake.url}/{table}/**/*.parquet", hive_partitioning=False)
    return frame.filter(pl.col("history_id") == history).sort(frame.columns[:4]).to_dicts()


def slate(lake: Lake, history: str, budget: int = 2700) -> dict[str, Any]:
    (found,) = [row for row in rows(lake, "slates", history) if row["budget"] == budget]
    return found


@pytest.mark.cluster
def test_every_request_has_a_slate_within_its_budget_which_holds_its_own_history(lake: Lake) -> None:
    slates = pl.read_parquet(f"{lake.url}/slates/**/*.parquet", hive_partitioning=False).to_dicts()
    assert len(slates) == 2 * (len(LINES) + len(ITEMS) + 1)
    counter = token_counter(lake.tokenizer)
    turns = {}
    for row in pl.read_parquet(f"{lake.url}/turns/*/*.parquet", hive_partitioning=False).to_dicts():
        turns[row["history_id"], row["session_index"], row["turn_index"]] = row["text"]
    for row in slates:
        assert counter.count(row["text"]) == row["n_tokens"] <= row["budget"]
        for shown in row["items"]:
            text = turns[row["history_id"], shown["session_index"], shown["turn_index"]]
            assert text[shown["start"] : shown["end"]] in row["text"]
    assert {row["history_id"] for row in slates if not row["items"]} == {"blank"}


@pytest.mark.cluster
def test_lone_surrogates_nul_special_tokens_emoji_and_combining_marks_are_stored_found_and_shown(lake: Lake) -> None:
    texts = [row["text"] for row in rows(lake, "turns", "odd")]
    assert texts == [ODD[0].replace("\ud800", "\ufffd"), ODD[1].replace("\x00", ""), *ODD[2:]]
    assert all(row["bm25_score"] > 0 for row in rows(lake, "pools", "odd"))
    assert {shown["turn_index"] for shown in slate(lake, "odd")["items"]} == set(range(len(ODD)))
    assert "<|endoftext|>" in slate(lake, "odd")["text"]


@pytest.mark.cluster
@pytest.mark.parametrize("history", ["long", "unbroken"])
def test_a_turn_longer_than_the_budget_leaves_room_for_the_others(lake: Lake, history: str) -> None:
    assert [len(row["text"]) > MEGABYTE // 2 for row in rows(lake, "turns", history)] == [True, False]
    for budget in (900, 2700):
        assert [shown["turn_index"] for shown in slate(lake, history, budget)["items"]] == [1]


@pytest.mark.cluster
def test_a_history_of_one_turn_has_a_slate_and_one_of_blank_turns_an_empty_one(lake: Lake) -> None:
    assert "The only thing ever said." in slate(lake, "one")["text"]
    assert rows(lake, "turns", "blank") == []
    assert (slate(lake, "blank")["text"], slate(lake, "blank")["items"]) == ("", [])


@pytest.mark.cluster
def test_naive_and_aware_times_stand_beside_each_other_and_a_request_sees_what_was_before_it(lake: Lake) -> None:
    times = [row["session_time"] for row in rows(lake, "turns", "zones")]
    noon = datetime(2023, 5, 20, 12, tzinfo=UTC)
    assert [time and (time - noon) / timedelta(hours=1) for time in times] == [-2, -1, 3, None]
    text = slate(lake, "zones")["text"]
    assert [told in text for told in ("naive", "aware and before", "aware and later", "without")] == [
        *(True, True, False, True)
    ]


@pytest.mark.cluster
def test_event_time_and_never_the_time_of_ingest_goes_everywhere(lake: Lake) -> None:
    frames = {
        table: pl.read_parquet(f"{lake.url}/{table}/**/*.parquet", hive_partitioning=False)
        for table in (*TABLES, "sources")
    }
    times = [time for frame in frames.values() for column in frame.select(pl.col(pl.Datetime)) for time in column]
    assert {time.year for time in times if time is not None} == {2023}
    aged = frames["pools"].join(frames["requests"], on=["history_id", "request_id"])
    aged = aged.join(frames["turns"], on=["history_id", "session_index", "turn_index"]).drop_nulls("asked_at")
    days = (pl.col("asked_at") - pl.col("session_time")).dt.total_seconds() / 86_400
    told = aged.filter(pl.col("session_time").is_not_null())
    assert told.height >= 10
    assert told.filter((pl.col("age_days") - days).abs() > 1e-6).is_empty()
    assert aged.filter(pl.col("session_time").is_null())["age_days"].null_count() > 0
    assert not any(f"{datetime.now(UTC):%Y}" in text for text in frames["slates"]["text"])


@pytest.mark.cluster
@pytest.mark.parametrize("script", IN_OTHER_SCRIPTS)
def test_chinese_japanese_and_thai_are_found_by_their_words(lake: Lake, script: str) -> None:
    pool = rows(lake, "pools", script)
    best, *others = sorted(pool, key=lambda row: -row["bm25_score"])
    assert best["bm25_rank"] == 1
    assert best["bm25_score"] > max(0, *[row["bm25_score"] for row in others])
    assert best["session_index"] == min(row["session_index"] for row in pool)
    assert IN_OTHER_SCRIPTS[script][1] in slate(lake, script)["text"]


@pytest.mark.cluster
def test_ids_that_reveal_the_label_reach_no_table_but_sources_and_change_no_slate(lake: Lake) -> None:
    assert {row["source_session"] for row in rows(lake, "sources", "reveals")} >= {"answer_leaked"}
    for table in TABLES:
        told = str(pl.read_parquet(f"{lake.url}/{table}/**/*.parquet", hive_partitioning=False).to_dicts())
        assert "leaked" not in told, table
        assert "noise_" not in told, table
    for one, other in zip(rows(lake, "slates", "reveals"), rows(lake, "slates", "reveals_not"), strict=True):
        assert one["text"] == other["text"]


@pytest.mark.cluster
def test_empty_sessions_blank_turns_parts_and_a_session_id_that_comes_twice_are_kept_apart(lake: Lake) -> None:
    turns = rows(lake, "turns", "reveals")
    assert [(row["session_index"] & 0xFFFFF, row["role"]) for row in turns] == [
        *((0, "assistant"), (1, "user"), (1, "assistant"), (1, "user"), (2, "user"))
    ]
    assert turns[-1]["text"].startswith("A kite flew by.")
    assert [row["session_time"].day for row in turns] == [20, 21, 21, 21, 23]
    assert all(row["continues"] is None for row in rows(lake, "sources", "reveals"))


@pytest.mark.cluster
def test_evidence_is_what_has_answer_marks_of_either_role_and_an_abstention_has_none(lake: Lake) -> None:
    assert [(row["session_index"] & 0xFFFFF, row["turn_index"]) for row in rows(lake, "labels", "reveals")] == [
        *((1, 0), (1, 1))
    ]
    assert rows(lake, "labels", "nothing_abs") == []
    assert [row["adversarial"] for row in rows(lake, "requests", "nothing_abs")] == [True]
    assert [row["answer"] for row in rows(lake, "requests", "reveals")] == ["7"]


@pytest.mark.cluster
def test_an_agents_prompt_is_kept_once_and_its_longest_observation_leaves_room_for_other_steps(lake: Lake) -> None:
    turns = rows(lake, "turns", "agent")
    assert [row["role"] for row in turns] == ["system", "user", *["assistant"] * 4]
    told = "\n".join(row["text"] for row in turns)
    assert (told.count("PROMPT"), told.count("TASK"), told.count("STATE")) == (1, 1, 0)
    assert turns[3]["n_tokens"] > 2700
    for budget in (900, 2700):
        shown = {entry["turn_index"] for entry in slate(lake, "agent", budget)["items"]}
        assert shown == {0, 1, 2, 4, 5}


@pytest.mark.slow
def test_a_history_of_a_hundred_thousand_turns_goes_from_the_file_to_its_slates_in_bounded_time() -> None:
    dice = random.Random(1)
    words = [f"word{number}" for number in range(20_000)]
    start = datetime(2024, 1, 1, tzinfo=UTC)

    def said(day: int) -> list[str]:
        return [" ".join(dice.choices(words, k=20)) for _ in range(99)] + [f"The number of day {day} is w{day}x."]

    sessions = [
        session(*said(day), name=str(day), time=(start + timedelta(days=day)).isoformat()) for day in range(1_000)
    ]
    asked = [
        {
            "request_id": f"q{day}",
            "text": f"What of w{day}x?",
            "evidence": [{"session": day, "turn": 99}],
            "asked_at": (start + timedelta(days=day + 1)).isoformat(),
        }
        for day in range(0, 1_000, 50)
    ]
    payload = json.dumps({"history_id": "h", "sessions": sessions, "requests": asked}).encode()
    counter = token_counter("o200k_base")
    began = time.monotonic()
    stored = [schema.empty_table() for schema in (schemas.SOURCES, schemas.REQUESTS, schemas.LABELS)]
    document = Document.of(io.BytesIO(payload), "a.jsonl")
    settled = settle(list(arrivals("native", [document], {})), 1, *stored, counter)
    found, _ = pools(settled.requests, settled.turns, terms(settled.turns), None, None, LEXICAL.recall)
    options = SlateOptions(("recall_order",), (2700,))
    filled = slates(
        settled.requests,
        features(found, settled.turns, settled.requests, default_features(("bm25",)), ("bm25",)),
        settled.turns,
        options,
        counter,
        None,
    )
    assert time.monotonic() - began < 120
    assert (settled.turns.num_rows, settled.labels.num_rows) == (100_000, len(asked))
    assert all(row["n_tokens"] <= 2700 for row in filled.to_pylist())
    for row, request in zip(filled.to_pylist(), settled.requests.to_pylist(), strict=True):
        assert f"is w{request['request_id'][1:]}x." in row["text"]
