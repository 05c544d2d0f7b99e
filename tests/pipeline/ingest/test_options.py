"""Items are chosen by position, range or id; a choice that means nothing is an error."""

from __future__ import annotations

import pytest

from pipeline.ingest.errors import IngestError
from pipeline.ingest.options import Items, parse_options

IDS = ["conv-26", "conv-30", "7", "3-4", "d", "e"]


def wanted(chosen: str | None) -> list[int]:
    items = parse_options({} if chosen is None else {"items": chosen}, ()).items
    found = [position for position, name in enumerate(IDS) if items.wants(position, [name])]
    items.require_found()
    return found


@pytest.mark.flash
@pytest.mark.parametrize(
    ("chosen", "positions"),
    [
        (None, [0, 1, 2, 3, 4, 5]),
        ("0-2,5", [0, 1, 2, 5]),
        ("conv-30", [1]),
        ("1, e", [1, 5]),
        ("id:7", [2]),
        ("id:3-4", [3]),
        ("2-2,2", [2]),
    ],
)
def test_items_are_chosen_by_position_range_and_id(chosen: str | None, positions: list[int]) -> None:
    assert wanted(chosen) == positions


@pytest.mark.flash
@pytest.mark.parametrize(("chosen", "missing"), [("conv-99", "conv-99"), ("4-6", "6"), ("0,17", "17"), ("7", "7")])
def test_a_choice_that_the_source_lacks_is_named(chosen: str, missing: str) -> None:
    with pytest.raises(IngestError, match=f"lacks: {missing}$"):
        wanted(chosen)


@pytest.mark.flash
def test_a_single_position_may_be_a_number() -> None:
    items = parse_options({"items": 1}, ()).items
    assert [items.wants(position, []) for position in range(3)] == [False, True, False]


@pytest.mark.flash
@pytest.mark.parametrize("chosen", ["", " , ", "5-2"])
def test_an_empty_choice_is_an_error(chosen: str) -> None:
    with pytest.raises(IngestError, match="option items"):
        Items(chosen)


@pytest.mark.flash
def test_an_unknown_option_names_the_nearest() -> None:
    with pytest.raises(IngestError, match="no option item; did you mean items"):
        parse_options({"item": "0"}, ())


@pytest.mark.flash
def test_an_option_is_refused_by_a_format_that_does_not_take_it() -> None:
    assert parse_options({"requests": "none"}, ("requests",)).requests == "none"
    with pytest.raises(IngestError, match=r"takes no --requests; it takes --items and --key$"):
        parse_options({"requests": "none"}, ("keys",))


@pytest.mark.flash
@pytest.mark.parametrize(
    "options", [{"requests": "all"}, {"keys": {"user": "a"}}, {"keys": {"history": "."}}, {"keys": {"time": ""}}]
)
def test_a_value_that_says_nothing_is_an_error(options: dict[str, object]) -> None:
    with pytest.raises(IngestError, match=r"^--(requests is one of|key \S+=\S*: the left side must be history, )"):
        parse_options(options, ("requests", "keys"))
