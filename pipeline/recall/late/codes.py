"""Token vectors as small integers: a scale for each vector, and products that are exact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LEVELS = 127
"""Largest absolute value of a code."""

_EXACT = 1 << 24
"""Below this every integer is a float32."""


class Codes(NamedTuple):
    """Vectors as `values * scales[:, None]`: values int8 of shape (n, dim), scales float32 of shape (n,)."""

    values: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]


def encode(vectors: npt.NDArray[np.floating]) -> Codes:
    """The nearest codes of vectors, shape (n, dim); a vector of zeros has scale 0."""
    largest = np.abs(vectors).max(axis=1, initial=0.0).astype(np.float32)
    scales = largest / np.float32(LEVELS)
    safe = np.where(scales > 0, scales, np.float32(1))
    values = np.clip(np.rint(vectors / safe[:, None]), -LEVELS, LEVELS)  # the least floats have no exact 127th
    return Codes(values.astype(np.int8), scales)


def decode(codes: Codes) -> npt.NDArray[np.float32]:
    """The vectors that codes stand for, shape (n, dim)."""
    return codes.values.astype(np.float32) * codes.scales[:, None]


def products(left: Codes, right: Codes) -> npt.NDArray[np.float32]:
    """Inner products, shape (len(left), len(right)).

    The sums are of integers that float32 (float64 above 1,040 dimensions) holds without rounding, so no value depends
    on the order of summation, on the machine, or on which other vectors are there.
    """
    dim = left.values.shape[1]
    sums: npt.NDArray[np.floating]
    if dim * LEVELS * LEVELS < _EXACT:
        sums = left.values.astype(np.float32) @ right.values.astype(np.float32).T
    else:
        sums = left.values.astype(np.float64) @ right.values.astype(np.float64).T
    return np.asarray(sums * left.scales[:, None] * right.scales, np.float32)
