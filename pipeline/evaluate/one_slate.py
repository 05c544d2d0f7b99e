"""One slate of one request, turn by turn: what recalled and ranked each turn, and where its line stands in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from models.interfaces import ExplainedRanker
from pipeline.evaluate.evidence import RequestTables
from pipeline.evaluate.located import located
from pipeline.ingest.settle import batch_and_session
from pipeline.memory.registry import NAMES_OF_MEMORY
from pipeline.policies.orders import feature_matrix
from pipeline.policies.registry import needs_ranker
from pipeline.render.slate_text import Shown, line_spans, render
from pipeline.render.style import Style

_TURN = ["session_index", "turn_index"]


@dataclass(frozen=True)
class OneSlate:
    """A slate and its turns.

    `turns`: one row an item, in the order of `text`. Beside all of an item (pipeline.schemas.ITEM): batch and session
    (the two parts of session_index), evidence (the number of an evidence turn, null for others), pool_position, a
    column `NAME_rank` for each channel (place among those that the channel recalled; null for others), line_start and
    line_end (characters of `text`, the end excluded), and contributions: a struct that says by feature what it added to
    the score.
    `lines_known`: whether the text was rendered as this slatemill renders; if not, line_start and line_end are null.
    `of_memory`: it shows units, records and pieces.
    `base`: what contributions are added to, equal for all turns; a turn's base and contributions add up to its score.
    It and all contributions are null where no learned score is explained.
    """

    policy: str
    budget: int
    n_tokens: int
    text: str
    turns: pl.DataFrame
    lines_known: bool
    of_memory: bool
    base: float | None

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        return {**vars(self), "turns": self.turns.to_dicts()}


def one_slate(
    tables: RequestTables,
    evidence: pl.DataFrame,
    policy: str,
    budget: int,
    channels: Sequence[str],
    style: Style | None,
    ranker: ExplainedRanker | None,
) -> OneSlate:
    """The slate of one policy and budget, which must be in `tables`.

    `evidence` has number, session_index and turn_index. `style` and `ranker` are those of the run, None where they are
    unknown; the ranker explains its own policies alone, for it moved no other.
    """
    slates = pl.DataFrame(tables.slates)
    of_cell = slates.filter((pl.col("policy") == policy) & (pl.col("budget") == budget))
    row = of_cell.row(0, named=True)
    items = of_cell.select("items").explode("items", empty_as_null=False).unnest("items")
    of_memory = policy in NAMES_OF_MEMORY
    spans = _located(items, tables, row["text"]) if of_memory else _spans(items, tables, style, row["text"])
    contributions, base = _contributions(items, tables, ranker if needs_ranker(policy) else None)
    recalled = pl.DataFrame(tables.pools).select(*_TURN, "pool_position", *[f"{name}_rank" for name in channels])
    turns = (
        items.with_columns(batch_and_session())
        .join(evidence.select(*_TURN, evidence="number"), on=_TURN, how="left", maintain_order="left")
        .join(recalled, on=_TURN, how="left", maintain_order="left")
        .with_columns(
            pl.Series("line_start", [start for start, _ in spans or ()] or [None] * items.height, pl.Int64),
            pl.Series("line_end", [end for _, end in spans or ()] or [None] * items.height, pl.Int64),
            contributions,
        )
    )
    return OneSlate(policy, budget, row["n_tokens"], row["text"], turns, spans is not None, of_memory, base)


def _spans(items: pl.DataFrame, tables: RequestTables, style: Style | None, text: str) -> list[tuple[int, int]] | None:
    """Where each item's line stands in `text`; None unless rendering the items again gives `text`."""
    if style is None:
        return None
    said = pl.DataFrame(tables.turns).select(*_TURN, "session_time", "text", who=pl.coalesce("speaker", "role"))
    found = items.join(said, on=_TURN, how="left", maintain_order="left")
    part = pl.col("text").str.slice(pl.col("start"), pl.col("end") - pl.col("start"))
    shown = Shown(
        found["session_index"].to_list(),
        found["turn_index"].to_list(),
        found["session_time"].to_list(),
        found["who"].to_list(),
        found.select(part).to_series().to_list(),
    )
    places = range(items.height)
    return line_spans(shown, places, style) if render(shown, places, style) == text else None


def _located(items: pl.DataFrame, tables: RequestTables, text: str) -> list[tuple[int, int]] | None:
    """Where each item of a slate of memory stands in `text`; None where it does not stand there."""
    said = pl.DataFrame(tables.turns).select(*_TURN, "text")
    found = items.join(said, on=_TURN, how="left", maintain_order="left")
    part = pl.col("text").str.slice(pl.col("start"), pl.col("end") - pl.col("start"))
    parts = found.select(pl.when(pl.col("resolution") != "record").then(part)).to_series()
    return located(parts.to_list(), text)


def _contributions(
    items: pl.DataFrame, tables: RequestTables, ranker: ExplainedRanker | None
) -> tuple[pl.Series, float | None]:
    """What each feature added to each item's score, as a series of structs, and the base; nulls without a ranker."""
    names = () if ranker is None else ranker.feature_names
    kind = pl.Struct(dict.fromkeys(names, pl.Float64))
    if ranker is None or items.is_empty():
        return pl.Series("contributions", [None] * items.height, kind), None
    features = items.select(_TURN).join(pl.DataFrame(tables.features), on=_TURN, how="left", maintain_order="left")
    added = ranker.contributions(feature_matrix(features, names), names)
    columns = pl.DataFrame(added[:, :-1], schema=list(names), orient="row")
    return columns.to_struct("contributions"), float(added[0, -1])
