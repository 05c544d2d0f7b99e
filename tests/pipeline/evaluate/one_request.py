"""The tables of one small request, run through the stages with a channel and a counter that a test can redo by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
from words import WordCounter

from pipeline import schemas
from pipeline.evaluate.evidence import RequestTables
from pipeline.features.candidates import features
from pipeline.features.registry import default_features
from pipeline.policies.slates import SlateOptions, slates
from pipeline.recall.options import PoolOptions
from pipeline.recall.pools import pools
from pipeline.terms import terms

START = datetime(2024, 1, 1, tzinfo=UTC)
FIRST = 1 << 20
"""session_index of the first session of batch 1."""


NAMES = default_features(("bm25",))
"""The features of a profile with BM25 alone."""


class Fewest:
    """Prefers short turns: an order far from that of the pool, with many ties."""

    identity = "fewest"
    feature_names = NAMES

    def score(self, features, names):
        return -features[:, names.index("n_tokens")].astype(np.float64)


def key_of(row):
    return row["session_index"], row["turn_index"]


def answered(
    texts,
    gold,
    query,
    pool_size=2,
    asked_day=None,
    continues=None,
    budgets=(9,),
    ranker=None,
    style="dated",
    speaker=None,
):
    """The tables of one request over sessions of texts (one session a day), run through the stages."""
    turns = [
        {"history_id": "h", "session_index": FIRST + s, "turn_index": t, "session_time": START + timedelta(days=s),
         "role": "user", "speaker": speaker, "text": text, "n_tokens": len(text.split())}
        for s, session in enumerate(texts) for t, text in enumerate(session)
    ]  # fmt: skip
    sources = [
        {"history_id": "h", "session_index": row["session_index"], "turn_index": row["turn_index"],
         "source_format": "native", "source_session": f"S{row['session_index'] - FIRST}",
         "source_turn": f"T{row['turn_index']}", "session_key": "k", "turn_key": "k", "content_digest": "d",
         "continues": (continues or {}).get(row["session_index"])}
        for row in turns
    ]  # fmt: skip
    asked_at = None if asked_day is None else START + timedelta(days=asked_day)
    request = {"request_id": "q", "history_id": "h", "mode": "reader", "text": query, "asked_at": asked_at}
    labels = [
        {"request_id": "q", "history_id": "h", "session_index": FIRST + s, "turn_index": t} for s, t in sorted(gold)
    ]
    asked = pa.Table.from_pylist([{**request, "adversarial": False}], schemas.REQUESTS)
    stored = pa.Table.from_pylist(turns, schemas.TURNS)
    options = PoolOptions(channels=("bm25",), pool_size=pool_size)
    pool, _ = pools(asked, stored, terms(stored), None, None, options)
    found = features(pool, stored, asked, NAMES, options.scored)
    policies = SlateOptions(("recall_order", "lambdarank"), tuple(budgets), style)
    tables = RequestTables(
        requests=asked,
        labels=pa.Table.from_pylist(labels, schemas.LABELS),
        turns=stored,
        told=stored,
        sources=pa.Table.from_pylist(sources, schemas.SOURCES),
        terms=terms(stored),
        turn_vectors=None,
        request_vectors=None,
        late={},
        pools=pool,
        features=found,
        slates=slates(asked, found, stored, policies, WordCounter(), ranker or Fewest()),
    )
    return tables, options
