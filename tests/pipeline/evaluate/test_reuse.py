"""What the next step uses of what was seen, and whether a slate shows it."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest
from noted import COUNTER, said

from pipeline.evaluate.reuse import FAR, reuse, shown_strings, strings_in_use
from pipeline.evaluate.strings import stands_in
from pipeline.ingest.steps import Call, step_text
from pipeline.schemas import SLATES, TURNS
from pipeline.synth.agents.histories import agent_history

TASK = ("user", "Mend the app of task_one.")


def step(action: str, output: str = "", thought: str = "") -> tuple[str, str]:
    return ("assistant", step_text(thought, [Call(action, observations=[output] if output else [])]))


def turns(*given: tuple[str, str], history: str = "h") -> pl.DataFrame:
    return pl.DataFrame(pa.Table.from_pylist(said(1, *given, history=history), TURNS))


def asked(*seen: int, history: str = "h") -> pl.DataFrame:
    rows = [
        {"history_id": history, "request_id": f"q{turn}", "mode": "agent", "seen_session": 1, "seen_turn": turn}
        for turn in seen
    ]
    return pl.DataFrame(rows, schema_overrides={"seen_turn": pl.Int32})


def slates(*texts: str, policy: str = "p", request: str = "q1") -> pa.Table:
    rows = [
        {"history_id": "h", "request_id": request, "policy": policy, "budget": budget, "n_tokens": COUNTER.count(text),
         "text": text, "items": []}
        for budget, text in enumerate(texts)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, SLATES)


def used(requests: pl.DataFrame, said_in_all: pl.DataFrame) -> dict[str, dict[str, int]]:
    found = strings_in_use(requests, said_in_all).select("request_id", "strings", "ago").iter_rows()
    return {request: dict(zip(strings, ago, strict=True)) for request, strings, ago in found}


@pytest.mark.flash
def test_what_was_told_and_is_used_by_the_next_step_counts_with_the_steps_since() -> None:
    said_in_all = turns(
        TASK,
        step("ls src", "src/one.py\nsrc/two.py"),
        step("cat src/one.py", "limit_a = 4711"),
        step("grep -n limit_a src/two.py", "no"),
        step("echo 4711 src/three.py task_one unseen_name"),
    )
    found = used(asked(1, 2, 3, 4), said_in_all)
    assert found == {"q1": {"src/one.py": 1}, "q2": {"limit_a": 1, "src/two.py": 2}, "q3": {"4711": 2}}


@pytest.mark.flash
def test_what_the_agent_alone_wrote_and_what_the_next_step_only_thinks_or_sees_do_not_count() -> None:
    said_in_all = turns(
        TASK,
        step("run my_tool", "value_b", thought="I call own_name."),
        step("my_tool own_name", "value_b", thought="value_b it is"),
    )
    assert used(asked(1), said_in_all) == {}


@pytest.mark.flash
def test_of_a_string_and_a_part_of_it_the_longest_that_was_told_counts() -> None:
    node = "tests/test_a.py::test_b"
    told = turns(TASK, step("pytest", f"FAILED {node}"), step(f"pytest '{node}'"))
    assert used(asked(1), told) == {"q1": {node: 1}}
    in_part = turns(TASK, step("ls", "tests/test_a.py"), step(f"pytest '{node}'"))
    assert used(asked(1), in_part) == {"q1": {"tests/test_a.py": 1}}


@pytest.mark.flash
def test_a_share_is_that_of_the_strings_that_stand_in_the_text_and_the_far_ones_have_their_own() -> None:
    in_use = pl.DataFrame(
        {"history_id": ["h"], "request_id": ["q1"], "strings": [["a_b", "c_d", "e_f"]], "ago": [[1, FAR, FAR + 9]]}
    )
    found = shown_strings(in_use, slates("a_b and c_d", "a_bc", "c_d e_f"))
    assert found.select("share", "far").rows() == [(2 / 3, 0.5), (0.0, 0.0), (2 / 3, 1.0)]
    near = in_use.with_columns(ago=pl.lit([[1, 2, 3]], pl.List(pl.List(pl.Int64))).explode())
    assert shown_strings(near, slates("a_b"))["far"].to_list() == [None]
    assert shown_strings(in_use, slates("a_b", request="other")).height == 0


@pytest.mark.flash
def test_means_are_over_requests_and_intervals_over_histories() -> None:
    parts = [
        pl.DataFrame(
            {"history_id": ["g", "h", "h"], "request_id": ["q", "q", "r"], "policy": "p", "budget": 9,
             "share": [1.0, 0.0, 0.5], "far": [None, 0.0, None]},
            schema_overrides={"far": pl.Float64},
        ),
    ]  # fmt: skip
    (row,) = reuse(parts, draws=400, seed=0)
    assert (row.n, row.n_histories, row.n_far) == (3, 2, 1)
    assert (row.reuse.value, row.reuse.low, row.reuse.high) == (0.5, 0.25, 1.0)
    assert row.estimates()["reuse_far"].value == 0.0


def test_it_agrees_with_what_a_generated_history_says_that_it_reuses() -> None:
    told = found_too = distances = 0
    for history in (agent_history(5, index, 40, 50) for index in range(4)):
        steps = [step(one.tool + "".join(f" {value}" for value in one.arguments.values()), one.output, one.thought)
                 for one in history.steps]  # fmt: skip
        in_use = used(asked(*range(1, len(steps))), turns(("user", history.task), *steps))
        for one in history.reuses:
            found = in_use.get(f"q{one.used}", {})
            told += 1
            found_too += any(stands_in(one.text, string) for string in found)
            distances += found.get(one.text, one.distance) == one.distance
    assert told > 50
    assert found_too >= 0.95 * told
    assert distances == told
