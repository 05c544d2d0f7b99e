from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest

from models.tokens import token_counter
from pipeline.render.slate_text import Shown, in_time_order, line_spans, render
from pipeline.render.styles import STYLES

pytestmark = pytest.mark.flash
COUNTER = token_counter("o200k_base")
MADE = {name: styled(COUNTER) for name, styled in STYLES.items()}


def day(number: int) -> datetime:
    return datetime(2023, 5, number, 9, 5, tzinfo=UTC)


SHOWN = Shown(
    [1, 1, 2],
    [0, 1, 0],
    [day(8), day(8), None],
    ["Ana", "Bob", "Ana"],
    ["Hi\n\nuser: not a turn", "Yes.", "Later"],
)


def sessions_in_order(times: dict[int, datetime | None]) -> list[int]:
    frame = pl.DataFrame(
        [{"session_index": index, "turn_index": 0, "session_time": time} for index, time in times.items()],
        schema_overrides={"session_time": pl.Datetime("us", "UTC")},
    )
    return in_time_order(frame)["session_index"].to_list()


def test_a_session_without_a_time_follows_the_last_earlier_one_that_has_one():
    assert sessions_in_order({1: day(20), 2: None, 3: day(10), 4: None}) == [3, 4, 1, 2]


def test_sessions_before_any_time_come_first():
    assert sessions_in_order({1: None, 2: day(10), 3: day(9)}) == [1, 3, 2]


def test_sessions_of_one_time_stand_in_order_of_arrival():
    assert sessions_in_order({3: day(8), 1: day(8), 2: day(8)}) == [1, 2, 3]


def test_dated_text_shows_turns_verbatim_and_nothing_trails():
    assert render(SHOWN, [0, 1, 2], MADE["dated"]) == (
        "# 8 May 2023, 09:05\nAna: Hi\n\nuser: not a turn\nBob: Yes.\n# undated\nAna: Later"
    )


def test_longmemeval_text_is_what_its_reader_would_show():
    blocks = [
        "\n### Session {}:\nSession Date: {}\nSession Content:\n{}\n".format(*parts)
        for parts in [(1, "2023/05/08 (Mon) 09:05", "\n\nBob: Yes."), (2, "unknown", "\n\nAna: Later")]
    ]
    assert render(SHOWN, [1, 2], MADE["longmemeval"]) == "".join(blocks).strip("\n")


def test_nothing_chosen_is_the_empty_text():
    assert [render(SHOWN, [], style) for style in MADE.values()] == [""] * len(STYLES)


@pytest.mark.parametrize("style", MADE.values(), ids=MADE)
@pytest.mark.parametrize("places", [[], [1], [0, 2], [0, 1, 2]])
def test_the_spans_of_lines_are_where_the_text_has_them(style, places):
    text = render(SHOWN, places, style)
    spans = line_spans(SHOWN, places, style)
    lines = [style.line(SHOWN.names[place], SHOWN.texts[place]) for place in places]
    assert [text[start:end] for start, end in spans] == lines
    assert not spans or spans[-1][1] == len(text)
