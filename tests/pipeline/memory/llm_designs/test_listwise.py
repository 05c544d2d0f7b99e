"""Listwise: what a model names of a pool is shown, and nothing else."""

from __future__ import annotations

import json

import pytest
from designs_of import Shown, listed
from noted import request
from slate_of import chat, memory

from models.interfaces import Answer, Prompt

pytestmark = pytest.mark.flash

TURNS = chat(*[[f"The kite number {n} is blue.", f"And kite {n} flies."] for n in range(30)])


def shown(script, budgets: tuple[int, ...] = (200,), context: int = 8192, asked: int = 1) -> Shown:
    requests = [request("Which kite is number 7?", f"q{n}") for n in range(asked)]
    return Shown(TURNS, requests, memory(), script, ("listwise",), budgets, context)


def test_of_the_first_forty_of_a_pool_those_that_are_named_are_shown():
    found = shown(lambda _: '{"passages": [3, 1]}')
    (prompt,) = found.prompts
    assert listed(prompt) == list(range(1, 41))
    items = found.row("listwise")["items"]
    assert len(items) == 2
    assert sorted(item["rank"] for item in items) == [1, 2]
    text = found.row("listwise")["text"]
    passages = {line.split("] ")[0][1:]: line.split(": ", 1)[1] for line in prompt.user.splitlines() if line[:1] == "["}
    assert all(passages[number] in text for number in ("1", "3"))
    assert found.quarantine.num_rows == 0


def test_the_best_come_first_where_not_all_fit_and_budgets_share_one_call():
    all_of_them = lambda prompt: json.dumps({"passages": listed(prompt)[::-1]})  # noqa: E731
    found = shown(all_of_them, (60, 120, 2000))
    assert len(found.prompts) == 1
    rows = {row["budget"]: row for row in found.rows("listwise")}
    assert len(rows[2000]["items"]) == 40
    assert len(rows[60]["items"]) < len(rows[120]["items"]) < 40
    assert min(item["rank"] for item in rows[60]["items"]) == 1
    assert all(row["n_tokens"] <= 0.95 * budget for budget, row in rows.items())


@pytest.mark.parametrize("answer", ["no", '{"passages": []}', Answer("", "failed", "it broke")])
def test_the_pool_in_its_order_is_shown_where_nothing_can_be_used_and_the_row_is_counted_as_failed(answer):
    found = shown(lambda _: answer, asked=2)
    assert len(found.reader.asked) == (1 if isinstance(answer, Answer) else 3)
    assert [row["code"] for row in found.quarantine.to_pylist()] == ["llm_failed", "llm_failed"]
    for row in found.rows("listwise"):
        ranks = sorted(item["rank"] for item in row["items"])
        assert ranks[0] == 1
        assert len(ranks) > 3


def test_passages_that_a_context_does_not_hold_are_left_out_and_that_is_said():
    def names_the_last(prompt: Prompt) -> str:
        return json.dumps({"passages": listed(prompt)[-1:]})

    found = shown(names_the_last, context=900)
    shown_passages = listed(found.prompts[0])
    assert 0 < len(shown_passages) < 40
    (note,) = found.quarantine.to_pylist()
    assert note["reason"] == f"listwise: {40 - len(shown_passages)} passages were left out"
    assert len(found.row("listwise")["items"]) == 1
