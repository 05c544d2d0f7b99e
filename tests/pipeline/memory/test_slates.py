"""What holds of every slate of memory, whatever the history, the request, the policy and the budgets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noted import COUNTER, request, said, stored

from pipeline.memory.options import MemoryOptions
from pipeline.memory.registry import POLICIES
from pipeline.memory.slates import memory_slates
from pipeline.policies.slates import SlateOptions
from pipeline.schemas import SLATES
from pipeline.units.cut import CutOptions

pytestmark = pytest.mark.flash

MEMORY = MemoryOptions(
    cut=CutOptions(reader_tokens=60, agent_tokens=40), piece_tokens=12, seeds=3, excerpt_tokens=24, prompt_tokens=None
)
BUDGETS = (120, 240, 480)
NAMES = tuple(POLICIES)
WORDS = [
    "tea",
    "kite",
    "Oslo",
    "rain",
    "42",
    "/srv/a.txt",
    "port",
    "train",
    "Ana",
    "lamp",
    "error:",
    "x7",
    "went",
    "plan",
]

SENTENCE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(
    lambda words: " ".join(words).capitalize() + "."
)
CHAT_TURN = st.lists(SENTENCE, min_size=1, max_size=4).map("\n".join)
STEP = st.tuples(SENTENCE, SENTENCE, st.lists(SENTENCE, min_size=0, max_size=12)).map(
    lambda parts: f"{parts[0]}\n\n$ {parts[1]}\n=>\n" + "\n".join(parts[2] or ["ok"])
)
CHAT = st.lists(st.lists(CHAT_TURN, min_size=1, max_size=6), min_size=1, max_size=8)
RUN = st.lists(STEP, min_size=1, max_size=16)
DAY = datetime(2023, 5, 8, 9, tzinfo=UTC)


def chat(sessions: list[list[str]], timed: bool = True) -> list[dict[str, Any]]:
    return [
        row
        for number, texts in enumerate(sessions)
        for row in said(number, *texts, time=DAY + timedelta(days=number) if timed else None, speaker=None)
    ]


def run(steps: list[str], session: int = 0) -> list[dict[str, Any]]:
    task = [("user", "Mend the port of the train.")] if session == 0 else []
    return said(session, *task, *[("assistant", step) for step in steps])


def slates(
    batches: list[list[dict[str, Any]]],
    asked: list[dict[str, Any]],
    budgets: tuple[int, ...] = BUDGETS,
    names: tuple[str, ...] = NAMES,
) -> list[dict[str, Any]]:
    made = stored(batches, asked, MEMORY)
    found = memory_slates(made.asked, made.noted, SlateOptions(names, budgets), MEMORY, COUNTER)
    assert found.schema.equals(SLATES)
    return found.to_pylist()


def usable(budget: int, text: str) -> int:
    return int(0.95 * budget) - min(COUNTER.count(f"{text}\n"), budget // 4)


def check(rows: list[dict[str, Any]], turns: list[dict[str, Any]], asked: str) -> None:
    texts = {(turn["session_index"], turn["turn_index"]): turn["text"] for turn in turns}
    for row in rows:
        assert row["n_tokens"] == COUNTER.count(row["text"]) <= usable(row["budget"], asked)
        shown = [item for item in row["items"] if item["resolution"] != "record"]
        for item in shown:
            part = texts[item["session_index"], item["turn_index"]][item["start"] : item["end"]]
            assert part in row["text"]
            assert part == part.rstrip()
        places = [(item["session_index"], item["turn_index"], item["start"]) for item in shown]
        assert places == sorted(places), "order in time"
        units = [(item["session_index"], item["unit_index"]) for item in row["items"] if item["resolution"] == "record"]
        assert units == sorted(units)


@given(CHAT, SENTENCE, st.booleans())
@settings(max_examples=25)
def test_slates_of_readers_fit_show_verbatim_parts_and_keep_the_order_of_time(sessions, asked, timed):
    turns = chat(sessions, timed)
    check(slates([turns], [request(asked)]), turns, asked)


@given(RUN, st.data())
@settings(max_examples=25)
def test_slates_of_agents_fit_and_their_newest_unit_is_always_in_the_window(steps, data):
    turns = run(steps)
    seen = data.draw(st.integers(1, len(steps)))
    asked = request("Mend the port.", mode="agent", seen_session=0, seen_turn=seen)
    rows = slates([turns], [asked])
    check(rows, turns, "Mend the port.")
    newest = turns[seen]["text"].splitlines()[-1]
    for row in rows:
        assert row["text"].endswith(newest[-20:])
        last = row["items"][-1]
        assert (last["turn_index"], last["resolution"], last["end"]) == (seen, "raw", len(turns[seen]["text"]))
        assert all(item["turn_index"] <= seen for item in row["items"])


@given(CHAT, SENTENCE)
@settings(max_examples=4)
def test_a_slate_does_not_depend_on_which_other_budgets_and_policies_are_asked_for(sessions, asked):
    turns = chat(sessions)
    together = slates([turns], [request(asked)])
    alone = [
        row for budget in BUDGETS for name in NAMES for row in slates([turns], [request(asked)], (budget,), (name,))
    ]
    key = lambda row: (row["policy"], row["budget"])  # noqa: E731
    assert sorted(alone, key=key) == sorted(together, key=key)


@given(CHAT, CHAT, SENTENCE)
@settings(max_examples=6)
def test_later_sessions_change_nothing_whether_they_come_with_the_same_batch_or_stand_first_in_it(now, later, asked):
    turns = chat(now)
    ask = request(asked, asked_at=DAY + timedelta(days=len(now) - 1, hours=1))
    after = [
        row
        for number, texts in enumerate(later)
        for row in said(100 + number, *texts, time=DAY + timedelta(days=50 + number))
    ]
    before = [
        row
        for number, texts in enumerate(later)
        for row in said(-100 + number, *texts, time=DAY + timedelta(days=50 + number))
    ]
    first = slates([turns], [ask])
    assert slates([turns + after], [ask]) == first
    assert slates([before + turns], [ask]) == first


@given(st.lists(CHAT_TURN, min_size=2, max_size=12), SENTENCE, st.data())
@settings(max_examples=15)
def test_what_follows_in_the_same_session_changes_nothing(texts, asked, data):
    seen = data.draw(st.integers(0, len(texts) - 1))
    ask = request(asked, seen_session=1, seen_turn=seen)
    earlier = said(0, "Tea at nine.", "Fine.")
    whole = said(1, *texts)
    assert slates([earlier + whole], [ask]) == slates([earlier + whole[: seen + 1]], [ask])


@given(RUN, RUN, st.data())
@settings(max_examples=10)
def test_what_an_agent_does_later_changes_nothing(steps, more, data):
    turns = run(steps)
    seen = data.draw(st.integers(1, len(steps)))
    ask = request("Mend the port.", mode="agent", seen_session=0, seen_turn=seen)
    first = slates([turns[: seen + 1]], [ask])
    assert slates([turns], [ask]) == first
    assert slates([turns, run(more, session=1)], [ask]) == first


@given(st.lists(CHAT, min_size=2, max_size=4))
@settings(max_examples=6)
def test_night_after_night_every_record_and_merged_record_is_written_once(nights):
    batches = [
        [{**row, "session_index": (night << 20) + row["session_index"]} for row in chat(sessions)]
        for night, sessions in enumerate(nights)
    ]
    made = stored(batches, [request("Tea?")], MEMORY)
    for table, key in (
        (made.noted.records, ["session_index", "unit_index"]),
        (made.noted.records, ["leaf"]),
        (made.noted.merged_records, ["level", "node"]),
    ):
        rows = [tuple(row.values()) for row in table.select(key).to_pylist()]
        assert len(rows) == len(set(rows))
    n = made.noted.records.num_rows
    assert n == made.noted.units.num_rows
    assert sorted(made.noted.records["leaf"].to_pylist()) == list(range(n))
    levels = made.noted.merged_records["level"]
    for level in range(1, 4):
        assert pc.sum(pc.equal(levels, level)).as_py() in (n // 4**level, None if n < 4 else n // 4**level)


@given(RUN, RUN)
@settings(max_examples=6)
def test_an_agents_last_unit_is_open_until_more_steps_arrive_or_it_has_its_size(first, second):
    alone = stored([run(first)], [request("Next?", mode="agent")], MEMORY)
    units = alone.noted.units.to_pylist()
    is_open = units[-1]["n_tokens"] < MEMORY.cut.agent_tokens
    assert alone.noted.records.num_rows == len(units) - is_open
    grown = stored([run(first), run(second, session=1)], [request("Next?", mode="agent")], MEMORY)
    written = grown.noted.records.to_pylist()
    assert written[: len(units) - is_open] == alone.noted.records.to_pylist()
    assert {(row["session_index"], row["unit_index"]) for row in written} >= {(0, unit["unit_index"]) for unit in units}


def test_a_history_that_fits_passes_through_unchanged():
    turns = chat([["Tea at nine.", "Fine."], ["And rain?", "None."]])
    (row,) = slates([turns], [request("When is tea?")], (200,), ("unit_recovery",))
    assert row["text"] == (
        "# 8 May 2023, 09:00\nuser: Tea at nine.\nassistant: Fine.\n"
        "# 9 May 2023, 09:00\nuser: And rain?\nassistant: None."
    )
    assert [item["resolution"] for item in row["items"]] == ["raw"] * 4


def test_a_request_that_sees_nothing_gets_an_empty_slate():
    turns = chat([["Tea at nine.", "Fine."]])
    rows = slates([turns], [request("When is tea?", asked_at=DAY - timedelta(days=1))])
    assert len(rows) == len(NAMES) * len(BUDGETS)
    assert {(row["text"], row["n_tokens"]) for row in rows} == {("", 0)}


def test_a_history_without_a_word_stands_beside_others():
    turns = [*said(0, "\U0001f44d", history="a"), *said(0, "Tea at nine.", history="b")]
    rows = slates([turns], [request("Tea?", "q1", history="a"), request("Tea?", "q2", history="b")], (200,))
    assert {row["text"] for row in rows} == {"# undated\nuser: \U0001f44d", "# undated\nuser: Tea at nine."}


@pytest.mark.parametrize("prompt", [0, 200, 380, 440])
def test_a_window_leaves_what_the_prompt_takes_and_is_never_lost(prompt):
    memory = MEMORY.model_copy(update={"prompt_tokens": prompt})
    turns = run([f"Look.\n\n$ cat file{n}\n=>\nline one of {n}\nline two" for n in range(20)])
    made = stored([turns], [request("Go on.", mode="agent", seen_session=0, seen_turn=20)], memory)
    for row in memory_slates(made.asked, made.noted, SlateOptions(NAMES, (500,)), memory, COUNTER).to_pylist():
        assert 0 < row["n_tokens"] <= 475 - prompt
        assert row["text"].endswith("line two")


def test_an_agents_newest_unit_is_open_whether_or_not_steps_that_are_not_seen_closed_it():
    first = [row | {"session_time": DAY} for row in run(["Look.\n\n$ ls\n=>\na.txt"] * 9)]
    more = [row | {"session_time": DAY + timedelta(days=9)} for row in run(["Go.\n\n$ cat\n=>\nb"] * 3, session=1)]
    for bound in ({"asked_at": DAY + timedelta(days=1)}, {"seen_session": 0}):
        ask = [request("Mend the port.", mode="reader", **bound), request("x", "q0", mode="agent")]
        alone, grown = (
            [row for row in slates([part], ask, (120,)) if row["request_id"] == "q"] for part in (first, first + more)
        )
        assert alone == grown


def test_what_came_of_a_command_is_labelled_with_that_command():
    long = "\n".join(f"line {n} of what was removed" for n in range(12))
    turns = run([f"$ cat a.txt\n=>\nshort\n\n$ rm b.txt\n=>\n{long}", *["$ ls\n=>\nnothing here at all"] * 30])
    asked = [request("Which line was removed?"), request("Go on.", "next", mode="agent")]
    row, _ = sorted(slates([turns], asked, (300,), ("piece_recovery",)), key=lambda row: row["request_id"] != "q")
    assert "[step 1 \u00b7 $ rm b.txt]" in row["text"]
    assert "$ cat a.txt]" not in row["text"]


def test_where_no_unit_and_no_record_has_room_the_most_relevant_is_shown_in_part():
    words = " ".join(f"w{number}" for number in range(200))
    turns = chat([[f"Tea {words}", "Fine."], [f"Kite {words}", "Fine."]])
    for row in slates([turns], [request("Tea?")], (60,), ("unit_recovery", "piece_recovery")):
        assert 0 < row["n_tokens"] <= usable(60, "Tea?")
        assert any(item["end"] > item["start"] for item in row["items"])


def test_blank_stretches_of_a_turn_are_not_shown():
    turns = chat([["Tea at nine.\n" + " \n" * 900 + "Kite at ten.", "Fine."]])
    rows = slates([turns], [request("Tea and kite?")])
    assert all(item["start"] < item["end"] for row in rows for item in row["items"] if item["resolution"] != "record")
    assert any("Kite at ten." in row["text"] for row in rows)
