from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline.recall.late.codes import LEVELS, Codes, decode, encode, products

pytestmark = pytest.mark.flash


def drawn(n: int, dim: int, seed: int, extreme: bool = False) -> Codes:
    rng = np.random.default_rng(seed)
    values = rng.choice([-LEVELS, LEVELS], (n, dim)) if extreme else rng.integers(-LEVELS, LEVELS + 1, (n, dim))
    return Codes(values.astype(np.int8), rng.uniform(0, 0.01, n).astype(np.float32))


@settings(max_examples=30)
@given(st.sampled_from([1, 7, 384, 1024, 1040, 1041, 1500]), st.booleans(), st.integers(0, 2**31))
def test_products_are_those_of_the_integers_scaled(dim: int, extreme: bool, seed: int) -> None:
    left, right = drawn(3, dim, seed, extreme), drawn(4, dim, seed + 1, extreme)
    found = products(left, right)
    for i, a in enumerate(left.values.tolist()):
        for j, b in enumerate(right.values.tolist()):
            exact = sum(x * y for x, y in zip(a, b, strict=True))
            wide = np.float32 if dim * LEVELS * LEVELS < 2**24 else np.float64
            assert found[i, j] == np.float32(wide(exact) * left.scales[i] * right.scales[j])


@settings(max_examples=20)
@given(st.integers(1, 200), st.integers(1, 20), st.integers(0, 2**31))
def test_a_product_is_the_same_whatever_other_vectors_there_are(n_left: int, n_right: int, seed: int) -> None:
    left, right = drawn(n_left, 384, seed), drawn(n_right, 384, seed + 1)
    alone = products(Codes(left.values[-1:], left.scales[-1:]), Codes(right.values[-1:], right.scales[-1:]))
    assert products(left, right)[-1:, -1:].tobytes() == alone.tobytes()


@settings(max_examples=100)
@given(arrays(np.float32, (3, 5), elements=st.floats(-4, 4, width=32, allow_subnormal=True)))
def test_a_code_is_within_half_a_step_of_the_vector_and_the_largest_value_has_the_largest_code(
    vectors: np.ndarray,
) -> None:
    codes = encode(vectors)
    normal = codes.scales > 1e-37
    off = np.abs(decode(codes) - vectors)[normal]
    assert (off <= 0.5001 * codes.scales[normal, None]).all()
    assert (np.abs(codes.values[normal].astype(int)).max(axis=1, initial=0) == LEVELS).all()
    assert np.abs(codes.values.astype(int)).max() <= LEVELS
    assert (codes.scales[~vectors.any(axis=1)] == 0).all()


def test_no_vectors_have_no_codes() -> None:
    codes = encode(np.zeros((0, 5), np.float32))
    assert (codes.values.shape, codes.scales.shape) == ((0, 5), (0,))
    assert products(codes, drawn(2, 5, 0)).shape == (0, 2)
