"""What the demo tells: the slate that it picks is the best there is, and its page explains itself."""

from __future__ import annotations

import io
import re

import numpy as np
import polars as pl
import pytest
from inside import ITEMS, LEXICAL, delivered, ran, stored
from rich.console import Console

from jobs.demo import BUDGETS, choose, demo, headline, show_chosen
from jobs.evaluate import evaluate
from jobs.overrides import override
from jobs.show import show
from models.ranker import RankerParams, fit
from pipeline.evaluate.strata import HEADLINE

POLICIES = ("bm25_order", "recall_order", "lambdarank", "oracle")


@pytest.fixture(scope="module")
def unranked(tmp_path_factory):
    lake = stored(tmp_path_factory.mktemp("unranked"), ITEMS)
    _, run_id = ran(lake, override(profile(POLICIES), BUDGETS, None))
    return lake, run_id


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run with a ranker that prefers early positions of the pool, so that all policies find much the same."""
    lake = stored(tmp_path_factory.mktemp("made"), ITEMS)
    rows = np.tile(np.arange(20), 10)
    features = np.full((len(rows), len(LEXICAL.features)), np.nan, np.float32)
    features[:, LEXICAL.features.index("pool_position")] = rows
    params = RankerParams(trees=5, num_leaves=4)
    ranker = fit(features, (rows < 5).astype(np.int32), np.full(10, 20), LEXICAL.features, params, profile="lexical")
    _, run_id = ran(lake, override(profile(POLICIES), BUDGETS, None), ranker)
    return lake, run_id


def profile(policies):
    return LEXICAL.model_copy(update={"slates": LEXICAL.slates.model_copy(update={"policies": policies})})


def cells(lake, run_id):
    """Every slate but the oracle's: whose it is, and whether it is complete of how many sessions."""
    for item in ITEMS:
        shown = show(lake, "lexical", run_id, item["question_id"])
        for row in shown.evidence.slates.filter(pl.col("policy") != "oracle").iter_rows(named=True):
            if shown.evidence.kappa:
                yield item["question_id"], row["policy"], row["budget"], row["complete"], shown.evidence.kappa


@pytest.mark.cluster
def test_the_slate_picked_is_complete_and_of_several_sessions_and_small_where_there_is_one(made) -> None:
    lake, run_id = made
    every = list(cells(lake, run_id))
    ranked = sorted((not complete, kappa < 2, budget) for _, _, budget, complete, kappa in every)
    chosen = choose(lake, run_id, [])
    assert (not chosen.complete, chosen.kappa < 2, chosen.budget) == ranked[0]
    assert ranked[0] != ranked[-1]
    assert (chosen.request_id, chosen.policy, chosen.budget, chosen.complete, chosen.kappa) in every


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("run", "order"),
    [("made", ["lambdarank", "recall_order", "bm25_order"]), ("unranked", ["recall_order", "bm25_order"])],
)
def test_of_slates_that_are_equally_good_that_of_the_ranker_is_picked_then_that_of_recall(run, order, request) -> None:
    lake, run_id = request.getfixturevalue(run)
    every = list(cells(lake, run_id))
    best = min((not complete, kappa < 2, budget) for _, _, budget, complete, kappa in every)
    equally_good = {policy for _, policy, *cell in every if (not cell[1], cell[2] < 2, cell[0]) == best}
    assert equally_good == set(order)
    assert choose(lake, run_id, []).policy == order[0]


@pytest.mark.cluster
def test_a_session_that_goes_on_in_a_later_delivery_counts_once_for_the_slate_picked(tmp_path) -> None:
    said = [{"role": "user", "text": f"the kite flew over {place}"} for place in ("Rome", "Oslo")]
    session = {"session_id": "s", "turns": said[:1]}
    lake = stored(tmp_path, [{"history_id": "h", "sessions": [session]}], "native")
    evidence = [{"session": "s", "turn": turn} for turn in (0, 1)]
    asked = [{"request_id": "q", "text": "Where did the kite fly?", "evidence": evidence}]
    later = {"history_id": "h", "sessions": [{**session, "turns": said}], "requests": asked}
    delivered(lake, tmp_path / "later.jsonl", [later], "native")
    _, run_id = ran(lake)
    chosen = choose(lake, run_id, [])
    assert (chosen.n_evidence, chosen.kappa, chosen.complete) == (2, 1, True)


@pytest.mark.cluster
def test_the_slate_picked_is_of_a_history_that_the_ranker_has_not_seen(made) -> None:
    lake, run_id = made
    best = choose(lake, run_id, [])
    other = choose(lake, run_id, [best.history_id])
    assert other.history_id != best.history_id
    every = [item["question_id"] for item in ITEMS]
    assert choose(lake, run_id, every) == best


@pytest.mark.cluster
def test_the_slate_picked_is_printed_with_its_question_and_all_of_its_evidence_marked(made) -> None:
    lake, run_id = made
    chosen = choose(lake, run_id, [])
    out = io.StringIO()
    show_chosen(lake, "lexical", run_id, chosen, Console(file=out, width=80))
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    question = next(item["question"] for item in ITEMS if item["question_id"] == chosen.request_id)
    assert question in " ".join(text.split())
    marks = set(re.findall(r"★(\d)", text))
    assert marks == {str(number) for number in range(1, chosen.n_evidence + 1)}
    assert f"policy {chosen.policy}" in text


@pytest.mark.cluster
def test_the_table_has_the_two_headline_groups_of_what_evaluate_has(made) -> None:
    lake, run_id = made
    measured, _ = evaluate(lake, "lexical", run_id, draws=200, seed=0)
    rows = headline(measured).rows
    assert {row.stratum for row in rows} == set(HEADLINE)
    assert list(rows) == [row for row in measured.rows if row.stratum in HEADLINE]
    assert len(rows) < len(measured.rows)


@pytest.mark.slow
@pytest.mark.cluster
def test_the_demo_fits_80_columns_explains_its_words_and_ends_with_what_to_do_next(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    out = io.StringIO()
    demo(tmp_path / "demo", 12, 3, 2, Console(file=out, width=80))
    text = out.getvalue()
    assert max(len(line) for line in text.splitlines() if not line.startswith("slatemill ")) <= 80
    assert "\x1b" not in text
    told, tables = text[: text.index("slates of ")], text[text.index("slates of ") :]
    words = re.search(r"requests, policy +(.*)", tables)[1].split()
    words += set(re.findall(r"^   ([a-z]\w+) ", tables, re.MULTILINE))
    assert {"n", "r_pool", "95%", "oracle", "recall_order"} <= set(words)
    assert [word for word in words if not re.search(rf"^ {word}  +\w", told, re.MULTILINE)] == []
    assert "learned from " in told
    after = tables[tables.index("what next") :]
    lake = str(tmp_path / "demo" / "lake")
    assert f"slatemill show {lake} " in after
    assert f"slatemill evaluate {lake}" in after
    assert "README.md" in after
