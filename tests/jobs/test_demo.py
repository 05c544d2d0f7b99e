"""What the demo tells: the slate that it picks is the best there is, and its page explains itself."""

from __future__ import annotations

import io
import re

import polars as pl
import pytest
from inside import ITEMS, LEXICAL, ran, stored
from rich.console import Console

from jobs.demo import BUDGETS, STRATA, choose, demo, headline, show_chosen
from jobs.evaluate import evaluate
from jobs.overrides import override
from jobs.show import show


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    lake = stored(tmp_path_factory.mktemp("made"), ITEMS)
    _, run_id = ran(lake, override(LEXICAL, BUDGETS, None))
    return lake, run_id


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
    show_chosen(lake, run_id, chosen, Console(file=out, width=80))
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
    assert {row.stratum for row in rows} == set(STRATA)
    assert list(rows) == [row for row in measured.rows if row.stratum in STRATA]
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
