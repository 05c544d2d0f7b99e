"""Slates of every request, policy and budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from models.interfaces import Ranker, TokenCounter
from pipeline import schemas
from pipeline.policies.candidates import own_candidates
from pipeline.policies.fill import Candidates, Fill, settle
from pipeline.policies.orders import Ordered, mark_gold
from pipeline.policies.registry import ORACLE, Policy, policies_of
from pipeline.render.saving import PartSavings, Saving
from pipeline.render.slate_text import Shown, in_time_order, render
from pipeline.render.style import Style
from pipeline.render.styles import STYLES


@dataclass(frozen=True)
class SlateOptions:
    """Which policies, at which budgets (o200k tokens of the whole text), in which style."""

    policies: tuple[str, ...]
    budgets: tuple[int, ...]
    style: str = "dated"


def slates(
    requests: pa.Table,
    features: pa.Table,
    turns: pa.Table,
    options: SlateOptions,
    counter: TokenCounter,
    ranker: Ranker | None = None,
    rankings: Mapping[str, pa.Table] | None = None,
    pools: pa.Table | None = None,
    taught: pa.Table | None = None,
) -> pa.Table:
    """Slates (SLATES) of every request under every policy and budget; a request without candidates gets empty ones.

    `turns` holds whole histories, as far as they are stored. `rankings` (RANKINGS, by name) are the candidates of the
    policies called so; `pools` are those of a channel's policy where `features` lack its score or rank; `taught`
    (TEACHER_SCORES) is what `llm_order` goes by. Raises PolicyError for a policy that there is none of, and for one
    that needs a ranker, its calibration or a column that is lacking.
    """
    named = rankings or {}
    policies = policies_of(options.policies, ranker, features.column_names, named)
    frame = pl.DataFrame(features)
    candidates = own_candidates(options.policies, frame, pools, named, turns, taught)
    return slates_by(requests, frame, turns, policies, options, counter, candidates)


def oracle_slates(
    requests: pa.Table,
    features: pa.Table,
    turns: pa.Table,
    labels: pa.Table,
    options: SlateOptions,
    counter: TokenCounter,
) -> pa.Table:
    """Slates (SLATES) of the policy `oracle`: what a perfect ranker would do with the same pool and fill."""
    marked = mark_gold(pl.DataFrame(features), pl.DataFrame(labels))
    return slates_by(requests, marked, turns, policies_of([ORACLE], None, ()), options, counter)


def slates_by(
    requests: pa.Table,
    features: pl.DataFrame,
    turns: pa.Table,
    policies: Mapping[str, Policy],
    options: SlateOptions,
    counter: TokenCounter,
    candidates: Mapping[str, pl.DataFrame] | None = None,
) -> pa.Table:
    """Slates (SLATES) of every request under each of `policies`, by name, whatever `options` names.

    A policy orders and fills the `candidates` of its name, the `features` where there are none: frames with the key of
    request and turn, pool_position, and the columns that its order reads.
    """
    own = candidates or {}
    ranked = {name: _Ranked(own[name], policy) for name, policy in policies.items() if name in own}
    of_pools = [policy for name, policy in policies.items() if name not in own]
    ranked |= dict.fromkeys([name for name in policies if name not in own], _Ranked(features, *of_pools))
    shown = pl.concat([frame.select(*schemas.TURN_KEY) for frame in (features, *own.values())]).unique()
    histories = dict(pl.DataFrame(turns).join(shown, on="history_id", how="semi").group_by("history_id"))
    asked = pl.DataFrame(requests).select(*schemas.REQUEST_KEY).sort(*schemas.REQUEST_KEY)
    style = STYLES[options.style](counter)
    rows: list[dict[str, Any]] = []
    for (history_id,), of_history in asked.group_by("history_id", maintain_order=True):
        catalog = Catalog(histories.get((history_id,)), shown, style, counter)
        for request_id in of_history["request_id"]:
            key = (history_id, request_id)
            pools = {each: Pool(each.of_request.get(key), catalog) for each in set(ranked.values())}
            for name, policy in policies.items():
                ordered = ranked[name].ordered[policy.order]
                for slate in pools[ranked[name]].fill(ordered, policy.fill, options.budgets):
                    rows.append({"request_id": request_id, "history_id": history_id, "policy": name, **slate})
    return pa.Table.from_pylist(rows, schemas.SLATES)


class _Ranked:
    """Candidates by request, and their rows in the order of each policy."""

    def __init__(self, candidates: pl.DataFrame, *policies: Policy) -> None:
        # Together and by pool position, whatever the order of the input: orders and fills count on it.
        together = candidates.sort(*schemas.REQUEST_KEY, "pool_position").with_row_index("row")
        self.of_request = dict(together.group_by(*schemas.REQUEST_KEY))
        self.ordered = {order: order(together) for order in {policy.order for policy in policies}}


class Catalog:
    """The turns of one history that some pool holds, in the order of a slate, with the tokens of their lines."""

    def __init__(self, turns: pl.DataFrame | None, pooled: pl.DataFrame, style: Style, counter: TokenCounter) -> None:
        self.style = style
        self.counter = counter
        self.part_savings = PartSavings(style, counter)
        if turns is None:
            self.shown = Shown([], [], [], [], [])
            self.lengths: list[int] = []
            return
        ordered = in_time_order(turns).join(pooled, on=list(schemas.TURN_KEY), how="semi", maintain_order="left")
        self.lengths = ordered["text"].str.len_chars().to_list()
        self.shown = Shown(
            ordered["session_index"].to_list(),
            ordered["turn_index"].to_list(),
            ordered["session_time"].to_list(),
            ordered.select(pl.coalesce("speaker", "role")).to_series().to_list(),
            ordered["text"].to_list(),
        )

    @cached_property
    def place(self) -> dict[tuple[int, int], int]:
        """Place by (session_index, turn_index)."""
        pairs = zip(self.shown.session_indices, self.shown.turn_indices, strict=True)
        return {pair: index for index, pair in enumerate(pairs)}

    @cached_property
    def line_tokens(self) -> list[int]:
        """Tokens of each line by itself, with the break after it."""
        alone = {name: self.style.alone(name) for name in dict.fromkeys(self.shown.names)}
        said = zip(self.shown.names, self.shown.texts, strict=True)
        lines = [self.style.line(alone[name], text) + self.style.after_line for name, text in said]
        return [int(count) for count in self.counter.count_many(lines)]

    @cached_property
    def header_tokens(self) -> list[int]:
        """Tokens of the header that each turn's session would need by itself, with the break after it."""
        times = self.shown.session_times
        headers = {time: self.style.header(1, time, None) + self.style.after_header for time in dict.fromkeys(times)}
        counts = dict(zip(headers, self.counter.count_many(list(headers.values())).tolist(), strict=True))
        return [counts[time] for time in times]

    def saving(self) -> Saving | None:
        """What turns will save by standing together, as they are added; None where the style saves nothing."""
        return Saving(self.shown, self.part_savings) if self.style.sparing else None

    def tokens_shown(self, places: Sequence[int]) -> list[int]:
        """Tokens of each line with the break after it, as the slate of the turns at `places` has it."""
        names = [self.shown.names[place] for place in places]
        called = self.style.names(Counter(names)).called
        saved = {name: self.part_savings.by_calling(name, now) for name, now in called.items()}
        return [self.line_tokens[place] - saved[name] for place, name in zip(places, names, strict=True)]

    def render_and_count(self, places: Sequence[int]) -> tuple[str, int]:
        """The text of the turns at `places`, and its tokens, counted whole."""
        text = render(self.shown, places, self.style)
        return text, self.counter.count(text)


class Pool:
    """One request's candidates and their slates. Policies that choose the same turns share one rendering."""

    def __init__(self, candidates: pl.DataFrame | None, catalog: Catalog) -> None:
        self._catalog = catalog
        self._first = 0 if candidates is None else int(candidates["row"][0])
        pairs = () if candidates is None else candidates.select("session_index", "turn_index").iter_rows()
        self._places = np.array([catalog.place[pair] for pair in pairs], np.int64)
        self._rendered = lru_cache(maxsize=None)(catalog.render_and_count)

    def fill(self, order: Ordered, fill: Fill, budgets: Sequence[int]) -> Iterator[dict[str, Any]]:
        """One slate for each budget: its text, its tokens and its items."""
        within = slice(self._first, self._first + len(self._places))
        rows = order.rows[within] - self._first
        ranking = self._places[rows]
        ranks: npt.NDArray[np.int64] = np.empty(len(self._catalog.lengths), np.int64)
        ranks[ranking] = np.arange(1, len(ranking) + 1)
        scores = np.full(len(ranks), np.nan)
        scores[ranking] = order.scores[within][rows]
        candidates = Candidates(
            ranking.tolist(),
            scores[ranking],
            self._catalog.shown.session_indices,
            self._catalog.line_tokens,
            self._catalog.header_tokens,
            self._catalog.saving,
        )
        for budget, chosen in zip(budgets, fill(candidates, budgets), strict=True):
            filled = settle(chosen, budget, lambda places: self._rendered(tuple(places)))
            items = [
                self._item(place, int(ranks[place]), float(scores[place]), tokens)
                for place, tokens in zip(filled.places, self._catalog.tokens_shown(filled.places), strict=True)
            ]
            yield {"budget": budget, "n_tokens": filled.n_tokens, "text": filled.text, "items": items}

    def _item(self, place: int, rank: int, score: float, n_tokens: int) -> dict[str, Any]:
        return {
            "session_index": self._catalog.shown.session_indices[place],
            "turn_index": self._catalog.shown.turn_indices[place],
            "unit_index": None,
            "resolution": "raw",
            "start": 0,
            "end": self._catalog.lengths[place],
            "rank": rank,
            "score": None if np.isnan(score) else score,
            "n_tokens": n_tokens,
        }
