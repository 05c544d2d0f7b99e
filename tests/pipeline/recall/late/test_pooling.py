from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.recall.late.pooling import pooled

pytestmark = pytest.mark.flash


def unit(n: int, seed: int, dim: int = 8) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(n, dim))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@settings(max_examples=60)
@given(st.integers(0, 40), st.integers(1, 6), st.integers(0, 2**31))
def test_there_is_a_vector_of_unit_length_for_every_few(n: int, factor: int, seed: int) -> None:
    found = pooled(unit(n, seed), factor)
    assert found.shape == (math.ceil(n / factor), 8)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_alike_vectors_become_their_mean_and_others_stay() -> None:
    first, second = unit(2, 1)
    near = (first + 0.01 * second) / np.linalg.norm(first + 0.01 * second)
    found = pooled(np.stack([first, second, near]), 2)
    mean = (first + near) / np.linalg.norm(first + near)
    assert sorted(found.round(5).tolist()) == sorted(np.stack([mean, second]).round(5).tolist())


def test_equal_vectors_and_those_that_cancel_out_are_no_error() -> None:
    same = np.repeat(unit(1, 0), 8, axis=0)
    np.testing.assert_allclose(pooled(same, 4), same[: len(pooled(same, 4))], atol=1e-6)
    opposite = np.concatenate([same[:1], -same[:1]])
    assert pooled(opposite, 2).tolist() == [[0.0] * 8]
