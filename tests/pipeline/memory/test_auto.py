"""The policy auto: units or pieces, as the ranker's choice of modes says; and what it goes by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from noted import COUNTER, request, said, stored

from models.interfaces import ModeChoice
from pipeline.memory.options import MemoryOptions
from pipeline.memory.signals import SIGNALS, signals
from pipeline.memory.slates import AskedTables, calls, memory_slates
from pipeline.policies.orders import PolicyError
from pipeline.policies.slates import SlateOptions
from pipeline.schemas import features
from pipeline.units.cut import CutOptions

pytestmark = pytest.mark.flash
MEMORY = MemoryOptions(cut=CutOptions(reader_tokens=60, agent_tokens=60), piece_tokens=16, prompt_tokens=0)
OPTIONS = SlateOptions(("auto", "ranked_units", "ranked_pieces"), (150,))


class Fixed:
    signals = SIGNALS

    def __init__(self, gain: float, modes: tuple[str, ...] = ("reader",)) -> None:
        self._gain = gain
        self.modes = modes

    def gain(self, values: Any) -> float:
        assert len(values) == len(SIGNALS)
        assert np.isfinite(values).all()
        return self._gain


class ByPosition:
    """Ranks a pool as it is."""

    identity = "position"
    feature_names = ("pool_position",)
    calibration = None

    def __init__(self, mode_choice: ModeChoice | None) -> None:
        self.mode_choice = mode_choice

    def score(self, matrix: Any, names: Any) -> Any:
        return -matrix[:, 0].astype(np.float64)


def asked_of(mode: str = "reader") -> tuple[AskedTables, Any]:
    turns = [
        row
        for number in range(10)
        for row in said(
            number, f"I bought kite {number} in Oslo.", "A kite is fine!", f"It cost {number} euros.", "Well."
        )
    ]
    made = stored([turns], [request("What did kite 4 cost in Oslo?", mode=mode)], MEMORY)
    schema = features(())
    own: pa.Table = made.asked.pools.select(schema.names)
    return AskedTables(made.asked.requests, made.asked.pools, own, made.asked.request_vectors), made.noted


def slates(choice: ModeChoice | None, mode: str = "reader") -> dict[str, str]:
    asked, noted = asked_of(mode)
    made = memory_slates(asked, noted, OPTIONS, MEMORY, COUNTER, ByPosition(choice))
    return {row["policy"]: row["text"] for row in made.to_pylist()}


def test_it_takes_units_where_they_are_expected_to_gain_and_else_pieces() -> None:
    gaining, losing = slates(Fixed(0.1)), slates(Fixed(-0.1))
    assert gaining["ranked_units"] != gaining["ranked_pieces"]
    assert gaining["auto"] == gaining["ranked_units"]
    assert losing["auto"] == losing["ranked_pieces"]


def test_of_a_mode_that_it_has_not_learned_from_it_takes_what_is_usual() -> None:
    of_agent = slates(Fixed(-0.1), mode="agent")
    assert of_agent["auto"] == of_agent["ranked_units"]
    of_reader = slates(Fixed(0.1, modes=("agent",)))
    assert of_reader["auto"] == of_reader["ranked_pieces"]


def test_a_ranker_that_has_not_learned_to_choose_is_refused() -> None:
    with pytest.raises(PolicyError, match="policy auto cannot be used"):
        slates(None)


def test_signals_are_finite_and_of_the_scale_that_they_say() -> None:
    asked, noted = asked_of()
    for call, _ in calls(asked, noted, SlateOptions((), (100, 400)), MEMORY, COUNTER, None):
        told = dict(zip(SIGNALS, signals(call), strict=True))
        assert np.isfinite(list(told.values())).all()
        assert np.exp(told["allowance"]) == pytest.approx(call.allowance)
        assert told["request_terms"] == len(call.query) > 0
        for name in ("terms_of_best_piece", "second_unit_by_bm25", "units_of_best_pieces", "second_unit_by_turns"):
            assert 0 <= told[name] <= 1
