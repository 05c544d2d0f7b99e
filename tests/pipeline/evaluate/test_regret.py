"""What a choice between two ways costs."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.evaluate.regret import regrets

pytestmark = pytest.mark.flash


def test_it_is_what_the_better_of_both_would_have_been_complete_in_beyond_what_was_chosen() -> None:
    rows = [
        (900, True, False, True),
        (900, True, False, False),
        (900, False, True, False),
        (900, False, False, True),
        (1800, True, True, False),
    ]
    names = ["budget", "units", "pieces", "takes_units"]
    small, large = regrets(pl.DataFrame(rows, schema=names, orient="row"))
    assert (small.budget, small.n, small.chosen, small.units, small.pieces, small.best) == (
        900,
        4,
        0.5,
        0.5,
        0.25,
        0.75,
    )
    assert small.share_of_units == 0.5
    told = small.as_dict()
    assert (told["regret_chosen"], told["regret_units"], told["regret_pieces"]) == (0.25, 0.25, 0.5)
    assert (large.budget, large.n, large.chosen, large.best) == (1800, 1, 1.0, 1.0)
