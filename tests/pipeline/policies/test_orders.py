from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from pipeline.features.registry import AGENTMEMREC
from pipeline.policies.orders import (
    PolicyError,
    channel_order,
    cross_encoder_order,
    lambdarank_order,
    oracle_order,
    ranking_candidates,
    ranking_order,
    recall_order,
)

pytestmark = pytest.mark.flash

POSITIONS = [1, 2, 3, 4]


def features(**columns) -> pl.DataFrame:
    empty = dict.fromkeys(AGENTMEMREC, [None] * 4)
    frame = pl.DataFrame({**empty, "pool_position": POSITIONS, **columns}, strict=False)
    return frame.with_columns(history_id=pl.lit("h"), request_id=pl.lit("q"))


class Fixed:
    identity = "fixed"
    feature_names = AGENTMEMREC

    def __init__(self, scores) -> None:
        self.scores = np.array(scores, np.float64)

    def score(self, features, names):
        assert np.isnan(features[:, names.index("cross_encoder")]).all()
        return self.scores


def test_recall_order_is_the_order_of_the_pool_and_has_no_score():
    ordered = recall_order(features())
    assert ordered.rows.tolist() == [0, 1, 2, 3]
    assert np.isnan(ordered.scores).all()


@pytest.mark.parametrize("channel", ["bm25", "dense", "yet_to_come"])
def test_any_channel_orders_by_its_rank_and_a_turn_without_one_comes_last(channel):
    columns = {f"{channel}_rank": [None, 7, 2, None], f"{channel}_score": [None, 0.5, 1.5, None]}
    ordered = channel_order(channel)(features(**columns))
    assert ordered.rows.tolist() == [2, 1, 0, 3]
    assert ordered.scores[[1, 2]].tolist() == [0.5, 1.5]


def test_a_channel_that_the_features_lack_is_refused():
    with pytest.raises(PolicyError, match="nobody_score"):
        channel_order("nobody")(features())


def test_the_cross_encoder_orders_by_its_score_and_a_turn_without_one_comes_last():
    assert cross_encoder_order(features(cross_encoder=[0.2, None, 0.9, 0.2])).rows.tolist() == [2, 0, 3, 1]


def test_lambdarank_breaks_ties_of_rounded_scores_by_pool_position():
    order = lambdarank_order(Fixed([0.5, 0.50000049, 0.7, 0.49999951]))
    ordered = order(features())
    assert ordered.rows.tolist() == [2, 0, 1, 3]
    assert ordered.scores.tolist() == [0.5, 0.5, 0.7, 0.5]


def test_the_oracle_takes_gold_first_and_then_the_order_of_the_pool():
    assert oracle_order(features(gold=[0.0, 1.0, 0.0, 1.0])).rows.tolist() == [1, 3, 0, 2]


RANKED = pl.DataFrame(
    {
        "request_id": ["q", "q", "q", "r"],
        "history_id": "h",
        "session_index": [2, 1, 1, 1],
        "turn_index": [0, 1, 0, 0],
        "score": [0.5, 0.50000049, 0.7, 0.1],
    },
    schema_overrides={"turn_index": pl.Int32},
)


def test_a_ranking_goes_by_its_scores_rounded_and_of_equal_ones_the_earlier_turn_comes_first():
    candidates = ranking_candidates(RANKED, RANKED)
    assert candidates.select("request_id", "session_index", "turn_index", "pool_position").rows() == [
        ("q", 1, 0, 1), ("q", 1, 1, 2), ("q", 2, 0, 3), ("r", 1, 0, 1),
    ]  # fmt: skip
    ordered = ranking_order(candidates)
    assert ordered.rows.tolist() == [0, 1, 2, 3]
    assert ordered.scores.tolist() == [0.7, 0.5, 0.5, 0.1]


def test_a_turn_that_the_run_does_not_give_to_the_request_is_no_candidate():
    candidates = ranking_candidates(RANKED, RANKED.filter(session_index=2))
    assert candidates.select("session_index", "pool_position").rows() == [(2, 1)]


def test_requests_that_share_an_id_are_ordered_apart():
    both = features(bm25_rank=[2, 1, 2, 1]).with_columns(
        history_id=pl.Series(["h", "h", "i", "i"]), pool_position=pl.Series([1, 2, 1, 2])
    )
    assert channel_order("bm25")(both).rows.tolist() == [1, 0, 3, 2]
