from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from slate_of import chat, slate, units_of

from pipeline.memory.designs.memgas import _mixed
from pipeline.memory.designs.mixture import border
from pipeline.memory.designs.pagerank import pagerank

pytestmark = pytest.mark.flash

LINE = np.array([[0.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
"""0 - 1 - 2, and 3 by itself."""


def test_a_walk_is_where_it_begins_and_near_that_and_loses_nothing():
    share = pagerank(LINE, np.array([2.0, 0, 0, 0]))
    assert share.sum() == pytest.approx(1)
    assert share[0] > share[1] > share[2] > share[3] == 0
    np.testing.assert_allclose(pagerank(csr_array(LINE), np.array([2.0, 0, 0, 0])), share)


def test_a_walk_stays_on_a_node_without_edges_and_goes_nowhere_from_nowhere():
    assert pagerank(LINE, np.array([0.0, 0, 0, 1])).tolist() == [0, 0, 0, 1]
    assert pagerank(LINE, np.zeros(4)).tolist() == [0, 0, 0, 0]


def test_a_walk_meets_its_fixed_point():
    start = np.array([0.5, 0, 0.25, 0.25])
    share = pagerank(LINE, start, damping=0.3)
    step = LINE / np.maximum(LINE.sum(axis=0), 1)
    moved = 0.3 * step @ share
    np.testing.assert_allclose(share, moved + (1 - moved.sum()) * start, atol=1e-8)


def test_the_border_lies_between_two_bells():
    dice = np.random.default_rng(0)
    values = np.concatenate([dice.normal(0.2, 0.05, 900), dice.normal(0.6, 0.05, 100)])
    assert 0.3 < border(values) < 0.5


def test_numbers_that_do_not_differ_have_no_border():
    assert border(np.full(9, 0.3)) == border(np.zeros(0)) == float("inf")


def test_the_granularity_that_points_to_few_units_counts_more():
    mixed = _mixed(np.array([[0.9, 0.1, 0.1], [0.3, 0.3, 0.31]]))
    assert mixed.argmax() == 0
    assert mixed.sum() == pytest.approx(1)


def test_memgas_shows_the_unit_that_is_asked_for_whole():
    turns = chat(
        ["We planted roses and tulips in the garden.", "The garden looks lovely with roses."],
        ["The marathon was hard, I ran four hours.", "Four hours is a fine marathon."],
        ["We watched a film about whales last night.", "Whales are huge, what a film."],
    )
    assert units_of(slate("memgas", turns, "The marathon was hard, four hours?", 60), "raw") == [(1, 0)]


def test_the_fact_graph_leads_over_a_thing_that_two_facts_name():
    turns = chat(
        ["I bought tickets for the opera Rigoletto yesterday.", "Nice."],
        ["My brother Viktor sang in Rigoletto last week.", "Great."],
        ["We watched a film about whales last night.", "Fine."],
        ["I moved to a flat beside the river last month.", "Good."],
        ["We planted roses in the garden this morning.", "Lovely."],
    )
    text = slate("fact_graph", turns, "What tickets did she buy?", 62)["text"]
    assert "tickets for the opera Rigoletto" in text
    assert "Viktor sang in Rigoletto" in text, "no word of the request stands there"
