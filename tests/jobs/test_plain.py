"""Text of a source cannot steer the terminal that shows it."""

from __future__ import annotations

import pytest

from jobs.plain import first_line, plain


@pytest.mark.flash
def test_of_a_text_all_that_steers_a_terminal_becomes_a_space() -> None:
    steering = "\x1b\x07\r\t\x85\x9b\u2028\u202e\u2066\u2069"
    assert plain(f"a{steering}b\nc\u200d") == f"a{' ' * len(steering)}b\nc\u200d"


@pytest.mark.flash
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        ("broken", "broken"),
        ("broken\n", "broken"),
        ("\nbro\x1bken\n  at 7", "bro ken ..."),
        ("a\r\nb", "a  ..."),
    ],
)
def test_of_a_reason_of_several_lines_the_first_is_said_and_that_more_follow(text, said) -> None:
    assert first_line(text) == said
