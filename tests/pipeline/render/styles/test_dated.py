from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.tokens import token_counter
from pipeline.render.styles.dated import dated

pytestmark = pytest.mark.flash
COUNTER = token_counter("o200k_base")
DATED = dated(COUNTER)
TIME = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


@given(st.none() | st.datetimes(timezones=st.just(UTC)), st.integers(1, 10_000))
def test_a_dated_header_is_one_line_of_at_most_19_tokens(time, ordinal):
    header = DATED.header(ordinal, time, None)
    assert "\n" not in header
    assert COUNTER.count("\n" + header + "\n") <= 19


def test_the_dated_header_reads_well():
    assert DATED.header(3, TIME, None) == "# 8 May 2023, 13:56"
    assert DATED.header(3, None, TIME) == "# undated"


def test_the_session_before_changes_no_header():
    assert DATED.header(2, TIME, TIME) == DATED.header(2, TIME, None)
