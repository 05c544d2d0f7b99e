from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.tokens import token_counter
from pipeline.render.style import STYLES

pytestmark = pytest.mark.flash
COUNTER = token_counter("o200k_base")
TIME = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


@given(st.none() | st.datetimes(timezones=st.just(UTC)), st.integers(1, 10_000))
def test_a_dated_header_is_one_line_of_at_most_19_tokens(time, ordinal):
    header = STYLES["dated"].header(ordinal, time)
    assert "\n" not in header
    assert COUNTER.count("\n" + header + "\n") <= 19


def test_the_dated_header_reads_well():
    assert STYLES["dated"].header(3, TIME) == "# 8 May 2023, 13:56"
    assert STYLES["dated"].header(3, None) == "# undated"


def test_the_longmemeval_header_is_that_of_its_reader():
    assert STYLES["longmemeval"].header(2, TIME) == (
        "### Session 2:\nSession Date: 2023/05/08 (Mon) 13:56\nSession Content:"
    )
