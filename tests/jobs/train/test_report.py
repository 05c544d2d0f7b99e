"""What a training says of doubts: few requests, and a ranker that is worse than the order of recall."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from jobs.train.crossval import RANKER, CrossValidation
from jobs.train.job import TrainReport, Validated
from jobs.train.report import FEW_GROUPS, show_doubts
from models.ranker import LightGBMRanker
from models.ranker_params import RankerParams
from models.registry import RegisteredVersion
from pipeline.evaluate.bootstrap import Estimate
from pipeline.evaluate.by_history import Shares

pytestmark = pytest.mark.flash

HALF = Estimate(0.5, 0.4, 0.6)


def said(groups: int, *rows: Shares) -> str:
    crossval = CrossValidation((), groups, 5, HALF, 0.5, 0.5, rows, 20) if rows else None
    version = RegisteredVersion("slatemill-lexical", "1", "r", is_champion=True)
    ranker = LightGBMRanker("", (), RankerParams(), "lexical")
    out = io.StringIO()
    report = TrainReport(ranker, {}, {"groups": groups}, version, validated=Validated(crossval))
    show_doubts(report, Console(file=out, width=80))
    return " ".join(out.getvalue().split())


def row(budget: int, difference: Estimate, stratum: str = "all") -> Shares:
    return Shares(RANKER, budget, stratum, 10, 5, HALF, HALF, HALF, difference)


@pytest.mark.parametrize(("groups", "warned"), [(1, True), (FEW_GROUPS - 1, True), (FEW_GROUPS, False)])
def test_a_ranker_that_learned_from_few_requests_is_warned_of(groups, warned):
    assert ("may be worse than the order of recall" in said(groups)) == warned


def test_a_ranker_that_is_worse_than_recall_beyond_doubt_is_warned_of_at_those_budgets_alone():
    worse, better, either = Estimate(-0.2, -0.3, -0.1), Estimate(0.2, 0.1, 0.3), Estimate(-0.1, -0.2, 0.1)
    text = said(99, row(900, worse), row(1350, worse), row(2700, either))
    assert "beyond doubt, at 900, 1,350 tokens" in text
    assert said(99, row(900, either), row(2700, better), row(900, worse, "kappa >= 2")) == ""
