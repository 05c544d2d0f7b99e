"""What is printed beside a slate."""

from __future__ import annotations

import pytest

from jobs.show_slate_report import moved_by


@pytest.mark.flash
def test_of_a_turn_the_features_that_moved_it_most_are_named_with_their_sign() -> None:
    added = {"bm25_rank": 1.2, "age_days": -0.305, "role": 0.0, "n_tokens": 2.0, "dense_rank": -0.004}
    assert moved_by(added, 3) == "n_tokens +2.00, bm25_rank +1.20, age_days -0.30"
    assert moved_by(added, 9) == "n_tokens +2.00, bm25_rank +1.20, age_days -0.30"
