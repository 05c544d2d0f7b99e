from __future__ import annotations

import re

import pytest

from models.calibration import Calibration
from pipeline.policies.adaptive_k import adaptive_k
from pipeline.policies.fill import greedy
from pipeline.policies.orders import PolicyError
from pipeline.policies.registry import CROSS_ENCODER, channel_of, known_policies, needs_ranker, policies_of, why_unknown

pytestmark = pytest.mark.flash


class Calibrated:
    feature_names = ()
    calibration = Calibration(slope=1.0, intercept=0.0)


class Uncalibrated:
    feature_names = ("age_days", "bm25_rank")
    calibration = None


def test_every_channel_of_a_profile_is_a_policy_whatever_it_is_called():
    known = known_policies(["bm25", "late_interaction"], with_cross_encoder=False)
    assert {"bm25_order", "late_interaction_order", "recall_order", "knapsack", "oracle"} <= set(known)
    assert CROSS_ENCODER not in known
    assert CROSS_ENCODER in known_policies(["bm25"], with_cross_encoder=True)


def test_the_channel_of_a_policy_is_told_by_its_name():
    names = ["bm25_window_order", "recall_order", CROSS_ENCODER, "lambdarank", "mem0"]
    assert [channel_of(name) for name in names] == ["bm25_window", None, None, None, None]


@pytest.mark.parametrize("with_cross_encoder", [True, False])
def test_what_is_known_can_be_used(with_cross_encoder):
    known = known_policies(["bm25", "dense"], with_cross_encoder)
    assert tuple(policies_of(known, Calibrated(), ())) == known


def test_policies_of_the_ranker_share_its_order_and_differ_in_their_fill():
    found = policies_of(["lambdarank", "recall_order", "adaptive_k", "knapsack"], Calibrated(), ())
    learned = [policy for name, policy in found.items() if needs_ranker(name)]
    assert len({policy.order for policy in learned}) == 1
    assert len({policy.fill for policy in learned}) == 3
    assert (found["lambdarank"].fill, found["adaptive_k"].fill) == (greedy, adaptive_k)
    assert found["recall_order"].order != learned[0].order


def test_the_knapsack_is_refused_for_a_ranker_without_a_calibration():
    with pytest.raises(PolicyError, match=r"knapsack.*no calibration.*slatemill train"):
        policies_of(["lambdarank", "knapsack"], Uncalibrated(), ("bm25_rank", "age_days"))


def test_a_ranker_of_other_features_is_refused_with_those_that_are_lacking():
    with pytest.raises(PolicyError, match=r"fitted on features .*: bm25_rank\. Train one"):
        policies_of(["lambdarank"], Uncalibrated(), ("pool_position", "age_days"))


def test_a_policy_that_there_is_not_is_refused():
    with pytest.raises(PolicyError, match=r"policy nobody cannot be used: there are .*adaptive_k"):
        policies_of(["nobody"], None, ())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("knapsak", "unknown policy knapsak; did you mean knapsack"),
        ("dens_order", "needs the channel dens .*did you mean dense_order"),
        (CROSS_ENCODER, "needs a cross-encoder"),
    ],
)
def test_what_is_unknown_is_said_with_the_nearest_and_with_all_there_are(name, said):
    known = known_policies(["bm25", "dense"], with_cross_encoder=False)
    message = why_unknown(name, known)
    assert re.search(said, message)
    assert all(policy in message for policy in known)
