"""Presets of the ranker, and what a profile changes of them."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from jobs.config import load_profile
from models.ranker_params import LARGE_FROM, PRESETS, RankerOptions, RankerParams

pytestmark = pytest.mark.flash


def test_the_profile_agentmemrec_keeps_its_recipe_whatever_the_data():
    for groups in (1, LARGE_FROM, 10**6):
        params = load_profile("agentmemrec").ranker.params(groups)
        assert (params.num_leaves, params.trees, params.learning_rate) == (31, 300, 0.05)
        assert params.early_stopping_rounds == 0
        assert params == RankerParams()


def test_the_recipe_gives_the_trees_that_lightgbm_gives_for_it_alone():
    import lightgbm

    from models.ranker import fit

    rng = np.random.default_rng(0)
    relevance = np.tile([1, 0, 0, 0, 0, 0, 0, 0], 60)
    matrix = (relevance[:, None] + rng.normal(size=(480, 2))).astype(np.float32)
    recipe = {"objective": "lambdarank", "num_leaves": 31, "learning_rate": 0.05}
    same_bits = {"deterministic": True, "force_row_wise": True, "num_threads": 1, "seed": 0, "verbosity": -1}
    data = lightgbm.Dataset(matrix, relevance, group=np.full(60, 8), feature_name=["a", "b"])
    plain = lightgbm.train({**recipe, **same_bits}, data, 300)
    ours = fit(matrix, relevance, np.full(60, 8), ("a", "b"), RankerParams())
    assert ours.model_text.partition("end of trees")[0] == plain.model_to_string().partition("end of trees")[0]


@pytest.mark.parametrize(("groups", "size"), [(1, "small"), (LARGE_FROM - 1, "small"), (LARGE_FROM, "large")])
def test_auto_goes_by_the_number_of_requests(groups, size):
    assert RankerOptions().params(groups) == PRESETS[size]
    assert RankerOptions(size="small").params(groups) == PRESETS["small"]


def test_what_a_profile_says_stands_and_the_rest_is_the_preset_s():
    params = RankerOptions(size="small", trees=40, lambda_l2=0).params(10)
    assert (params.trees, params.lambda_l2) == (40, 0)
    assert params.num_leaves == PRESETS["small"].num_leaves == 7


def test_the_features_that_a_ranker_learns_from_are_no_parameter_of_its_fit():
    assert RankerOptions(size="small", features=("a",)).params(10) == PRESETS["small"]


@pytest.mark.parametrize(
    "wrong", [{"features": []}, {"num_leaves": 1}, {"size": "huge"}, {"bagging_fraction": 0}, {"leaves": 7}]
)
def test_what_cannot_be_is_refused_when_the_profile_is_read(wrong):
    with pytest.raises(ValidationError):
        RankerOptions.model_validate(wrong)
