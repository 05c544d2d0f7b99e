"""One slate, turn by turn: against the tables of its stages, in plain loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_request import FIRST, NAMES, answered, key_of
from words import WordCounter

from pipeline import schemas
from pipeline.evaluate.evidence import evidence_of
from pipeline.evaluate.one_slate import one_slate
from pipeline.render.styles import STYLES

pytestmark = pytest.mark.flash

MADE = {name: styled(WordCounter()) for name, styled in STYLES.items()}
DATED = MADE["dated"]
HOSTILE = ["kite", "lamp\n# 1 January 2024, 00:00\nuser: kite", "user: kite", "\n\nkite\n", "# undated", "moss \x1b[2J"]
TEXT = st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=3).map(" ".join)


class Weighed:
    """A linear ranker: each feature adds its weight times its value, a missing one nothing."""

    identity = "weighed"
    feature_names = NAMES

    def contributions(self, features, names):
        weights = np.arange(1, len(names) + 1) / 8 * np.where(np.arange(len(names)) % 2, 1, -1)
        added = np.nan_to_num(features.astype(np.float64)) * weights
        return np.column_stack([added, np.full(len(added), 0.25)])

    def score(self, features, names):
        return self.contributions(features, names).sum(axis=1)


def shown(tables, options, policy="lambdarank", budget=60, style=DATED, ranker=None):
    evidence = evidence_of(tables, options, ranker)
    return one_slate(tables, evidence.turns, policy, budget, options.channels, style, ranker)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.lists(TEXT, min_size=1, max_size=3), min_size=1, max_size=3), st.integers(8, 80), st.data())
def test_each_turn_has_what_the_stages_said_of_it_and_its_line_in_the_text(texts, budget, data):
    places = [(s, t) for s, session in enumerate(texts) for t in range(len(session))]
    gold = data.draw(st.sets(st.sampled_from(places)))
    tables, options = answered(texts, gold, "kite moss", 6, budgets=(budget,), ranker=Weighed())
    stored = {key_of(row): row["text"] for row in tables.turns.to_pylist()}
    pooled = {key_of(row): row for row in tables.pools.to_pylist()}
    features = {key_of(row): row for row in tables.features.to_pylist()}
    numbers = {(FIRST + s, t): number for number, (s, t) in enumerate(sorted(gold), start=1)}
    for slate in tables.slates.to_pylist():
        found = shown(tables, options, slate["policy"], budget, ranker=Weighed())
        assert (found.text, found.n_tokens, found.lines_known) == (slate["text"], slate["n_tokens"], True)
        rows = found.turns.to_dicts()
        assert [{name: row[name] for name in slate["items"][0]} for row in rows] == slate["items"]
        end = 0
        for row in rows:
            key = key_of(row)
            assert row["line_start"] >= end
            end = row["line_end"]
            assert found.text[row["line_start"] : end] == f"user: {stored[key]}"
            assert (row["batch"], row["session"]) == (1, key[0] - FIRST)
            assert row["evidence"] == numbers.get(key)
            assert (row["pool_position"], row["bm25_rank"]) == (
                pooled[key]["pool_position"],
                pooled[key]["bm25_rank"],
            )
            if slate["policy"] == "lambdarank":
                assert row["contributions"]["n_tokens"] == features[key]["n_tokens"] * len(NAMES) / 8
                assert abs(sum(row["contributions"].values()) + found.base - row["score"]) <= 1e-6
            else:
                assert (row["contributions"], found.base) == (None, None)
        assert end == len(found.text)


def test_without_the_ranker_nothing_is_explained():
    tables, options = answered([["kite", "lamp"]], {(0, 0)}, "kite", budgets=(60,))
    found = shown(tables, options)
    assert (found.base, found.turns["contributions"].to_list()) == (None, [None, None])
    assert found.as_dict()["turns"] == found.turns.to_dicts()


def test_an_empty_slate_has_no_turn():
    tables, options = answered([["kite"]], {(0, 0)}, "kite", budgets=(1,), ranker=Weighed())
    found = shown(tables, options, budget=1, ranker=Weighed())
    assert (found.text, found.turns.height, found.base, found.lines_known) == ("", 0, None, True)


@pytest.mark.parametrize("style", [None, MADE["longmemeval"]])
def test_a_text_that_rendering_does_not_repeat_gets_no_marks(style):
    tables, options = answered([["kite", "lamp"]], {(0, 0)}, "kite", budgets=(60,))
    found = shown(tables, options, style=style)
    assert not found.lines_known
    assert found.turns.select("line_start", "line_end").rows() == [(None, None)] * 2


def test_an_item_that_shows_part_of_a_turn_has_the_line_of_that_part():
    tables, options = answered([["kite lamp"]], {(0, 0)}, "kite", budgets=(60,))
    header = "# 1 January 2024, 00:00\n"
    rows = [
        {**row, "text": f"{header}user: lamp", "items": [{**item, "resolution": "excerpt", "start": 5, "end": 9}
                                                         for item in row["items"]]}
        for row in tables.slates.to_pylist()
    ]  # fmt: skip
    found = shown(replace(tables, slates=pa.Table.from_pylist(rows, schemas.SLATES)), options)
    assert found.turns.select("line_start", "line_end").row(0) == (len(header), len(header) + 10)


@pytest.mark.parametrize("style", MADE.values(), ids=MADE)
@pytest.mark.parametrize("speaker", [None, "Ana", "Ana Maria\nLund"])
def test_lines_are_found_in_the_text_of_every_style_whatever_it_calls_the_speaker(style, speaker):
    texts = [[f"kite {n}" for n in range(3)], ["kite moss"] * 9]
    tables, options = answered(texts, {(0, 0)}, "kite", 12, budgets=(200,), style=style.name, speaker=speaker)
    found = shown(tables, options, budget=200, style=style)
    stored = {key_of(row): row["text"] for row in tables.turns.to_pylist()}
    assert found.lines_known
    assert found.turns.height == 12
    for row in found.turns.iter_rows(named=True):
        who, said = found.text[row["line_start"] : row["line_end"]].split(": ", 1)
        assert said == stored[key_of(row)]
        assert who == style.margin + style.names({speaker or "user": 12}).called[speaker or "user"]


def test_initials_and_their_legend_are_those_of_the_slate():
    style = MADE["lean"]
    tables, options = answered([["kite"] * 20], {(0, 0)}, "kite", 20, budgets=(99,), style="lean", speaker="Ana Lund")
    found = shown(tables, options, budget=99, style=style)
    assert found.text.startswith("A = Ana Lund\n# 1 January 2024\n A: kite\n")
    assert found.turns["line_start"][0] == len("A = Ana Lund\n# 1 January 2024\n")
