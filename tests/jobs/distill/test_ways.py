from __future__ import annotations

import numpy as np
import pytest

from jobs.config import load_profile
from jobs.distill.ways import LAMBDARANK, POINTWISE, TOLD, WAYS, labels_of, params_of
from models.ranker import fit
from pipeline.features.directions import directions
from pipeline.features.groups import Groups
from pipeline.features.taught import GAINS, Taught, grades

pytestmark = pytest.mark.flash

LEXICAL = load_profile("lexical")


def taught(groups: int = 30, size: int = 20) -> Taught:
    """The teacher's score is ten times the first feature, with noise."""
    generator = np.random.default_rng(0)
    matrix = generator.random((groups * size, len(LEXICAL.learned_features))).astype(np.float32)
    scores = np.clip(10 * matrix[:, 0] + generator.normal(size=len(matrix)), 0, 10)
    names = [f"h{group}" for group in range(groups)]
    return Taught(Groups(matrix, grades(scores), np.full(groups, size), names, names, 0, 0), scores, 0, 0)


@pytest.mark.parametrize("way", [POINTWISE, LAMBDARANK])
def test_a_ranker_learns_the_order_of_the_teacher(way):
    found = taught()
    params = params_of(way, LEXICAL, found).model_copy(update={"rising": (), "falling": (), "trees": 50})
    groups = labels_of(way, LEXICAL, found)
    ranker = fit(groups.matrix, groups.relevance, groups.group_sizes, LEXICAL.learned_features, params)
    scores = ranker.score(groups.matrix, LEXICAL.learned_features)
    assert np.corrcoef(scores, found.scores)[0, 1] > 0.8
    if way == POINTWISE:
        assert abs(scores.mean() - found.scores.mean()) < 0.5, "it predicts the scores themselves"


def test_pointwise_learns_scores_and_lambdarank_grades_with_their_gains():
    found = taught()
    assert labels_of(POINTWISE, LEXICAL, found).relevance is found.scores
    assert labels_of(LAMBDARANK, LEXICAL, found).relevance is found.groups.relevance
    pointwise, lambdarank = (params_of(way, LEXICAL, found) for way in (POINTWISE, LAMBDARANK))
    assert (pointwise.objective, pointwise.gains) == ("regression", ())
    assert (lambdarank.objective, lambdarank.gains) == ("lambdarank", GAINS)
    assert lambdarank.lightgbm(LEXICAL.learned_features)["label_gain"] == list(GAINS)
    assert "label_gain" not in pointwise.lightgbm(LEXICAL.learned_features)


def test_the_card_has_words_for_every_way():
    assert set(TOLD) == set(WAYS)


def test_relevance_never_counts_against_a_candidate_unless_the_profile_says_otherwise():
    found = taught()
    params = params_of(POINTWISE, LEXICAL, found)
    assert (params.rising, params.falling) == directions(LEXICAL.learned_features)
    own = LEXICAL.ranker.model_copy(update={"rising": ("n_tokens",)})
    said = params_of(POINTWISE, LEXICAL.model_copy(update={"ranker": own}), found)
    assert (said.rising, said.falling) == (("n_tokens",), ())
