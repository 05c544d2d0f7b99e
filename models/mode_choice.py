"""The learned choice of a recovery mode: what units would gain over pieces, from what a call shows before either."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

Matrix = npt.NDArray[np.float64]

DECIMALS = 9
"""Of what is fitted: what two machines compute may differ below that, and it is part of a ranker's identity."""
RIDGE = 10.0
"""The weight of the penalty, in requests: signals are standardised, so that it is the same for all."""


class ModeChoice(BaseModel):
    """A linear estimate of the gain: intercept + sum of weights * (signals - mean) / scale.

    `modes` are those of the requests that it was fitted on: of others it says nothing.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    signals: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float
    modes: tuple[str, ...]

    def gain(self, values: Sequence[float]) -> float:
        """The share of evidence that unit recovery is expected to show beyond piece recovery, from -1 to 1 or so."""
        standard = (np.asarray(values) - self.mean) / self.scale
        return float(np.round(self.intercept + float(np.einsum("s,s->", standard, np.asarray(self.weights))), 6))


def fit_mode_choice(names: Sequence[str], values: Matrix, gain: Matrix, modes: Sequence[str]) -> ModeChoice:
    """Fits the estimate by ridge regression (Hoerl and Kennard 1970); the intercept is not penalised.

    `values` has shape (requests, len(names)), `gain` (requests,). Raises ValueError for shapes that do not fit and for
    values that are not finite.
    """
    if values.shape != (len(gain), len(names)) or not len(gain):
        raise ValueError(f"signals have shape {values.shape}, gains {gain.shape}: a row a request, a column a signal")
    if not (np.isfinite(values).all() and np.isfinite(gain).all()):
        raise ValueError("a signal or a gain is not finite")
    mean, spread = values.mean(axis=0), np.round(values.std(axis=0), DECIMALS)
    scale = np.where(spread > 0, spread, 1.0)
    standard = (values - mean) / scale
    penalised = standard.T @ standard + RIDGE * np.eye(len(names))
    weights = np.linalg.solve(penalised, standard.T @ (gain - gain.mean()))

    def rounded(numbers: Matrix) -> tuple[float, ...]:
        return tuple(np.round(numbers, DECIMALS).tolist())

    return ModeChoice(
        signals=tuple(names),
        mean=rounded(mean),
        scale=rounded(scale),
        weights=rounded(weights),
        intercept=round(float(gain.mean()), DECIMALS),
        modes=tuple(sorted(set(modes))),
    )
