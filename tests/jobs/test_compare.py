"""`slatemill compare` sets two policies of the latest runs side by side, request by request."""

from __future__ import annotations

import io

import pytest
from inside import ITEMS, LEXICAL, ran, stored
from rich.console import Console

from cluster.lake import Lake
from jobs.compare import NothingInCommon, Side, compare, show_comparison, side
from jobs.config import ConfigError

ORACLE = Side("lexical", "oracle")
RECALL = Side("lexical", "recall_order")

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> Lake:
    lake = stored(tmp_path_factory.mktemp("asked"), ITEMS)
    ran(lake)
    return lake


def test_each_budget_has_a_row_a_stratum_and_the_oracle_is_no_worse_than_recall(asked):
    found, about = compare(asked, ORACLE, RECALL, draws=200, seed=0)
    assert {row.budget for row in found} == set(LEXICAL.slates.budgets)
    assert {row.stratum for row in found} >= {"all"}
    assert all(row.ours >= row.theirs for row in found)
    assert all(row.over_requests.value == pytest.approx(row.ours - row.theirs) for row in found)
    assert about["ours"]["run_id"] == about["theirs"]["run_id"]
    out = io.StringIO()
    show_comparison(found, ORACLE, RECALL, Console(file=out, width=120))
    assert "lexical oracle minus lexical recall_order" in " ".join(out.getvalue().split())


def test_a_budget_may_be_set_against_a_larger_one_of_the_other_side(asked):
    found, _ = compare(asked, Side("lexical", "oracle", 900), Side("lexical", "recall_order", 2700), draws=100, seed=0)
    assert {(row.budget, row.against_budget) for row in found} == {(900, 2700)}


def test_a_policy_or_budget_that_is_not_there_is_named(asked):
    with pytest.raises(NothingInCommon, match="has no policy lambdarank: its policies are oracle, recall_order"):
        compare(asked, Side("lexical", "lambdarank"), RECALL, draws=100, seed=0)
    with pytest.raises(NothingInCommon, match="no request and budget in common"):
        compare(asked, Side("lexical", "oracle", 17), Side("lexical", "recall_order", 17), draws=100, seed=0)


def test_a_side_is_a_profile_and_a_policy():
    assert side("lexical:oracle", 900) == Side("lexical", "oracle", 900)
    assert side("lexical", None) == Side("lexical", "lambdarank")
    with pytest.raises(ConfigError, match="no profile 'lexicl'"):
        side("lexicl:oracle", None)
