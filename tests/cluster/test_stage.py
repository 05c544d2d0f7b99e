from __future__ import annotations

from dataclasses import replace

import pytest
from toy_stages import EVENTS, SUMS, stages

from cluster.stage import Input

pytestmark = pytest.mark.flash


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"primary": "turns"}, "none of its inputs"),
        ({"inputs": {"events": Input("events", None, EVENTS, "prefix")}}, "takes one batch"),
        ({"inputs": {"events": Input("events", None, EVENTS, in_groups=True)}}, "takes one batch"),
        ({"unit": ("history_id", "turn")}, "lacks \\['turn'\\]"),
        ({"unit": ()}, "needs columns"),
        ({"quarantine_schema": SUMS}, "quarantine schema lacks"),
    ],
)
def test_a_stage_whose_parts_do_not_fit_is_refused(change, said):
    with pytest.raises(ValueError, match=said):
        replace(stages()[0], **change)
