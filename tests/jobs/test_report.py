"""What a job says at its end where its numbers alone would mislead."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from cluster.report import Failure, RunReport, StageReport
from jobs.report import show_evaluation, show_trouble
from pipeline.evaluate.bootstrap import Estimate
from pipeline.evaluate.displayed import Displayed
from pipeline.evaluate.of_memory import OfMemory
from pipeline.evaluate.paired import Difference
from pipeline.evaluate.resolutions import Tokens
from pipeline.evaluate.reuse import Reuse
from pipeline.evaluate.summary import Row, Summary
from pipeline.schemas import LABELS

pytestmark = pytest.mark.flash

ABOUT = {
    "profile": "lexical", "run_id": "r", "pool_size": 128, "style": "dated", "requests_without_slate": 0,
}  # fmt: skip


def said(show, *arguments) -> str:
    out = io.StringIO()
    show(*arguments, Console(file=out, width=80))
    return " ".join(out.getvalue().split())


def summary(n_requests: int, no_evidence: int, trained_on: int) -> Summary:
    n = n_requests - no_evidence - trained_on
    nothing = Estimate(*[None] * 3) if not n else Estimate(0.5, 0.4, 0.6)
    row = Row("all", "recall_order", 900, n, *[nothing] * 5)
    return Summary((row,), n_requests, no_evidence, trained_on, 0, 0, 100, 0)


@pytest.mark.parametrize(
    ("measured", "why"),
    [
        (summary(0, 0, 0), "no request has a slate"),
        (summary(4, 4, 0), "of 4 requests none has known evidence"),
        (summary(4, 0, 4), "4 of 4 requests are of histories that the ranker was trained on. Train again"),
        (summary(4, 1, 3), "3 of 4 requests are of histories that the ranker was trained on, and of 1 no evidence"),
    ],
)
def test_where_nothing_can_be_measured_it_is_said_why_in_place_of_tables_of_dashes(measured, why):
    text = said(show_evaluation, measured, ABOUT)
    assert f"nothing can be measured: {why}" in text
    assert "r_pool" not in text


def test_where_something_can_be_measured_there_is_a_table():
    text = said(show_evaluation, summary(4, 1, 2), ABOUT)
    assert "nothing can be measured" not in text
    assert "r_pool" in text


HALF = Estimate(0.5, 0.4, 0.6)
REMEMBERED = OfMemory(
    tokens=(Tokens("note_retrieval_degraded", 9000, 1234, 1234.4, 20.0, 3.0, 4.0),),
    pair=("unit_recovery", "piece_recovery"),
    best_piece=(Difference("above 20", 9000, 9000, 12345, 10, 0.5, 0.25, HALF, HALF),),
    reuse=(Reuse("note_retrieval_degraded", 9000, 12345, 10, 1234, HALF, Estimate()),),
    displayed=(Displayed("note_retrieval_degraded", 9000, 12345, 10, HALF, HALF, HALF),),
)


def test_without_evidence_what_is_measured_of_memory_is_shown_all_the_same():
    text = said(show_evaluation, replace(summary(4, 4, 0), memory=REMEMBERED), ABOUT)
    assert "completeness cannot be measured: of 4 requests none has known evidence" in text
    assert "nothing" not in text
    assert "slates of n record excerpt raw other" in text
    assert "note_retrieval_degraded 1,234 1,234 20 3 4" in text
    assert "above 20 12,345 0.500 0.250 +0.250 +0.400 +0.600 +0.400 +0.600" in text
    assert "note_retrieval_degraded 12,345 0.500 0.40-0.60 1,234 - " in text
    assert "note_retrieval_degraded 12,345 0.500 0.500 0.500 0.40-0.60" in text


def test_the_tables_fit_80_columns_and_a_long_name_of_a_category_wraps():
    measured = replace(summary(4, 1, 2), memory=REMEMBERED)
    long = replace(measured.rows[0], stratum="category single-session-preference", policy="note_retrieval_degraded")
    out = io.StringIO()
    show_evaluation(replace(measured, rows=(*measured.rows, long)), ABOUT, Console(file=out, width=80))
    assert "…" not in out.getvalue()
    assert max(map(len, out.getvalue().splitlines())) <= 80
    assert " single-session-preference" in out.getvalue()
    assert out.getvalue().count("0.500  0.500    0.500 0.40-0.60 0.500      0") == 2


def test_of_a_failed_shard_the_first_line_of_the_reason_is_said():
    failure = Failure("pools", "000001-a", 3, "ValueError: no [red]\n  Traceback (most recent call last)")
    report = RunReport((StageReport("pools", rows=10),), LABELS.empty_table(), [failure])
    text = said(show_trouble, report, "slatemill run", "lake")
    assert text == "failed: pools, batch 000001-a, bucket 3: ValueError: no [red] ..."


def test_what_is_stale_is_made_anew_in_place_and_what_is_under_another_choice_only_beside_it():
    elsewhere = StageReport("turn_vectors", total=5, needs_backfill=5)
    stale = StageReport("cross_scores", total=5, needs_backfill=2, stale=2)
    both = StageReport("tuned_turn_tokens", total=5, needs_backfill=4, stale=1)

    def of(stage: StageReport) -> str:
        return said(show_trouble, RunReport((stage,), LABELS.empty_table(), []), "slatemill run", "lake")

    assert of(elsewhere).startswith("5 shard(s) of turn_vectors exist under another choice")
    assert of(elsewhere).endswith("a second set beside the first: slatemill run --backfill turn_vectors")
    assert of(stale).startswith("2 shard(s) of cross_scores are out of date")
    assert of(stale).endswith("anew in place of the old: slatemill run --backfill cross_scores")
    assert "3 shard(s) of tuned_turn_tokens exist under" in of(both)
    assert "1 shard(s) of tuned_turn_tokens are out of date" in of(both)


def test_a_quarantine_over_its_limit_is_told_with_the_lake_to_look_into():
    report = RunReport((StageReport("pools", rows=10, quarantined=5),), LABELS.empty_table(), [])
    assert "`slatemill quarantine list my/lake`" in said(show_trouble, report, "slatemill run", "my/lake")
