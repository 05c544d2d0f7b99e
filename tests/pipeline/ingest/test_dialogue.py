"""Dialogue ids, as people wrote them, and what stands beside a text."""

from __future__ import annotations

import pytest

from pipeline.ingest.dialogue import MOST_IN_RANGE, DialogueIds, text_or_none, with_caption

pytestmark = pytest.mark.flash


@pytest.fixture(scope="module")
def ids() -> DialogueIds:
    """D1:1 to D1:9 and D2:1 to D2:3, of which D1:4 is missing and D1:7 stands twice; all in session 0."""
    known = DialogueIds()
    names = [f"D1:{number}" for number in (1, 2, 3, 5, 6, 7, 7, 8, 9, 10)] + [f"D2:{number}" for number in (1, 2, 3)]
    for turn, name in enumerate(names):
        known.add(name, (0, turn))
    known.add("no id", (0, 99))
    return known


def turns(ids: DialogueIds, text: str) -> tuple[list[int], int]:
    """The turns that a text means, and how many parts of it mean none."""
    cited = [meant for _, meant in ids.cited(text)]
    return [turn for meant in cited if not isinstance(meant, str) for _, turn in meant], sum(
        isinstance(meant, str) for meant in cited
    )


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("D1:1", [0]),
        ("d1:1", [0]),
        ("D1:1.", [0]),
        ("D01:01", [0]),
        ("D:2:1", [10]),
        ("D1:1; D2:2", [0, 11]),
        ("D1:1 D1:2,D2:3", [0, 1, 12]),
        ("['D1:1', 'D1:2']", [0, 1]),
        ("(D1:1)", [0]),
        ("D1:1-D1:3", [0, 1, 2]),
        ("D1:1 - D1:3.", [0, 1, 2]),
        ("D1:1–D1:3", [0, 1, 2]),
        ("D1:3-D1:5", [2, 3]),
        ("D1:4-D1:6", [3, 4]),
        ("D1:6-D1:8", [4, 5, 6, 7]),
        ("D1:9-D2:1", [8, 9, 10]),
        ("D1:1-D1:2;D2:2-D2:3", [0, 1, 11, 12]),
        ("D1:3:D2:1", [2, 10]),
        ("", []),
        (" ; ", []),
    ],
)
def test_ids_lists_and_ranges_are_read_leniently(ids: DialogueIds, text: str, meant: list[int]) -> None:
    assert turns(ids, text) == (meant, 0)


@pytest.mark.parametrize(
    ("text", "meant", "others"),
    [
        ("D", [], 1),
        ("D1:4", [], 1),
        ("D1:7", [], 1),
        ("D7:1-D7:9", [], 1),
        ("D1:3-D1:1", [], 1),
        ("D1:1:2", [], 1),
        ("D1:1 and D1:2", [0, 1], 1),
        ("D1:1; D9:9", [0], 1),
        ("xD1:1", [], 1),
        ("D1:1x", [], 1),
        ("D1:" + "1" * 5_000, [], 1),
        ("D1:1 " * 5_000, [], 1),
    ],
)
def test_what_means_no_turn_or_several_is_told_apart(
    ids: DialogueIds, text: str, meant: list[int], others: int
) -> None:
    assert turns(ids, text) == (meant, others)


def test_what_is_shown_of_a_text_is_short(ids: DialogueIds) -> None:
    assert all(len(written) <= 43 for text in ("word " * 1_000, "word " * 5_000) for written, _ in ids.cited(text))


def test_ids_that_are_added_later_are_within_ranges_too() -> None:
    known = DialogueIds()
    known.add("D1:1", (0, 0))
    assert turns(known, "D1:1-D1:3") == ([0], 0)
    known.add("D1:2", (0, 1))
    assert turns(known, "D1:1-D1:3") == ([0, 1], 0)


def test_a_range_of_too_many_turns_is_no_evidence() -> None:
    known = DialogueIds()
    for number in range(1, MOST_IN_RANGE + 2):
        known.add(f"D1:{number}", (0, number))
    assert turns(known, f"D1:1-D1:{MOST_IN_RANGE}") == (list(range(1, MOST_IN_RANGE + 1)), 0)
    assert turns(known, f"D1:1-D1:{MOST_IN_RANGE + 1}") == ([], 1)


@pytest.mark.parametrize(
    ("text", "caption", "both"),
    [("Look!", "a dog", "Look! [a dog]"), ("", "a dog", "[a dog]"), (" ", "a dog", "[a dog]"), ("Look!", " ", "Look!")],
)
def test_a_caption_stands_in_brackets(text: str, caption: str, both: str) -> None:
    assert with_caption(text, caption) == both


@pytest.mark.parametrize(
    ("value", "text"), [(None, None), ("a", "a"), (2022, "2022"), (1.5, "1.5"), (["a", 1], '["a", 1]')]
)
def test_an_answer_is_text_whatever_it_was(value: object, text: str | None) -> None:
    assert text_or_none(value) == text
