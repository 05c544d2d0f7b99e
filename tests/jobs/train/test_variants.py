"""What an ablation leaves out, and which pool size is advised."""

from __future__ import annotations

import polars as pl
import pytest

from jobs.config import load_profile, parse_profile
from jobs.train.columns import channels_of, groups_of
from jobs.train.pool_sizes import pool_sizes, sizes_to_try
from jobs.train.variants import ablations, curve

pytestmark = pytest.mark.flash

TWO_ALIKE = """
name: alike
embedder: null
recall: {channels: [bm25, bm25_window]}
features: [pool_position, role, bm25_score, bm25_before, bm25_window_score, bm25_window_before]
slates: {policies: [recall_order]}
"""


@pytest.mark.parametrize("name", ["agentmemrec", "default", "lexical"])
def test_groups_part_the_features_of_a_profile(name):
    profile = load_profile(name)
    grouped = [feature for names in groups_of(profile).values() for feature in names]
    assert sorted(grouped) == sorted(profile.features)
    assert len(grouped) == len(set(grouped))


def test_a_channel_has_its_scores_of_neighbours_too_and_none_of_a_channel_whose_name_begins_like_its_own():
    assert channels_of(parse_profile(TWO_ALIKE, "here")) == {
        "bm25": ("bm25_score", "bm25_before"),
        "bm25_window": ("bm25_window_score", "bm25_window_before"),
    }


def test_variants_leave_out_a_group_keep_one_alone_and_leave_out_a_channel():
    profile = parse_profile(TWO_ALIKE, "here")
    found = {
        variant.name: variant.feature_names
        for variant in ablations(profile.features, groups_of(profile), channels_of(profile))
    }
    assert found["without context"] == ("pool_position", "role", "bm25_score", "bm25_window_score")
    assert found["only context"] == ("bm25_before", "bm25_window_before")
    assert found["without channel bm25"] == ("pool_position", "role", "bm25_window_score", "bm25_window_before")
    assert all(0 < len(kept) < len(profile.features) for kept in found.values())
    assert len(set(found.values())) == len(found), "what keeps the same is one variant"


def test_features_that_are_not_learned_from_are_in_no_variant_and_a_group_of_them_makes_none():
    groups = {"one": ("a",), "two": ("b",), "three": ("c",), "missing": ("d",)}
    found = ablations(("a", "b", "c"), groups, {"x": ("a", "d"), "y": ("a", "b")})
    assert {variant.name: variant.feature_names for variant in found} == {
        "without one": ("b", "c"),
        "without two": ("a", "c"),
        "without three": ("a", "b"),
        "only one": ("a",),
        "only two": ("b",),
        "only three": ("c",),
    }


def test_a_curve_is_of_all_features():
    assert [variant.share for variant in curve(("a", "b"))] == [0.25, 0.5, 0.75]
    assert {variant.feature_names for variant in curve(("a", "b"))} == {("a", "b")}


def outcomes(complete: dict[int, list[bool]], in_pool: dict[int, list[bool]]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "history_id": f"h{number}", "request_id": "r", "policy": f"pool {size}", "budget": 900, "kappa": 1,
                "pool_complete": in_pool[size][number], "slate_complete": flag,
            }
            for size, flags in complete.items()
            for number, flag in enumerate(flags)
        ]
    )  # fmt: skip


def test_a_smaller_pool_is_advised_where_it_is_better_beyond_doubt():
    whole = [True] * 40
    found = pool_sizes(outcomes({16: [True] * 30 + [False] * 10, 64: [False] * 40}, {16: whole, 64: whole}), [16, 64])
    assert found.advised == 16
    assert "pool_size 16 does better than the profile's 64: 0.750 against 0.000" in found.advice
    assert found.of(16, 900).r_rank.value == 0.75


def test_the_profile_s_pool_stays_where_a_smaller_one_is_better_by_chance():
    whole = [True] * 40
    one_more = {16: [True] * 21 + [False] * 19, 64: [True] * 20 + [False] * 20}
    found = pool_sizes(outcomes(one_more, {16: whole, 64: whole}), [16, 64])
    assert found.advised == 64
    assert "pool_size 64 may stay" in found.advice


@pytest.mark.parametrize(("pool", "sizes"), [(128, (16, 32, 64, 96, 128)), (3, (1, 2, 3)), (1, (1,))])
def test_the_sizes_that_are_tried_end_with_the_profile_s_own(pool, sizes):
    assert sizes_to_try(pool) == sizes
