"""Where a slate lost an evidence turn: one word each, from what the run wrote."""

from __future__ import annotations

import polars as pl

NOT_VISIBLE = "not_visible"
NOT_IN_POOL = "not_in_pool"
NOT_RAW = "not_raw"
NOT_RECOVERED = "not_recovered"
RANK_UNKNOWN = "rank_unknown"
DID_NOT_FIT = "did_not_fit"
RANKED_TOO_LOW = "ranked_too_low"

LOSSES = {
    NOT_VISIBLE: "The request does not see the turn: it was said after the request was asked.",
    NOT_IN_POOL: "Recall left it out of the pool; of an imported ranking: it is not among what that ranks.",
    NOT_RAW: "The slate shows a part of it, or its unit's record, and not all of it.",
    NOT_RECOVERED: "Of a policy of memory: the room went to other units and pieces.",
    RANK_UNKNOWN: "It is in the pool and not in the slate, and its rank under the policy is not known.",
    DID_NOT_FIT: "A slate of n turns has it not though its rank is n or less: longer than what was left of the budget, "
    "it was passed over for turns that rank lower.",
    RANKED_TOO_LOW: "Its rank is past the number of turns that the slate holds.",
}
"""Every word, and what it says."""


def lost() -> pl.Expr:
    """The word for an evidence turn and a slate; null where the slate shows it whole.

    Reads the columns in_slate, visible, candidate (of the slate's policy), of_memory (the policy), shown (at any
    resolution), rank (under the slate's policy) and n_turns (of the slate). A slate that holds no turn at all ranked
    none too low: no turn fits it.
    """
    return (
        pl.when("in_slate")
        .then(None)
        .when(~pl.col("visible"))
        .then(pl.lit(NOT_VISIBLE))
        .when(~pl.col("candidate"))
        .then(pl.lit(NOT_IN_POOL))
        .when("shown")
        .then(pl.lit(NOT_RAW))
        .when("of_memory")
        .then(pl.lit(NOT_RECOVERED))
        .when((pl.col("n_turns") > 0) & pl.col("rank").is_null())
        .then(pl.lit(RANK_UNKNOWN))
        .when((pl.col("n_turns") == 0) | (pl.col("rank") <= pl.col("n_turns")))
        .then(pl.lit(DID_NOT_FIT))
        .otherwise(pl.lit(RANKED_TOO_LOW))
    )
