"""Steps taken apart, and which step follows what a request sees."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.moments import acted_and_seen, acted_in, in_order, moments, told_by_others
from pipeline.ingest.steps import Call, step_text

pytestmark = pytest.mark.flash
WORDS = st.text(alphabet="ab \n", max_size=8).map(str.strip)
ROLES = st.lists(st.sampled_from(["user", "assistant", "tool"]), min_size=1, max_size=7)


def turns(*sessions: list[str]) -> pl.DataFrame:
    """Turns by their roles, session by session."""
    rows = [
        ("h", session, turn, role) for session, roles in enumerate(sessions, start=1) for turn, role in enumerate(roles)
    ]
    return pl.DataFrame(rows, schema=["history_id", "session_index", "turn_index", "role"], orient="row")


def asked(*seen: tuple[int | None, int | None], mode: str = "agent") -> pl.DataFrame:
    rows = [("h", f"q{number}", mode, *place) for number, place in enumerate(seen)]
    schema = {
        "history_id": pl.String, "request_id": pl.String, "mode": pl.String, "seen_session": pl.Int64,
        "seen_turn": pl.Int64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def told(requests: pl.DataFrame, said: pl.DataFrame) -> dict[str, tuple[int, int | None]]:
    return {row[1]: row[2:] for row in moments(requests, in_order(said)).iter_rows()}


def test_the_next_step_is_the_first_of_the_assistant_behind_what_is_seen() -> None:
    said = turns(["user", "assistant", "tool", "assistant"], ["assistant"])
    found = told(asked((1, -1), (1, 1), (1, 2), (1, 3), (2, 0)), said)
    assert found == {"q0": (0, None), "q1": (2, 3), "q2": (3, 3), "q3": (4, 4), "q4": (5, None)}


def test_what_a_user_says_in_between_the_request_cannot_know_so_that_nothing_follows() -> None:
    assert told(asked((1, 1)), turns(["user", "assistant", "user", "assistant"])) == {"q0": (2, None)}


def test_requests_of_readers_and_without_a_last_seen_turn_have_no_moment() -> None:
    said = turns(["user", "assistant"])
    assert told(asked((1, 0), mode="reader"), said) == {}
    assert told(asked((None, None), (1, None)), said) == {}


@given(ROLES, ROLES, st.integers(0, 8))
def test_it_is_what_walking_along_the_turns_finds(one: list[str], two: list[str], cut: int) -> None:
    roles = one + two
    cut = min(cut, len(roles) - 1)
    place = (1, cut) if cut < len(one) else (2, cut - len(one))
    behind = [(at, role) for at, role in enumerate(roles) if at > cut and role != "tool"]
    following = behind[0][0] if behind and behind[0][1] == "assistant" else None
    assert told(asked(place), turns(one, two)) == {"q0": (cut + 1, following)}


def test_steps_are_counted_up_to_each_turn() -> None:
    ordered = in_order(turns(["user", "assistant"], ["tool", "assistant"]).reverse())
    assert ordered["place"].to_list() == [0, 1, 2, 3]
    assert ordered["step"].to_list() == [0, 1, 1, 2]


@given(WORDS, st.lists(st.tuples(WORDS.filter(bool), WORDS), max_size=3))
def test_a_step_is_taken_apart_as_it_was_put_together(thought: str, done: list[tuple[str, str]]) -> None:
    text = step_text(thought, [Call(action, observations=[output]) for action, output in done])
    assert [(action, output.strip()) for action, output in acted_and_seen(text)] == done
    assert [action.strip() for action in acted_in(text)] == [action for action, _ in done]
    assert told_by_others("assistant", text).split() == " ".join(output for _, output in done).split()
    assert told_by_others("tool", text) == text


def test_an_output_that_no_action_precedes_has_an_empty_one() -> None:
    assert acted_and_seen("=>\nseen\n\n$ ls\n=>\nx") == [("", "seen"), ("ls", "x")]
