"""What a feature is: a name, what it means, and the expression that computes it for every candidate at once."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

REQUEST = ("history_id", "request_id")
SESSION = (*REQUEST, "session_index")


@dataclass(frozen=True)
class Feature:
    """One column of the table `features`.

    `expression` reads the frame that pipeline.features.candidates makes: the columns of `pools`, of the turn (role,
    speaker, text, n_tokens, session_time) and of the request (request_text). It must depend on nothing but that
    request and the turns of its pool.
    """

    name: str
    group: str
    formula: str
    unit: str
    null: str
    expression: pl.Expr
