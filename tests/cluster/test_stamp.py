"""The parts of a stamp tell what has changed, and the note of them is small."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cluster.stamp import Cause, Parts, Reason, flat

pytestmark = pytest.mark.flash

PARTS = Parts(
    stage="pools",
    version=1,
    config={"recall": {"pool_size": 128, "channels": ["bm25"]}, "as_of": "arrival"},
    identities=("a model",),
    inputs={"turns": "1" * 64, "terms": "2" * 64},
    crashed="",
)


@pytest.mark.parametrize(
    ("changed", "reasons"),
    [
        ({}, ()),
        ({"version": 2}, (Reason(Cause.VERSION),)),
        (
            {"config": {"recall": {"pool_size": 64, "channels": ["bm25"]}, "as_of": "latest"}},
            (Reason(Cause.CONFIG, ("as_of", "recall.pool_size")),),
        ),
        (
            {"config": {"recall": {"channels": ["bm25"], "rrf_k": 60}, "as_of": "arrival"}},
            (Reason(Cause.CONFIG, ("recall.pool_size", "recall.rrf_k")),),
        ),
        ({"identities": ()}, (Reason(Cause.MODEL),)),
        ({"inputs": {"turns": "1" * 64, "terms": "3" * 64}}, (Reason(Cause.INPUT, ("terms",)),)),
        ({"inputs": {"turns": "1" * 64, "terms": "2" * 64, "units": "4" * 64}}, (Reason(Cause.INPUT, ("units",)),)),
        ({"inputs": {"turns": "1" * 64}}, ()),
        ({"crashed": "5" * 64}, (Reason(Cause.QUARANTINE),)),
        ({"version": 2, "crashed": "5" * 64}, (Reason(Cause.VERSION), Reason(Cause.QUARANTINE))),
    ],
)
def test_each_change_is_named_and_an_input_that_is_not_known_yet_is_none(changed, reasons):
    now = replace(PARTS, **changed)
    assert now.changes(PARTS.note()) == reasons
    assert (now.stamp == PARTS.stamp) == (not changed)


def test_a_file_without_a_note_has_changed_for_unknown_reasons():
    assert PARTS.changes("") == (Reason(Cause.UNKNOWN),)


def test_the_note_is_small_and_the_same_for_equal_parts():
    again = replace(PARTS, config={"as_of": "arrival", "recall": {"channels": ["bm25"], "pool_size": 128}})
    assert again.note() == PARTS.note()
    assert len(PARTS.note()) < 300


def test_inner_keys_are_named_with_their_outer_one():
    assert dict(flat({"a": {"b": {"c": 1}, "d": [2]}, "e": None})) == {"a.b.c": 1, "a.d": [2], "e": None}
