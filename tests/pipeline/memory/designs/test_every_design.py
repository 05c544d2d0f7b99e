"""What holds of every policy of memory, ours and those that it is compared with."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from noted import COUNTER, request, said, stored
from slate_of import DAY, chat, memory, run

from pipeline.memory.llm_designs.names import SUMMARY_SHARES
from pipeline.memory.options import MemoryOptions
from pipeline.memory.registry import COMPARED, MEMORY_POLICIES, OF_SPANS, POLICIES, RANKED
from pipeline.memory.slates import memory_slates
from pipeline.policies.slates import SlateOptions

pytestmark = pytest.mark.flash

BUDGETS = (120, 300)
PHASES = (Phase.explicit, Phase.generate)
"""An example takes all policies: making it smaller takes minutes."""
NAMES = tuple(name for name in MEMORY_POLICIES if name != "auto")  # which needs a ranker that chooses
WORDS = ("tea", "kite", "Oslo", "rain", "42", "/srv/a.txt", "port", "Ana", "blue", "error:", "bought", "went", "friday")
SENTENCE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(
    lambda words: " ".join(words).capitalize() + "."
)
CHAT = st.lists(
    st.lists(st.lists(SENTENCE, min_size=1, max_size=4).map("\n".join), min_size=1, max_size=6), min_size=1, max_size=7
)
STEP = st.tuples(SENTENCE, SENTENCE, st.lists(SENTENCE, min_size=0, max_size=12)).map(
    lambda parts: f"{parts[0]}\n\n$ {parts[1]}\n=>\n" + "\n".join(parts[2] or ["ok"])
)
RUN = st.lists(STEP, min_size=1, max_size=16)


def slates(turns: list[dict[str, Any]], asked: dict[str, Any], options: MemoryOptions) -> list[dict[str, Any]]:
    made = stored([turns], [asked], options)
    rows = memory_slates(made.asked, made.noted, SlateOptions(NAMES, BUDGETS), options, COUNTER).to_pylist()
    for item in (item for row in rows for item in row["items"]):
        item["score"] = repr(item["score"])  # NaN, of a turn that the ranker has not scored, is not equal to itself
    return rows


def check(row: dict[str, Any], turns: list[dict[str, Any]]) -> None:
    assert row["n_tokens"] == COUNTER.count(row["text"]) <= int(0.95 * row["budget"]), row["policy"]
    assert row["text"].strip(), row["policy"]
    texts = {(turn["session_index"], turn["turn_index"]): turn["text"] for turn in turns}
    shown = [item for item in row["items"] if item["resolution"] != "record"]
    for item in shown:
        part = texts[item["session_index"], item["turn_index"]][item["start"] : item["end"]]
        assert part in row["text"], row["policy"]
        assert part == part.rstrip(), row["policy"]
    places = [(item["session_index"], item["turn_index"], item["start"]) for item in shown]
    assert places == sorted(places), row["policy"]


@given(CHAT, SENTENCE, st.sampled_from([60, 400]))
@settings(max_examples=15, phases=PHASES)
def test_of_a_chat_each_shows_something_verbatim_within_the_budget_and_in_the_order_of_time(sessions, asked, size):
    turns = chat(*sessions)
    options = memory(reader_tokens=size)
    rows = slates(turns, request(asked), options)
    for row in rows:
        check(row, turns)
    assert slates(turns, request(asked), options) == rows


@given(RUN, st.data())
@settings(max_examples=15, phases=PHASES)
def test_of_a_run_each_shows_something_verbatim_and_the_end_of_the_newest_step(steps, data):
    turns = run(*steps)
    seen = data.draw(st.integers(1, len(steps)))
    asked = request("Mend the port.", mode="agent", seen_session=0, seen_turn=seen)
    for row in slates(turns, asked, memory()):
        check(row, turns)
        assert row["text"].endswith(turns[seen]["text"].splitlines()[-1][-20:]), row["policy"]
        assert all(item["turn_index"] <= seen for item in row["items"]), row["policy"]


@given(CHAT, CHAT, SENTENCE)
@settings(max_examples=8, phases=PHASES)
def test_what_is_said_later_changes_nothing(now, later, asked):
    turns = chat(*now)
    ask = request(asked, asked_at=DAY + timedelta(days=len(now) - 1, hours=1))
    after = [
        row
        for number, texts in enumerate(later)
        for row in said(100 + number, *texts, time=DAY + timedelta(days=50 + number))
    ]
    assert slates([*turns, *after], ask, memory()) == slates(turns, ask, memory())


@given(CHAT, st.lists(SENTENCE, min_size=1, max_size=5), SENTENCE)
@settings(max_examples=8, phases=PHASES)
def test_what_is_said_later_in_a_session_changes_nothing(now, later, asked):
    last = len(now) - 1
    ask = request(asked, seen_session=last, seen_turn=len(now[last]) - 1)
    assert slates(chat(*now[:last], [*now[last], *later]), ask, memory()) == slates(chat(*now), ask, memory())


@given(RUN, RUN)
@settings(max_examples=8, phases=PHASES)
def test_later_steps_change_nothing(now, later):
    asked = request("Mend the port.", mode="agent", seen_session=0, seen_turn=len(now))
    assert slates(run(*now, *later), asked, memory()) == slates(run(*now), asked, memory())


def test_a_history_without_a_visible_turn_has_an_empty_slate_under_each():
    ask = request("Tea?", asked_at=DAY - timedelta(days=1))
    assert {row["text"] for row in slates(chat(["Tea."]), ask, memory())} == {""}


def test_names_are_distinct_and_those_that_read_spans_are_known():
    assert len(MEMORY_POLICIES) == len(POLICIES) + len(COMPARED) + len(RANKED)
    assert {*COMPARED, *SUMMARY_SHARES} >= OF_SPANS
