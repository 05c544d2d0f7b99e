"""The command that makes the ranker which comes with slatemill, and that what lies there is what it makes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import shipped as script
from test_commands import check

from jobs.config import load_profile, parse_profile
from models.shipped import shipped
from pipeline.synth.histories import history

pytestmark = pytest.mark.flash

RECIPE = parse_profile(script.profile(), "default.yaml")


@pytest.mark.parametrize("words", [*script.made("2"), *script.judged("locomo10.json", "3-5", "2")], ids=" ".join)
def test_each_of_its_commands_can_be_parsed(words):
    check(words)


def test_the_recipe_is_the_profile_of_its_name_but_for_how_the_ranker_is_fitted():
    assert RECIPE.model_copy(update={"ranker": load_profile("default").ranker}) == load_profile("default")
    assert {*RECIPE.ranker.rising, *RECIPE.ranker.falling} == set(RECIPE.learned_features)
    assert not set(RECIPE.ranker.rising) & set(RECIPE.ranker.falling)


def test_what_ships_was_made_by_the_recipe_as_it_stands():
    ranker = shipped(f"shipped/{script.PROFILE}")
    assert ranker.feature_names == RECIPE.learned_features
    assert ranker.params == RECIPE.ranker.params(1)
    generated = {
        "+".join(history(seed, index, sessions, requests)["question_id"])
        for seed, histories, sessions, requests in script.HISTORIES
        for index in range(histories)
    }
    assert generated == set(ranker.seen_histories)
