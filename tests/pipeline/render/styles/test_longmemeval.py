from __future__ import annotations

from datetime import UTC, datetime

import pytest

from models.tokens import token_counter
from pipeline.render.styles.longmemeval import longmemeval

pytestmark = pytest.mark.flash
TIME = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def test_the_longmemeval_header_is_that_of_its_reader():
    assert longmemeval(token_counter("o200k_base")).header(2, TIME, TIME) == (
        "### Session 2:\nSession Date: 2023/05/08 (Mon) 13:56\nSession Content:"
    )
