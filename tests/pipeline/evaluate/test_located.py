"""The lines of a slate of memory are found again in its text, those that say the same by their order."""

from __future__ import annotations

import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noted import COUNTER, request, said, stored

from pipeline.evaluate.located import located
from pipeline.memory.options import MemoryOptions
from pipeline.memory.registry import COMPARED, POLICIES
from pipeline.memory.slates import memory_slates
from pipeline.policies.slates import SlateOptions
from pipeline.units.cut import CutOptions

pytestmark = pytest.mark.flash
MEMORY = MemoryOptions(cut=CutOptions(reader_tokens=40), piece_tokens=12, excerpt_tokens=24)
TEXT = """[u1] Ana: ok
[u2 · raw]
user: ok
assistant: ok
then more
Verbatim:
user: ok [yesterday = 7 May 2023]"""


def test_a_part_begins_with_who_said_it_and_ends_with_its_last_line() -> None:
    found = located([None, "ok", "ok\nthen more", "ok"], TEXT)
    assert found is not None
    assert [TEXT[start:end] for start, end in found] == [
        "[u1] Ana: ok",
        "user: ok",
        "assistant: ok\nthen more",
        "user: ok [yesterday = 7 May 2023]",
    ]


@pytest.mark.parametrize("parts", [["nobody said that"], [None, None, None, None], ["ok"] * 5])
def test_what_does_not_stand_there_is_not_made_up(parts) -> None:
    assert located(parts, TEXT) is None


WORDS = st.lists(st.sampled_from(["ok", "tea", "a kite", "in Oslo.", "42"]), min_size=1, max_size=14).map(" ".join)


@given(st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=6), WORDS)
@settings(max_examples=25)
def test_every_item_of_every_policy_is_found_in_its_slate(sessions, asked) -> None:
    turns = [row for number, texts in enumerate(sessions) for row in said(number, *texts)]
    made = stored([turns], [request(asked)], MEMORY)
    options = SlateOptions((*POLICIES, *COMPARED), (90, 200))
    texts = {(turn["session_index"], turn["turn_index"]): turn["text"] for turn in turns}
    slates = memory_slates(made.asked, made.noted, options, MEMORY, COUNTER)
    assert not pc.any(pc.equal(slates["n_tokens"], 0)).as_py()
    for slate in slates.to_pylist():
        parts = [
            None
            if item["resolution"] == "record"
            else texts[item["session_index"], item["turn_index"]][item["start"] : item["end"]]
            for item in slate["items"]
        ]
        found = located(parts, slate["text"])
        assert found is not None, slate["policy"]
        assert found == sorted(found)
        assert all(
            part is None or part in slate["text"][start:end] for part, (start, end) in zip(parts, found, strict=True)
        )
