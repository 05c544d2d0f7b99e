"""A cross-encoder in a profile: what it gives each candidate, and when its scores are made anew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cross_encoders import TOPICS, trained_cross_encoder
from inside import ran, stored

from cluster import rayenv
from cluster.exits import NEEDS_BACKFILL
from cluster.lake import Lake
from cluster.report import RunReport
from jobs.config import Profile, parse_profile
from jobs.run import Resources, run
from models.cross_encoder import CrossEncoderScorer
from models.windowed import WindowedConfig

pytestmark = pytest.mark.cluster

MAX_TOKENS, TOP = 64, 3
PROFILE = """
name: {name}
embedder: null
recall: {{channels: [bm25]}}
cross_encoder: {{model: {model}, max_tokens: {max_tokens}, top: {top}}}
features: [pool_position, cross_encoder]
slates: {{policies: [recall_order, cross_encoder_order], budgets: [900]}}
"""
CANDIDATE = ["request_id", "session_index", "turn_index"]


@dataclass(frozen=True)
class Made:
    """A lake of one history that tells of every topic, and a profile with which it was run."""

    lake: Lake
    model: Path

    def profile(self, name: str = "crossed", top: int = TOP) -> Profile:
        return parse_profile(PROFILE.format(name=name, model=self.model, max_tokens=MAX_TOKENS, top=top), "p.yaml")

    def ran(self, profile: Profile, *backfill: str) -> RunReport:
        return run(self.lake, profile, Resources(workers=1, backfill=backfill), None, None)[0]

    def table(self, name: str, profile: str = "crossed") -> pl.DataFrame:
        return self.lake.scan(name, profile=profile).collect()


def done(report: RunReport) -> dict[str, int]:
    return {stage.name: stage.done for stage in report.stages if stage.done}


@pytest.fixture(scope="module", autouse=True)
def _one_ray():
    with rayenv.session(workers=1):
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Made:
    folder = tmp_path_factory.mktemp("made")
    told = [{"role": "user", "text": f"I keep my {topic}."} for topic in TOPICS]
    asked = [{"request_id": topic, "text": f"What did I say about the {topic}? I keep my"} for topic in TOPICS]
    history = {"history_id": "h", "sessions": [{"session_id": "s", "turns": told}], "requests": asked}
    lake = stored(folder, [history], "native")
    found = Made(lake, trained_cross_encoder(folder / "tiny"))
    ran(lake, found.profile())
    return found


def test_the_feature_is_the_sigmoid_of_the_score_of_the_head_of_each_pool_and_null_for_the_rest(made) -> None:
    candidates = made.table("features").sort("request_id", "pool_position")
    assert candidates.height == len(TOPICS) ** 2
    assert (candidates["cross_encoder"].is_null() == (candidates["pool_position"] > TOP)).all()
    scored = candidates.filter(pl.col("pool_position") <= TOP)
    asked = [f"What did I say about the {topic}? I keep my" for topic in scored["request_id"]]
    told = [f"I keep my {TOPICS[turn]}." for turn in scored["turn_index"]]
    scorer = CrossEncoderScorer(WindowedConfig(str(made.model), MAX_TOKENS))
    scores = scorer.score(asked, told, np.arange(len(asked))[:, None].repeat(2, axis=1))
    np.testing.assert_allclose(scored["cross_encoder"], 1 / (1 + np.exp(-scores.astype(np.float64))), rtol=1e-6)


def test_its_policy_puts_the_turn_first_that_it_scores_highest(made) -> None:
    best = (
        made.table("features")
        .sort("cross_encoder", descending=True, nulls_last=True)
        .unique("request_id", keep="first", maintain_order=True)
    )
    slates = made.table("slates").filter(policy="cross_encoder_order").drop("n_tokens").explode("items").unnest("items")
    first = slates.filter(pl.col("rank") == 1)
    assert sorted(first.select(CANDIDATE).rows()) == sorted(best.select(CANDIDATE).rows())


def test_another_profile_is_scored_unasked_and_what_is_stale_only_when_it_is_named(made) -> None:
    assert not done(made.ran(made.profile()))
    assert "cross_scores" in done(made.ran(made.profile("second")))
    before = made.table("cross_scores", "second").height
    wider = made.profile("second", top=4)
    refused = made.ran(wider)
    assert (refused.exit_code, done(refused)) == (NEEDS_BACKFILL, {})
    assert made.table("cross_scores", "second").height == before == TOP * len(TOPICS)
    assert set(done(made.ran(wider, "cross_scores"))) >= {"cross_scores", "features"}
    assert made.table("cross_scores", "second").height == 4 * len(TOPICS)
