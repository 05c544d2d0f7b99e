"""Running summaries: written unit by unit within their room, and notes in what they leave."""

from __future__ import annotations

import re

import pytest
from designs_of import Shown, sensible
from hypothesis import given
from hypothesis import strategies as st
from noted import COUNTER, request
from slate_of import about, memory, run, step, units_of

from models.interfaces import Answer, Prompt
from pipeline.memory.llm_designs.running_summary import cut_to

pytestmark = pytest.mark.flash

TOPICS = ("kites", "lamps", "trains", "ports", "teas", "rains")
MEMORY = memory(reader_tokens=2000)
HALF, MOST = "summary_notes_50", "summary_notes_70"


def shown(script=sensible, budget: int = 1000, policies: tuple[str, ...] = (HALF, MOST), **more) -> Shown:
    return Shown(about(*TOPICS), [request("Which lamps?")], MEMORY, script, policies, (budget,), **more)


def test_each_summary_is_written_of_the_one_before_and_the_next_unit():
    found = shown(policies=(HALF,))
    prompts = [prompt for batch in found.writer.asked for prompt in batch]
    texts = [row["text"] for row in found.notes.to_pylist()]
    assert len(prompts) == len(TOPICS)
    assert "<summary>\n(nothing yet)\n</summary>" in prompts[0].user
    for before, prompt, topic in zip(texts[:-1], prompts[1:], TOPICS[1:], strict=True):
        assert f"<summary>\n{before}\n</summary>" in prompt.user
        assert f"So it was {topic} number 11" in prompt.user
    assert "Date of the part: 9 May 2023" in prompts[1].user


def test_a_summary_has_its_share_and_notes_what_it_leaves():
    long = lambda prompt: " ".join(f"word{n}" for n in range(3000))  # noqa: E731
    found = shown(long)
    for policy, share in ((HALF, 0.5), (MOST, 0.7)):
        row = found.row(policy)
        summary = row["text"].split("\n")[0]
        assert summary.startswith("Summary: word0 word1")
        assert 0.9 * share * 950 < COUNTER.count(summary) <= share * 950
        assert row["n_tokens"] <= 950
    assert len(units_of(found.row(HALF), "raw")) == 1
    (half, most) = (
        {row["room"] for row in found.notes.to_pylist() if row["policy"] == policy} for policy in (HALF, MOST)
    )
    assert (half, most) == ({475}, {665})


def test_what_a_summary_does_not_use_is_lent_to_notes():
    found = shown(lambda _: "All is well.", 1000, (MOST,))
    assert found.row(MOST)["text"].startswith("Summary: All is well.\n[u")
    assert len(units_of(found.row(MOST), "raw")) == 2


def test_a_chain_keeps_its_last_summary_where_a_call_fails():
    def fails_at_trains(prompt: Prompt) -> str | Answer:
        return Answer("", "failed", "it broke") if "So it was trains" in prompt.user else sensible(prompt)

    rows = shown(fails_at_trains, policies=(HALF,)).notes.to_pylist()
    assert [row["status"] for row in rows] == ["ok", "ok", "failed", "ok", "ok", "ok"]
    assert rows[2]["text"] == rows[1]["text"]
    assert rows[2]["reason"] == "it broke"
    assert rows[3]["text"].startswith(rows[1]["text"])


def test_a_unit_that_is_too_long_for_the_context_is_read_in_part_and_that_is_said():
    found = shown(policies=(HALF,), context=500)
    rows = found.notes.to_pylist()
    assert {row["status"] for row in rows} == {"ok"}
    assert all("too long: read to line" in row["reason"] for row in rows[1:])
    assert all("of 475 tokens no more than 166" in row["reason"] for row in rows)
    assert all(prompt.max_tokens == 166 for batch in found.writer.asked for prompt in batch)


def test_of_an_agent_what_has_left_the_window_is_summed_up_once_for_all_steps():
    turns = run(*[step(number) for number in range(14)])
    asked = [
        request("Mend the port.", f"q{seen:02}", mode="agent", seen_session=0, seen_turn=seen) for seen in range(1, 15)
    ]
    found = Shown(turns, asked, memory(), sensible, (HALF,), (600,))
    rows = found.notes.to_pylist()
    read = [prompt.user for batch in found.writer.asked for prompt in batch]
    assert len(read) == len(rows) == len(set(read)) == max(row["place"] for row in rows)
    last = found.rows(HALF)[-1]
    assert last["text"].startswith("Summary: (nothing yet) then user: Mend the port.")
    assert last["text"].endswith("out13 11")


@given(st.text(alphabet="ab \n", max_size=80), st.integers(0, 30))
def test_a_text_is_cut_between_words(text, room):
    cut = cut_to(" ".join(text.split()), room, COUNTER.count)
    assert COUNTER.count(cut) <= room
    assert re.match(rf"{re.escape(cut)}( |$)", " ".join(text.split())) or not cut
