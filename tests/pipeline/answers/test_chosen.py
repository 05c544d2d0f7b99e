"""Of the slates those of one policy and budget, for some requests, the same for every policy."""

from __future__ import annotations

import pytest
from asked import requests, slates
from hypothesis import given
from hypothesis import strategies as st

from pipeline.answers.chosen import chosen, last_of, place

pytestmark = pytest.mark.flash


def slate(request: str, policy: str = "p", budget: int = 900):
    return {"request_id": request, "policy": policy, "budget": budget, "text": request}


def test_only_readers_slates_of_the_policy_and_budget_are_kept_in_order():
    made = slates(slate("b"), slate("a"), slate("a", "q"), slate("a", budget=90), slate("agent"))
    asked = requests({"request_id": "a"}, {"request_id": "b"}, {"request_id": "agent", "mode": "agent"})
    assert chosen(made, asked, "p", 900, None)["text"].to_pylist() == ["b", "a"]


@given(st.lists(st.tuples(st.text("h", max_size=2), st.text("rs", max_size=3)), unique=True, max_size=9), st.data())
def test_a_limit_keeps_so_many_requests_under_every_policy_and_more_keep_those_too(keys, data):
    limit = data.draw(st.integers(1, 10))
    asked = requests(*({"history_id": h, "request_id": r} for h, r in keys))
    made = slates(
        *({**slate(r, policy), "history_id": h} for h, r in keys for policy in ("p", "q")),
    )
    kept = [chosen(made, asked, policy, 900, last_of(keys, limit)) for policy in ("p", "q")]
    first, second = ([(row["history_id"], row["request_id"]) for row in each.to_pylist()] for each in kept)
    assert first == second
    assert len(first) == min(limit, len(keys))
    more = chosen(made, asked, "p", 900, last_of(keys, limit + 1)).to_pylist()
    assert set(first) <= {(row["history_id"], row["request_id"]) for row in more}


def test_names_that_run_together_have_places_of_their_own():
    assert place("ab", "c") != place("a", "bc")
