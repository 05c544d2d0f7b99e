"""Stage `pools`: the candidates of each request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
import polars as pl
import pyarrow as pa

from pipeline import schemas
from pipeline.quarantined import not_finite
from pipeline.recall.bm25 import Postings
from pipeline.recall.channels import CHANNELS, Channel
from pipeline.recall.cited import Citations
from pipeline.recall.fusion import DECIMALS, pool_order, ranks, reciprocal_rank_fusion
from pipeline.recall.gather import LateTables, histories
from pipeline.recall.history import Floats, History, Ints, Mask, Request, Scored
from pipeline.recall.late.rescore import REQUEST_BLOCK, Candidates, LateRescorer
from pipeline.recall.options import CHEAP, LATE, PoolOptions
from pipeline.recall.visible import views
from pipeline.schemas import TEXT

__all__ = ["LateTables", "PoolOptions", "pools"]

DAY = np.timedelta64(1, "D") / np.timedelta64(1, "us")


def pools(
    requests: pa.Table,
    turns: pa.Table,
    terms: pa.Table,
    turn_vectors: pa.Table | None,
    request_vectors: pa.Table | None,
    options: PoolOptions,
    late: Mapping[str, LateTables] | None = None,
    citations: Citations | None = None,
) -> tuple[pa.Table, pa.Table]:
    """The pool of each request: schema pools(options.scored), sorted by history_id, request_id and pool_position; and
    QUARANTINE.

    `requests` are those of one batch; `turns` (of its columns the key, session_time and, for codes that are made here,
    speaker and text are read), `terms`, `turn_vectors` and those of `late` (by encoder) hold what arrived up to it. The
    rankings of all channels over all visible turns are fused, and the first `pool_size` kept (AgentMemRec, arXiv
    2610.34673, 4.1). A turn that a channel did not recall has no rank in it; the turns that none recalled come last,
    the newest first. After the first `pool_size` come turns that `citations` know of, at most `record_cited`. Late
    interaction recalls among the first `prefilter` turns of the other channels, fused. A channel that cannot answer a
    request is null in its rows; a request that sees no turn, or that no channel can answer, has no rows. A turn whose
    codes are made here and that gets a vector that is not finite is noted in quarantine, and late interaction does not
    score it: no request is lost by it. Raises ValueError when a channel lacks its table or a turn is there twice.
    """
    if options.needs_vectors and (turn_vectors is None or request_vectors is None):
        raise ValueError("channels dense and dense_window need turn_vectors and request_vectors")
    lacking = [encoder for encoder in options.encoders if encoder not in (late or {})]
    if lacking:
        raise ValueError(f"late interaction of encoder {lacking[0]} needs the tokens of requests and turns")
    if options.record_cited and citations is None:
        raise ValueError("recall.record_cited needs units and records")
    found: list[_Pool] = []
    notes = [schemas.QUARANTINE.empty_table()]
    for history, asked in histories(requests, turns, terms, turn_vectors, request_vectors, late or {}):
        found += _pools_of_history(history, asked, options, citations)
        notes += _broken(history, late or {})
    return _table(found, options), pa.concat_tables(notes)


@dataclass(frozen=True)
class _Pool:
    """The candidates of one request in pool order, and per channel that answered it their scores and ranks."""

    history_id: str
    request_id: str
    session_index: Ints
    turn_index: Ints
    rrf_score: Floats
    scores: dict[str, Floats]
    ranks: dict[str, Floats]
    age_days: Floats


def _pools_of_history(
    history: History, requests: list[Request], options: PoolOptions, citations: Citations | None
) -> Iterator[_Pool]:
    rescorers = _rescorers(history, options)
    answered = _answered(history, requests, options)
    while block := list(islice(answered, REQUEST_BLOCK)):
        candidates = [one.candidates(options) for one in block] if rescorers else []
        late = [rescorer.scores(candidates) for rescorer in rescorers.values()]
        for one, *of_encoders in zip(block, *late, strict=True):
            of_views = {name: _rounded(scored) for of_it in of_encoders for name, scored in of_it.items()}
            cited = citations.turns(history, one.request, one.visible) if citations is not None else None
            yield _pool(history, one, one.scored | of_views, options, cited)


@dataclass(frozen=True)
class _Answered:
    """A request, the turns that it sees, and what the channels make of them."""

    request: Request
    visible: Mask
    scored: dict[str, Scored]

    def candidates(self, options: PoolOptions) -> Candidates:
        """The turns that pass the prefilter."""
        fused = _fused({name: ranks(*scored) for name, scored in self.scored.items()}, options)
        return Candidates(self.request, self.visible, np.sort(pool_order(fused)[: options.prefilter]))


def _answered(history: History, requests: list[Request], options: PoolOptions) -> Iterator[_Answered]:
    """The requests that see a turn and that any channel can answer, with the scores of those that score every turn."""
    channels: dict[str, Channel] = {name: CHANNELS[name](history, options) for name in options.scored if name in CHEAP}
    for visible, sharing in views(history, requests):
        if not visible.any():
            continue
        scored_by = [channel.scores(visible, sharing) for channel in channels.values()]
        for request, *of_channels in zip(sharing, *scored_by, strict=True):
            scored = {
                name: _rounded(scored) for name, scored in zip(channels, of_channels, strict=True) if scored is not None
            }
            if any(name in options.channels for name in scored):
                yield _Answered(request, visible, scored)


def _rescorers(history: History, options: PoolOptions) -> dict[str, LateRescorer]:
    """By encoder, what scores the turns that pass the prefilter."""
    views_of: dict[str, list[str]] = defaultdict(list)
    for name in options.scored:
        if name in LATE:
            encoder, view = LATE[name]
            views_of[encoder].append(view)
    if not views_of:
        return {}
    postings = Postings(history.terms)
    return {encoder: LateRescorer(history, encoder, of_it, postings) for encoder, of_it in views_of.items()}


def _broken(history: History, late: Mapping[str, LateTables]) -> Iterator[pa.Table]:
    """Notes of the turns of a history whose codes were to be made here, and that got a vector that is not finite."""
    for name, source in history.codes.items():
        encoder, places = late[name].encoder, source.broken
        if encoder is not None and len(places):
            keys = pl.DataFrame(
                {"session_index": history.session_index[places], "turn_index": history.turn_index[places]}
            ).with_columns(history_id=pl.lit(history.history_id))
            yield not_finite(keys, f"token encoder {encoder.name}", lost=False)


def _rounded(scored: Scored) -> Scored:
    return Scored(np.round(scored.scores, DECIMALS), scored.recalled)


def _fused(rank_of: dict[str, Floats], options: PoolOptions) -> Floats:
    """The fusion of those rankings that are of channels; those of views have no say, but give the shape."""
    weights = [options.weight(name) if name in options.channels else 0.0 for name in rank_of]
    return reciprocal_rank_fusion(list(rank_of.values()), weights, options.rrf_k)


def _pool(
    history: History, answered: _Answered, scored: dict[str, Scored], options: PoolOptions, cited: Ints | None
) -> _Pool:
    request, seen = answered.request, np.flatnonzero(answered.visible)
    rank_of = {name: ranks(*of_channel) for name, of_channel in scored.items()}
    fused = _fused(rank_of, options)
    pool = pool_order(fused)[: options.pool_size]
    if cited is not None:
        also = np.searchsorted(seen, cited[answered.visible[cited]])
        pool = np.concatenate([pool, also[~np.isin(also, pool)][: options.record_cited]])
    return _Pool(
        history_id=history.history_id,
        request_id=request.request_id,
        session_index=history.session_index[seen[pool]],
        turn_index=history.turn_index[seen[pool]],
        rrf_score=fused[pool],
        scores={name: of_channel.scores[pool] for name, of_channel in scored.items()},
        ranks={name: rank[pool] for name, rank in rank_of.items()},
        age_days=_age_days(history, seen, request)[pool],
    )


def _age_days(history: History, seen: Ints, request: Request) -> Floats:
    """Days from each visible turn's session to `asked_at`, or else to the newest visible session; NaN without times."""
    times = history.session_time[seen]
    now = request.asked_at
    if np.isnat(now):
        known = times[~np.isnat(times)]
        now = known.max() if len(known) else now
    elapsed = (now - times).astype("timedelta64[us]")
    return np.where(np.isnat(elapsed), np.nan, elapsed.astype(np.int64) / DAY)


def _table(found: list[_Pool], options: PoolOptions) -> pa.Table:
    """Rows from pools in order of history_id; within a history they are put in order of request_id."""
    schema = schemas.pools(options.scored)
    if not found:
        return schema.empty_table()
    found = sorted(found, key=lambda pool: (pool.history_id, pool.request_id))
    sizes = [len(pool.rrf_score) for pool in found]
    of_row = np.repeat(np.arange(len(found)), sizes)
    columns: dict[str, pa.Array] = {
        "request_id": pa.array([pool.request_id for pool in found], TEXT).take(of_row),
        "history_id": pa.array([pool.history_id for pool in found], TEXT).take(of_row),
        "session_index": np.concatenate([pool.session_index for pool in found]),
        "turn_index": np.concatenate([pool.turn_index for pool in found]),
        "pool_position": np.concatenate([np.arange(1, size + 1) for size in sizes]),
        "rrf_score": np.concatenate([pool.rrf_score for pool in found]),
        "age_days": _nullable(np.concatenate([pool.age_days for pool in found])),
    }
    for name in options.scored:
        unanswered = [np.full(size, np.nan) for size in sizes]
        scores = [pool.scores.get(name, gap) for pool, gap in zip(found, unanswered, strict=True)]
        channel_ranks = [pool.ranks.get(name, gap) for pool, gap in zip(found, unanswered, strict=True)]
        columns[f"{name}_score"] = _nullable(np.concatenate(scores))
        columns[f"{name}_rank"] = _nullable(np.concatenate(channel_ranks))
    return pa.table([columns[name] for name in schema.names], names=schema.names).cast(schema)


def _nullable(values: Floats | Ints) -> pa.Array:
    """An Arrow array with null for NaN."""
    return pa.array(values, from_pandas=True)
