"""A teacher in a run: what it rates, that its scores make slates, and that two teachers leave each other alone."""

from __future__ import annotations

import sys
from functools import partial

import polars as pl
import pytest
import teachers
from inside import LEXICAL, stored
from ray import cloudpickle
from teachers import Rater

from cluster import rayenv
from cluster.exits import NEEDS_BACKFILL
from cluster.lake import Lake
from cluster.report import RunReport
from cluster.stage import ModelSpec
from jobs.config import Profile
from jobs.graph import stages
from jobs.run import Resources, execute_stages
from jobs.teacher_stages import STAGE, Teacher, teacher_choice, teacher_stages
from models.interfaces import Answer
from pipeline.policies.orders import LLM_TOP, PolicyError
from pipeline.policies.registry import LLM_ORDER, known_policies
from pipeline.synth.histories import history

TOP = 5


class Taught(Profile):
    """A profile that has a teacher, and may name its policy."""

    @property
    def own_policies(self) -> tuple[str, ...]:
        return known_policies(self.recall.scored, with_cross_encoder=False, with_teacher=True)


def taught(*policies: str) -> Taught:
    values = LEXICAL.model_dump()
    return Taught.model_validate(values | {"slates": {"policies": policies, "budgets": [100, 900]}})


def last_digit_of_length(request: str, turn: str, prompt: object) -> Answer:
    return Answer(str(len(turn) % 10))


def shortest_first(request: str, turn: str, prompt: object) -> Answer:
    return Answer(str(max(0, 10 - len(turn) // 20)))


LENGTHS = Teacher("lengths", "lengths 1", ModelSpec("lengths", partial(Rater, last_digit_of_length)), TOP)
SHORTEST = Teacher("shortest", "shortest 1", ModelSpec("shortest", partial(Rater, shortest_first)), TOP)


@pytest.mark.flash
def test_a_profile_that_names_the_policy_needs_a_teacher() -> None:
    with pytest.raises(PolicyError, match="llm_order cannot be used: it goes by the scores of a teacher"):
        stages(taught(LLM_ORDER), "o200k_base")
    path = [stage.name for stage in stages(taught(LLM_ORDER), "o200k_base", None, LENGTHS)]
    assert path.index("pools") < path.index(STAGE) < path.index("slates")


@pytest.mark.flash
def test_slates_read_scores_only_where_a_policy_goes_by_them() -> None:
    assert teacher_stages(LEXICAL, None) == []
    with_it, without = (
        next(stage for stage in stages(taught(*policies), "o200k_base", None, LENGTHS) if stage.name == "slates")
        for policies in (("recall_order", LLM_ORDER), ("recall_order",))
    )
    assert with_it.inputs.keys() - without.inputs.keys() == {STAGE}


@pytest.mark.flash
def test_another_model_more_candidates_and_other_instructions_make_other_scores() -> None:
    (ours,), (theirs,) = (teacher_stages(LEXICAL, teacher) for teacher in (LENGTHS, SHORTEST))
    assert ours.choice == ("teacher", "lengths-lexical-top5")
    assert ours.choice != theirs.choice
    assert ours.identities[0] == "lengths 1"
    assert ours.identities[1].startswith("teacher-")
    assert ours.config == {"top": TOP}
    assert ours.costly


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    return stored(tmp_path_factory.mktemp("taught"), [history(seed=5, index=index, sessions=4) for index in range(4)])


def ran(lake: Lake, teacher: Teacher, *backfill: str) -> RunReport:
    profile = taught("recall_order", LLM_ORDER)
    path = stages(profile, lake.tokenizer, None, teacher)
    return execute_stages(lake, profile, path, Resources(workers=1, backfill=backfill), f"run-{teacher.model_id}")


def table(lake: Lake, name: str, choice: str) -> pl.DataFrame:
    return pl.read_parquet(f"{lake.url}/{name}/{choice}/*/*.parquet", hive_partitioning=False)


@pytest.mark.cluster
def test_a_run_rates_the_head_of_each_pool_and_two_teachers_live_side_by_side(lake) -> None:
    cloudpickle.register_pickle_by_value(teachers)  # workers do not know the folder of the tests' helpers
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with rayenv.session(workers=1):
        assert ran(lake, LENGTHS).exit_code == 0
        again = ran(lake, LENGTHS)
        assert not any(stage.done for stage in again.stages)
        scores = table(lake, STAGE, "teacher=lengths-lexical-top5")
        pools = table(lake, "pools", "profile=lexical")
        assert scores.height == pools.filter(pl.col("pool_position") <= TOP).height > 0
        _check_slates(lake, scores, pools)

        refused = ran(lake, SHORTEST)
        assert refused.exit_code == NEEDS_BACKFILL, "what another teacher has rated is rated again only when asked"
        assert ran(lake, SHORTEST, STAGE).exit_code == 0
        others = table(lake, STAGE, "teacher=shortest-lexical-top5")
        assert table(lake, STAGE, "teacher=lengths-lexical-top5").equals(scores)
        assert not others["score"].equals(scores["score"])
        _check_slates(lake, others, pools)


def _check_slates(lake: Lake, scores: pl.DataFrame, pools: pl.DataFrame) -> None:
    """The first of each slate is the one that is rated highest, then stands first in the pool."""
    key = ["history_id", "request_id", "session_index", "turn_index"]
    best = (
        scores.join(pools.select(*key, "pool_position"), on=key)
        .sort("score", "pool_position", descending=[True, False])
        .unique(key[:2], keep="first")
    )
    slates = table(lake, "slates", "profile=lexical").filter(policy=LLM_ORDER, budget=900)
    first = slates.drop("n_tokens").explode("items").unnest("items").filter(pl.col("rank") == 1)
    assert first.height == best.height
    assert sorted(first.select(*key, "score").rows()) == sorted(best.select(*key, "score").rows())


@pytest.mark.flash
def test_ratings_of_other_depths_lie_apart() -> None:
    at = {top: teacher_choice(Teacher("m", "m 1", LENGTHS.spec, top), LEXICAL) for top in (LLM_TOP, 16, None)}
    assert at == {
        LLM_TOP: ("teacher", "m-lexical"),
        16: ("teacher", "m-lexical-top16"),
        None: ("teacher", "m-lexical-topall"),
    }
