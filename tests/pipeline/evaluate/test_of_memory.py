"""What is measured of memory has a name for each value."""

from __future__ import annotations

import pytest

from pipeline.evaluate.bootstrap import Estimate
from pipeline.evaluate.displayed import Displayed
from pipeline.evaluate.of_memory import NOTHING, OfMemory
from pipeline.evaluate.paired import Difference
from pipeline.evaluate.resolutions import Tokens
from pipeline.evaluate.reuse import Reuse
from pipeline.evaluate.summary import Summary

pytestmark = pytest.mark.flash
HALF, NONE = Estimate(0.5, 0.4, 0.6), Estimate()
MEASURED = OfMemory(
    tokens=(Tokens("p", 900, 2, 1.0, 2.0, 3.0, 4.0),),
    pair=("p", "q"),
    best_piece=(Difference("rank 2-5", 900, 900, 3, 1, 0.5, 0.0, HALF, HALF),),
    reuse=(Reuse("p", 900, 3, 1, 0, HALF, NONE),),
    displayed=(Displayed("p", 900, 3, 1, HALF, HALF, HALF),),
)


def test_every_value_is_a_metric_of_its_own_and_what_is_not_there_is_none() -> None:
    found = Summary((), 3, 3, 0, 0, 0, 100, 0, MEASURED).metrics()
    assert found == {
        "slates/p/900/record_tokens": 1.0,
        "slates/p/900/excerpt_tokens": 2.0,
        "slates/p/900/raw_tokens": 3.0,
        "slates/p/900/other_tokens": 4.0,
        "best piece rank 2-5/p less q/900/difference": 0.5,
        "agents/p/900/reuse": 0.5,
        "agents/p/900/displayed_sensitivity": 0.5,
        "agents/p/900/displayed_specificity": 0.5,
        "agents/p/900/displayed_balanced_accuracy": 0.5,
    }
    assert list(NOTHING.values()) == []


def test_all_of_it_is_in_the_numbers() -> None:
    told = Summary((), 3, 3, 0, 0, 0, 100, 0, MEASURED).as_dict()["memory"]
    assert told["best_piece"][0]["over_histories"]["value"] == 0.5
    assert (told["tokens"][0]["raw"], told["reuse"][0]["reuse_far"]["value"]) == (3.0, None)
