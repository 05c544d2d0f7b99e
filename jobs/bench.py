"""`make bench`: what the fast engines gain over their references, as ratios within one run."""

from __future__ import annotations

import io
import statistics
import time
from collections.abc import Callable

from models.tokens import token_counter
from pipeline import schemas
from pipeline.ingest.formats import arrivals
from pipeline.ingest.settle import settle
from pipeline.ingest.source import Document
from pipeline.recall.options import PoolOptions
from pipeline.recall.pools import pools
from pipeline.synth.histories import json_chunks
from pipeline.terms import terms

_ROUNDS = 5


def main() -> None:
    """Prints the median time of each engine on the same generated histories, and their ratio."""
    stream = io.BytesIO(b"".join(json_chunks(histories=40, sessions=20, seed=0)))
    arrived = list(arrivals("longmemeval", [Document.of(stream, "generated")], {}))
    nothing = (schemas.SOURCES.empty_table(), schemas.REQUESTS.empty_table(), schemas.LABELS.empty_table())
    stored = settle(arrived, 1, *nothing, token_counter("o200k_base"))
    indexed = terms(stored.turns)

    def engine(name: str) -> Callable[[], object]:
        options = PoolOptions.model_validate({"channels": ("bm25",), "bm25_engine": name})
        return lambda: pools(stored.requests, stored.turns, indexed, None, None, options)

    fast, reference = _medians(engine("vectorised"), engine("rank_bm25"))
    print(f"pools of {stored.requests.num_rows} requests over {stored.turns.num_rows} turns, median of {_ROUNDS}:")
    print(f"  BM25 vectorised {fast:.3f} s, rank_bm25 {reference:.3f} s: {reference / fast:.1f} times")


def _medians(*candidates: Callable[[], object]) -> list[float]:
    """Median seconds of each, taken in turns so that a busy machine slows them alike."""
    taken: list[list[float]] = [[] for _ in candidates]
    for _ in range(_ROUNDS):
        for times, candidate in zip(taken, candidates, strict=True):
            started = time.perf_counter()
            candidate()
            times.append(time.perf_counter() - started)
    return [statistics.median(times) for times in taken]


if __name__ == "__main__":
    main()
