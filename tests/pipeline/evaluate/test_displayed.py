"""Whether slates say which files were displayed."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noted import said

from pipeline.evaluate.displayed import displayed, displays, files_asked, told_displayed
from pipeline.ingest.steps import Call, step_text
from pipeline.schemas import SLATES, TURNS

pytestmark = pytest.mark.flash
LONG = "one\ntwo\nthree\nfour"
NONE = pl.DataFrame(schema={"history_id": pl.String, "path": pl.String})


def step(action: str, output: str = LONG, thought: str = "") -> tuple[str, str]:
    return ("assistant", step_text(thought, [Call(action, observations=[output])]))


def turns(*given_steps: tuple[str, str], history: str = "h") -> pl.DataFrame:
    return pl.DataFrame(pa.Table.from_pylist(said(1, ("user", "Do it."), *given_steps, history=history), TURNS))


def asked(*seen: int) -> pl.DataFrame:
    rows = [
        {"history_id": "h", "request_id": f"q{turn}", "mode": "agent", "seen_session": 1, "seen_turn": turn}
        for turn in seen
    ]
    return pl.DataFrame(rows, schema_overrides={"seen_turn": pl.Int32})


def files(
    requests: pl.DataFrame, all_turns: pl.DataFrame, elsewhere: pl.DataFrame = NONE
) -> dict[str, dict[str, bool]]:
    rows = files_asked(requests, all_turns, elsewhere).select("request_id", "paths", "shown").iter_rows()
    return {request: dict(zip(paths, shown, strict=True)) for request, paths, shown in rows}


def test_a_file_is_displayed_by_an_action_that_names_it_with_more_than_three_lines_of_output() -> None:
    dressed = "<returncode>0</returncode>\n<output>\none\ntwo\nthree\n</output>"
    found = displays(turns(step("cat a.py"), step("cat b.py", "one\ntwo\nthree"), step("cat c.py", dressed)))
    assert found.rows() == [("h", "a.py")]
    assert displays(turns(step("python - <<EOF\nopen('a.py')\nEOF"))).rows() == []


def test_others_are_those_that_outputs_mention_then_those_of_later_actions_then_those_of_other_histories() -> None:
    told = turns(step("ls", "seen.py"), step("cat a.py b.py c.py"), step("cat later.py"))
    elsewhere = pl.DataFrame({"history_id": ["g", "g", "h"], "path": ["other.py", "another.py", "own.py"]})
    found = files(asked(1, 2, 3), told, elsewhere)
    assert set(found) == {"q2", "q3"}
    assert {path for path, shown in found["q2"].items() if shown} == {"a.py", "b.py", "c.py"}
    others = {path for path, shown in found["q2"].items() if not shown}
    assert len(others) == 3
    assert {"seen.py", "later.py"} < others
    assert others - {"seen.py", "later.py"} <= {"other.py", "another.py"}
    assert {path for path, shown in found["q3"].items() if not shown} == {"seen.py", "other.py", "another.py"}


def test_a_file_that_an_action_named_without_displaying_it_is_neither() -> None:
    told = turns(step("ls", "docs/setup.py setup.py x.py"), step("sed -i s/a/b/ docs/setup.py", ""), step("cat a.py"))
    assert files(asked(3), told) == {"q3": {"a.py": True, "x.py": False}}


def told_of(text: str, *items: tuple[int, str, int, int], shown: tuple[bool, bool] = (True, False)) -> tuple:
    """Sensitivity and specificity of a slate, asked about a.py and b.py."""
    all_turns = turns(step("cat a.py", "b.py says\na.py too\n1\n2", thought="b.py?"))
    made = [
        {"session_index": 1, "turn_index": turn, "unit_index": 0, "resolution": resolution, "start": start,
         "end": end, "rank": 0, "n_tokens": 1}
        for turn, resolution, start, end in items
    ]  # fmt: skip
    slate = {
        "history_id": "h", "request_id": "q1", "policy": "p", "budget": 9, "n_tokens": 1, "text": text, "items": made,
    }  # fmt: skip
    of_request = pl.DataFrame(
        {"history_id": ["h"], "request_id": ["q1"], "paths": [["a.py", "b.py"]], "shown": [list(shown)]}
    )
    found = told_displayed(of_request, pa.Table.from_pylist([slate], SLATES), all_turns)
    return found.select("sensitivity", "specificity", "balanced_accuracy").row(0)


def test_an_action_line_a_label_and_a_record_say_it_and_thoughts_and_outputs_do_not() -> None:
    turn = step("cat a.py", "b.py says\na.py too\n1\n2", thought="b.py?")[1]
    assert told_of(f"[step 1] {turn}", (1, "raw", 0, len(turn))) == (1.0, 1.0, 1.0)
    output = turn.index("b.py says")
    assert told_of(turn[output:], (1, "excerpt", output, len(turn))) == (0.0, 1.0, 0.5)
    assert told_of(f"[step 1 · $ cat a.py] {turn[output:]}", (1, "excerpt", output, len(turn))) == (1.0, 1.0, 1.0)
    assert told_of("[u1] saw b.py", (1, "record", 0, 0)) == (0.0, 0.0, 0.0)
    assert told_of("") == (0.0, 1.0, 0.5)


def test_means_are_over_requests() -> None:
    part = pl.DataFrame(
        {"history_id": ["g", "h"], "request_id": "q", "policy": "p", "budget": 9, "sensitivity": [1.0, 0.5],
         "specificity": [0.0, 1.0], "balanced_accuracy": [0.5, 0.75]}
    )  # fmt: skip
    (row,) = displayed([part], draws=200, seed=0)
    values = {name: estimate.value for name, estimate in row.estimates().items()}
    assert values == {
        "displayed_sensitivity": 0.75, "displayed_specificity": 0.5, "displayed_balanced_accuracy": 0.625,
    }  # fmt: skip
    assert (row.n, row.n_histories) == (2, 2)


STEPS = st.lists(
    st.tuples(st.sampled_from(["cat", "ls"]), st.sampled_from("abcd"), st.sampled_from([LONG, "x.py", "a.py b.py"])),
    min_size=1,
    max_size=6,
)


@given(STEPS, st.integers(1, 6))
def test_what_is_asked_depends_only_on_what_is_seen_where_outputs_mention_enough(steps: list, cut: int) -> None:
    cut = min(cut, len(steps))
    made = [step(f"{command} {name}.py", output) for command, name, output in steps]
    whole = files(asked(cut), turns(*made)).get(f"q{cut}", {})
    shown = {f"{name}.py" for _, name, output in steps[:cut] if output == LONG}
    named = {f"{name}.py" for _, name, _ in steps[:cut]}
    assert {path for path, was in whole.items() if was} == (shown if whole else set())
    others = {path for path, was in whole.items() if not was}
    assert not others & named
    assert len(others) <= len(shown)
