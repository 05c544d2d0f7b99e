"""Text of a source cannot steer the terminal that shows it."""

from __future__ import annotations

import pytest

from jobs.plain import plain


@pytest.mark.flash
def test_of_a_text_all_that_steers_a_terminal_becomes_a_space() -> None:
    steering = "\x1b\x07\r\t\x85\x9b\u2028\u202e\u2066\u2069"
    assert plain(f"a{steering}b\nc\u200d") == f"a{' ' * len(steering)}b\nc\u200d"
