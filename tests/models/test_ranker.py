"""The LambdaRank: equal data gives equal bytes, features are matched by name and order, and it is kept as text."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from models.calibration import Calibration
from models.ranker import LightGBMRanker, RankerError, auc, best_trees, fit, ndcg_at, ndcg_by_group
from models.ranker_params import RankerParams

NAMES = ("good", "noise", "cross_encoder")
PARAMS = RankerParams(trees=20, min_data_in_leaf=2)


def training_data(seed: int = 0, groups: int = 40, rows: int = 8) -> dict[str, Any]:
    """Groups in which the first feature tells the relevant rows, the second nothing, and the third is missing."""
    rng = np.random.default_rng(seed)
    relevance = np.zeros((groups, rows), np.int32)
    relevance[np.arange(groups), rng.integers(rows, size=groups)] = 1
    good = relevance + rng.normal(0, 0.3, relevance.shape)
    matrix = np.stack([good, rng.normal(size=good.shape), np.full(good.shape, np.nan)], axis=-1)
    return {
        "matrix": matrix.reshape(-1, 3).astype(np.float32),
        "relevance": relevance.reshape(-1),
        "group_sizes": np.full(groups, rows),
        "feature_names": NAMES,
        "params": PARAMS,
    }


@pytest.fixture(scope="module")
def ranker() -> LightGBMRanker:
    return fit(**training_data(), seen_histories=["h2", "h1", "h2"], profile="agentmemrec")


@pytest.mark.flash
def test_it_learns_what_there_is_to_learn(ranker: LightGBMRanker) -> None:
    unseen = training_data(seed=1)
    scores = ranker.score(unseen["matrix"], NAMES)
    assert scores.dtype == np.float64
    assert auc(unseen["relevance"], scores) > 0.95
    assert ndcg_at(10, unseen["relevance"], scores, unseen["group_sizes"]) > 0.9


@pytest.mark.flash
def test_equal_data_gives_equal_bytes_and_other_data_others(ranker: LightGBMRanker) -> None:
    again = fit(**training_data(), seen_histories=["h1", "h2"], profile="agentmemrec")
    assert again.model_text == ranker.model_text
    assert again.identity == ranker.identity
    assert fit(**training_data(seed=1)).identity != ranker.identity


@pytest.mark.flash
def test_its_identity_changes_with_what_decides_the_scores_and_with_nothing_else(ranker: LightGBMRanker) -> None:
    trees, end, rest = ranker.model_text.partition("end of trees")
    for same in (
        replace(ranker, model_text=trees + end + rest.replace("[verbosity: -1]", "[verbosity: 1]")),
        replace(ranker, profile="another", seen_histories=("h3",), metrics={"a": 1.0}, card="# Card"),
        fit(**{**training_data(), "params": PARAMS.model_copy(update={"early_stopping_rounds": 9})}),
    ):
        assert same.identity == ranker.identity
    for other in (
        replace(ranker, model_text=trees.replace("leaf_value=", "leaf_value=1", 1) + end + rest),
        replace(ranker, feature_names=("good", "cross_encoder", "noise")),
        fit(**{**training_data(), "params": PARAMS.model_copy(update={"trees": 19})}),
    ):
        assert other.identity != ranker.identity


@pytest.mark.flash
def test_random_rows_and_features_are_the_same_for_one_seed() -> None:
    drawn = PARAMS.model_copy(update={"bagging_fraction": 0.5, "feature_fraction": 0.5})
    first, again = (fit(**{**training_data(), "params": drawn}).model_text for _ in range(2))
    assert first == again
    other = fit(**{**training_data(), "params": drawn.model_copy(update={"seed": 1})})
    assert other.model_text.partition("end of trees")[0] != first.partition("end of trees")[0]


@pytest.mark.flash
@pytest.mark.parametrize(("direction", "sign"), [("rising", 1), ("falling", -1)])
def test_a_score_only_rises_or_falls_with_the_features_that_are_named_so(direction: str, sign: int) -> None:
    data = training_data()
    grid = np.repeat(data["matrix"][:50], 30, axis=0)
    grid[:, 1] = np.tile(np.linspace(-4, 4, 30), 50)

    def steps(params: RankerParams) -> np.ndarray:
        found = fit(**{**data, "params": params}).score(grid, NAMES).reshape(50, 30)
        return sign * np.diff(found, axis=1)

    free = PARAMS.model_copy(update={"trees": 100, "min_data_in_leaf": 2})
    assert steps(free).min() < 0, "noise is learned from, both ways"
    assert steps(free.model_copy(update={direction: ("noise",)})).min() >= 0


def placed_data(seed: int = 0) -> dict[str, Any]:
    """As training_data, with a place in the order of recall, which knows nothing, in place of the second feature."""
    data = training_data(seed)
    rng = np.random.default_rng(seed)
    data["matrix"][:, 1] = np.concatenate([rng.permutation(8) + 1 for _ in range(40)])
    return {**data, "feature_names": ("good", "pool_position", "cross_encoder")}


HELD = PARAMS.model_copy(update={"prior": 1.0})


@pytest.mark.flash
def test_a_prior_holds_to_the_order_of_recall_which_trees_correct() -> None:
    data = placed_data()
    names, position = data["feature_names"], data["matrix"][:, 1]
    strong, weak = (
        fit(**{**data, "params": PARAMS.model_copy(update={"prior": prior, "trees": trees})})
        for prior, trees in ((20.0, 1), (0.1, 60))
    )
    held = strong.score(data["matrix"], names).reshape(40, 8)
    np.testing.assert_array_equal(held.argsort(axis=1), (-position).reshape(40, 8).argsort(axis=1))
    corrected = weak.score(data["matrix"], names).reshape(40, 8)
    assert (corrected.argmax(axis=1) == data["relevance"].reshape(40, 8).argmax(axis=1)).mean() > 0.9


@pytest.mark.flash
def test_a_prior_is_part_of_the_identity_of_what_each_feature_adds_and_of_what_is_saved(tmp_path: Path) -> None:
    data = placed_data()
    held = fit(**{**data, "params": HELD})
    names, rows = data["feature_names"], data["matrix"]
    assert held.identity != replace(held, params=PARAMS).identity
    added = held.contributions(rows, names)
    np.testing.assert_allclose(added.sum(axis=1), held.score(rows, names), rtol=0, atol=1e-6)
    held.save(tmp_path)
    loaded = LightGBMRanker.load(tmp_path)
    assert loaded.identity == held.identity
    np.testing.assert_array_equal(loaded.score(rows, names), held.score(rows, names))
    about = json.loads((tmp_path / "ranker.json").read_text())
    about["params"]["prior"] = 2.0
    (tmp_path / "ranker.json").write_text(json.dumps(about))
    with pytest.raises(RankerError, match="one was changed"):
        LightGBMRanker.load(tmp_path)


@pytest.mark.flash
def test_a_prior_is_nothing_where_the_place_in_the_order_of_recall_is_no_feature() -> None:
    data = training_data()
    assert (
        fit(**{**data, "params": HELD}).model_text.partition("end of trees")[0]
        == (fit(**data).model_text.partition("end of trees")[0])
    )


@pytest.mark.flash
def test_the_best_number_of_trees_is_found_with_the_prior_on_both_sides() -> None:
    learned, judged = (
        (part["matrix"], part["relevance"], part["group_sizes"]) for part in (placed_data(), placed_data(7))
    )
    names = placed_data()["feature_names"]
    params = HELD.model_copy(update={"trees": 40, "early_stopping_rounds": 40})
    ranked = [
        ndcg_at(10, judged[1], fit(*learned, names, of_size(params, count)).score(judged[0], names), judged[2])
        for count in range(1, 41)
    ]
    assert ranked[best_trees(learned, judged, names, params) - 1] == pytest.approx(max(ranked), abs=1e-9)


def of_size(params: RankerParams, trees: int) -> RankerParams:
    return params.model_copy(update={"trees": trees})


@pytest.mark.flash
def test_the_best_number_of_trees_is_where_other_groups_are_ranked_best() -> None:
    data, other = training_data(), training_data(seed=7)
    learned, judged = ((part["matrix"], part["relevance"], part["group_sizes"]) for part in (data, other))
    stopping = PARAMS.model_copy(update={"trees": 100, "early_stopping_rounds": 100})
    found = best_trees(learned, judged, NAMES, stopping)
    ranked = [
        ndcg_at(10, judged[1], fit(*learned, NAMES, of_size(stopping, count)).score(judged[0], NAMES), judged[2])
        for count in range(1, 101)
    ]
    assert ranked[found - 1] == pytest.approx(max(ranked), abs=1e-9)
    assert best_trees(learned, judged, NAMES, stopping.model_copy(update={"early_stopping_rounds": 1})) <= found
    assert best_trees(learned, judged, NAMES, PARAMS) == PARAMS.trees


@pytest.mark.flash
@pytest.mark.parametrize("names", [("noise", "good", "cross_encoder"), ("good", "noise"), ("good", "noise", "other")])
def test_features_of_other_names_or_order_are_refused(ranker: LightGBMRanker, names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"fitted on other features.*good, noise, cross_encoder"):
        ranker.score(np.zeros((1, len(names)), np.float32), names)


@pytest.mark.flash
def test_no_rows_have_no_scores_and_a_wrong_width_is_refused(ranker: LightGBMRanker) -> None:
    assert ranker.score(np.zeros((0, 3), np.float32), NAMES).shape == (0,)
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        ranker.score(np.zeros((2, 2), np.float32), NAMES)


@pytest.mark.flash
def test_contributions_and_the_base_add_up_to_the_score_whatever_is_missing(ranker: LightGBMRanker) -> None:
    rows = training_data(seed=6)["matrix"]
    rows[::3, 0] = np.nan
    added = ranker.contributions(rows, NAMES)
    assert added.shape == (len(rows), 4)
    np.testing.assert_allclose(added.sum(axis=1), ranker.score(rows, NAMES), rtol=0, atol=1e-6)
    assert np.ptp(added[:, 3]) == 0
    assert not added[:, 2].any(), "the third was missing in training"
    assert np.abs(added[:, 0]).mean() > np.abs(added[:, 1]).mean() > 0


@pytest.mark.flash
def test_contributions_of_no_rows_are_none_and_other_features_are_refused(ranker: LightGBMRanker) -> None:
    assert ranker.contributions(np.zeros((0, 3), np.float32), NAMES).shape == (0, 4)
    with pytest.raises(ValueError, match="fitted on other features"):
        ranker.contributions(np.zeros((1, 3), np.float32), NAMES[::-1])


@pytest.mark.flash
def test_a_feature_that_was_missing_in_training_has_no_say(ranker: LightGBMRanker) -> None:
    rows = training_data(seed=2)["matrix"]
    filled = rows.copy()
    filled[:, 2] = 0.7
    np.testing.assert_array_equal(ranker.score(rows, NAMES), ranker.score(filled, NAMES))
    assert ranker.importances()["split"]["cross_encoder"] == 0
    assert ranker.importances()["gain"]["good"] > ranker.importances()["gain"]["noise"]


@pytest.mark.flash
def test_a_row_s_score_does_not_depend_on_the_others(ranker: LightGBMRanker) -> None:
    rows = training_data(seed=3)["matrix"]
    order = np.random.default_rng(0).permutation(len(rows))
    np.testing.assert_array_equal(ranker.score(rows, NAMES)[order], ranker.score(rows[order], NAMES))


@pytest.mark.flash
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"group_sizes": np.full(39, 8)}, "group sizes add up to 312, the matrix has 320 rows"),
        ({"group_sizes": np.array([320, 0])}, "groups have 0 to 320 rows"),
        ({"relevance": np.zeros(320, np.int32)}, "nothing to learn"),
        ({"relevance": np.full(320, 31)}, "integers from 0 to 30"),
        ({"relevance": np.full(320, 0.5)}, "integers from 0 to 30"),
        ({"relevance": np.ones(319, np.int32)}, "relevance has shape"),
        ({"feature_names": ("good", "good", "cross_encoder")}, "repeat"),
        ({"feature_names": ("good", "noise")}, "one column a feature"),
        ({"matrix": np.full((320, 3), np.inf, np.float32)}, "infinite: good, noise, cross_encoder"),
        ({"matrix": np.zeros((0, 3), np.float32), "relevance": np.zeros(0, np.int32)}, "no candidates"),
    ],
)
def test_what_lightgbm_would_take_in_silence_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(**{**training_data(), **change})


@pytest.mark.flash
def test_a_group_over_lightgbm_s_limit_is_refused() -> None:
    rows = 10_001
    with pytest.raises(ValueError, match="takes 1 to 10000"):
        fit(np.zeros((rows, 1), np.float32), np.ones(rows, np.int32), np.array([rows]), ["a"], PARAMS)


@pytest.mark.flash
def test_saved_and_loaded_it_is_the_same(ranker: LightGBMRanker, tmp_path: Path) -> None:
    scored = replace(ranker, scored_by=("0123456789abcdef",))
    measured = replace(scored, metrics={"holdout_auc": 0.7, "holdout_ndcg_10": math.nan})
    measured.save(tmp_path / "out")
    loaded = LightGBMRanker.load(tmp_path / "out")
    assert loaded == replace(scored, metrics={"holdout_auc": 0.7})
    assert loaded.identity == ranker.identity
    assert (loaded.profile, loaded.seen_histories) == ("agentmemrec", ("h1", "h2"))
    rows = training_data(seed=4)["matrix"]
    np.testing.assert_array_equal(loaded.score(rows, NAMES), ranker.score(rows, NAMES))
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["model.txt", "ranker.json"]
    assert (tmp_path / "out" / "model.txt").read_text().startswith("tree\n"), "LightGBM's own text, no pickle"


@pytest.mark.flash
def test_a_calibration_is_kept_and_part_of_the_identity(ranker: LightGBMRanker, tmp_path: Path) -> None:
    calibrated = replace(ranker, calibration=Calibration(slope=0.5, intercept=-1.25))
    other = replace(ranker, calibration=Calibration(slope=0.5, intercept=-1.5))
    assert len({ranker.identity, calibrated.identity, other.identity}) == 3
    calibrated.save(tmp_path)
    assert LightGBMRanker.load(tmp_path) == calibrated
    assert LightGBMRanker.load(tmp_path).calibration == Calibration(slope=0.5, intercept=-1.25)
    path = tmp_path / "ranker.json"
    path.write_text(path.read_text().replace("-1.25", "-2.25"))
    with pytest.raises(RankerError, match="one was changed"):
        LightGBMRanker.load(tmp_path)


def test_its_card_lies_beside_it_and_an_older_one_s_does_not_stay(ranker: LightGBMRanker, tmp_path: Path) -> None:
    replace(ranker, card="# Über\n").save(tmp_path)
    assert (tmp_path / "card.md").read_text(encoding="utf-8") == "# Über\n"
    assert LightGBMRanker.load(tmp_path).card == "# Über\n"
    ranker.save(tmp_path)
    assert LightGBMRanker.load(tmp_path).card == ""


@pytest.mark.flash
def test_pickled_after_scoring_it_carries_text_and_scores_the_same(ranker: LightGBMRanker) -> None:
    rows = training_data(seed=5)["matrix"]
    scores = ranker.score(rows, NAMES)
    copy = pickle.loads(pickle.dumps(ranker))
    assert "_booster" not in copy.__dict__
    np.testing.assert_array_equal(copy.score(rows, NAMES), scores)


@pytest.mark.flash
def test_a_folder_without_a_ranker_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(RankerError, match=r"model\.txt is missing.*slatemill train --out"):
        LightGBMRanker.load(tmp_path)


@pytest.mark.flash
@pytest.mark.parametrize("file", ["model.txt", "ranker.json"])
def test_a_changed_file_is_found_out(ranker: LightGBMRanker, tmp_path: Path, file: str) -> None:
    ranker.save(tmp_path)
    path = tmp_path / file
    path.write_text(path.read_text().replace("noise", "n0ise"))
    with pytest.raises(RankerError, match="one was changed"):
        LightGBMRanker.load(tmp_path)


@pytest.mark.flash
def test_a_foreign_or_newer_description_is_an_error(ranker: LightGBMRanker, tmp_path: Path) -> None:
    ranker.save(tmp_path)
    about = json.loads((tmp_path / "ranker.json").read_text())
    (tmp_path / "ranker.json").write_text(json.dumps({**about, "format_version": 99}))
    with pytest.raises(RankerError, match="format 99"):
        LightGBMRanker.load(tmp_path)
    (tmp_path / "ranker.json").write_text("{}")
    with pytest.raises(RankerError, match="that can be read"):
        LightGBMRanker.load(tmp_path)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 3), st.floats(-1, 1)), min_size=2, max_size=15), min_size=1, max_size=6)
)
def test_ndcg_is_that_of_scikit_learn(groups: list[list[tuple[int, float]]]) -> None:
    distinct = [[(gain, score + 10 * place) for place, (gain, score) in enumerate(group)] for group in groups]
    expected = [
        ndcg_score([[2**gain - 1 for gain, _ in group]], [[score for _, score in group]], k=10)
        for group in distinct
        if any(gain for gain, _ in group)
    ]
    rows = [row for group in distinct for row in group]
    relevance, scores = np.array([gain for gain, _ in rows]), np.array([score for _, score in rows])
    found = ndcg_at(10, relevance, scores, np.array([len(group) for group in groups]))
    assert found == pytest.approx(np.mean(expected)) if expected else math.isnan(found)


@pytest.mark.flash
def test_ndcg_by_group_is_not_a_number_where_nothing_is_relevant() -> None:
    found = ndcg_by_group(10, np.array([0, 0, 0, 1]), np.array([0.1, 0.2, 0.3, 0.2]), np.array([2, 2]))
    assert math.isnan(found[0])
    assert found[1] == pytest.approx(1 / math.log2(3))


@pytest.mark.flash
def test_auc_without_both_kinds_is_not_a_number() -> None:
    assert math.isnan(auc(np.ones(3, np.int32), np.arange(3.0)))
    assert auc(np.array([0, 1, 0, 2]), np.array([0.1, 0.9, 0.2, 0.8])) == 1.0


@pytest.mark.flash
def test_a_regression_takes_any_label_from_0_on_and_an_order_only_integers_that_have_a_gain():
    matrix = np.arange(40, dtype=np.float32)[:, None]
    sizes = np.array([20, 20])
    numbers = np.linspace(0, 10, 40)
    regression = RankerParams(objective="regression", trees=20, min_data_in_leaf=1)
    ranker = fit(matrix, numbers, sizes, ["a"], regression)
    assert np.corrcoef(ranker.score(matrix, ["a"]), numbers)[0, 1] > 0.95
    assert best_trees((matrix, numbers, sizes), (matrix, numbers, sizes), ["a"], regression) == 20
    with pytest.raises(ValueError, match="relevance must be numbers from 0 on"):
        fit(matrix, numbers - 1, sizes, ["a"], regression)
    with pytest.raises(ValueError, match="integers from 0 to 30"):
        fit(matrix, numbers, sizes, ["a"], RankerParams(trees=1))
    with pytest.raises(ValueError, match="integers from 0 to 4"):
        fit(matrix, np.arange(40) % 6, sizes, ["a"], RankerParams(trees=1, gains=(0, 1, 3, 7, 15)))


@pytest.mark.flash
def test_the_cross_entropy_takes_probabilities_and_a_score_is_the_logarithm_of_the_odds():
    matrix = np.repeat(np.arange(4, dtype=np.float32), 50)[:, None]
    sizes, likely = np.array([100, 100]), np.repeat([0.02, 0.1, 0.5, 0.9], 50)
    params = RankerParams(objective="cross_entropy", trees=300, learning_rate=0.1, min_data_in_leaf=1)
    ranker = fit(matrix, likely, sizes, ["a"], params)
    scores = ranker.score(matrix, ["a"])
    assert 1 / (1 + np.exp(-scores)) == pytest.approx(likely, abs=0.01)
    assert ranker.contributions(matrix, ["a"]).sum(axis=1) == pytest.approx(scores)
    with pytest.raises(ValueError, match="probabilities from 0 to 1"):
        fit(matrix, likely + 0.2, sizes, ["a"], params)
