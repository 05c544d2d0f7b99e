"""What counts as a reuse: a detail that an output showed, and that a later action holds as a whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.synth.agents.details import holds, reuses
from pipeline.synth.agents.step import Reuse, Step

pytestmark = pytest.mark.flash


def step(action="ls", output="", shows=(), thought=""):
    return Step(thought, "bash", {"command": action}, output, tuple(shows))


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("id=4711", True),
        ("4711, 12", True),
        ("14711 and 4711", True),
        ("47112", False),
        ("x4711", False),
        ("4711_b", False),
        ("", False),
    ],
)
def test_a_detail_is_no_part_of_a_longer_word(text, held):
    assert holds(text, "4711") == held


@given(st.text(), st.text(min_size=1), st.text())
def test_a_detail_between_blanks_is_always_found(before, detail, after):
    assert holds(f"{before} {detail} {after}", detail)


def test_a_reuse_names_all_that_showed_it_and_the_latest_that_holds_it():
    steps = [
        step(output="key 4711", shows=["4711"]),
        step(output="nothing"),
        step(output="again 4711"),
        step(action="use 4711"),
        step(thought="4711 it is"),
        step(action="use 4711", output="4711"),
    ]
    assert reuses("a task", steps) == [Reuse("4711", 3, (0, 2), 2), Reuse("4711", 5, (0, 2), 4)]
    assert [one.distance for one in reuses("a task", steps)] == [1, 1]


def test_what_the_task_says_what_is_too_short_and_what_is_not_shown_is_none():
    steps = [step(output="a.py 17 b.py", shows=["a.py", "17", "c.py"]), step(action="cat a.py b.py c.py 17")]
    assert reuses("read a.py", steps) == []
    assert [one.text for one in reuses("read", steps)] == ["a.py"]


def test_what_an_action_held_before_it_was_shown_is_not_reused_then():
    steps = [step(action="cat c.py"), step(output="c.py", shows=["c.py"]), step(action="cat c.py")]
    assert reuses("", steps) == [Reuse("c.py", 2, (1,), 1)]
