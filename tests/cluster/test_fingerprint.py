"""A fingerprint is one value for one meaning, on every machine, and refuses what has none."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.fingerprint import FingerprintError, fingerprint

LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.flash
@given(LITERALS)
def test_key_order_does_not_matter_and_the_result_is_a_sha256(value: Any) -> None:
    first = fingerprint({"a": value, "b": 1})
    assert first == fingerprint({"b": 1, "a": value})
    assert len(first) == 64


@pytest.mark.flash
def test_every_difference_shows() -> None:
    values = [None, True, 1, 1.0, "1", [1], [[1]], [1, 1], {"1": 1}, "", [], {}, False, 0, -0.0, 0.0, math.inf]
    assert len({fingerprint(value) for value in values}) == len(values)


@pytest.mark.flash
def test_a_tuple_is_a_list_and_a_lone_surrogate_is_text() -> None:
    assert fingerprint((1, (2,))) == fingerprint([1, [2]])
    assert fingerprint("\ud800") != fingerprint("\ud801")


@pytest.mark.flash
@pytest.mark.parametrize(
    "odd", [math.nan, object(), len, {1}, Path("x"), np.float64(1), np.int64(1), b"x", {1: 2}, float], ids=repr
)
def test_what_has_no_literal_form_is_refused_with_its_place(odd: Any) -> None:
    with pytest.raises(FingerprintError, match=r"config\.recall\.k\[1\]"):
        fingerprint({"config": {"recall": {"k": [0, odd]}}})
