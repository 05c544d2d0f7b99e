"""The stage `pools` of one long history in a process of its own: python long_history.py FOLDER TURNS REQUESTS.

Prints its peak of resident memory in MB (10^6), its seconds and the rows that it made.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from cluster import shard, tables
from cluster.shard import Source, Work
from cluster.stage import Stage
from cluster.storage import Storage
from jobs.config import load_profile
from jobs.graph import TURNS_OF_A_GROUP, stages_to_features
from pipeline import schemas
from pipeline.recall.late.codes import encode
from pipeline.schemas import REQUESTS, TERMS, TEXT, TURN_TOKENS, TURNS

DIM, TOKENS, TERMS_OF_TURN = 384, 40, 20
TOKENS_OF_REQUEST = 12


def pools_stage() -> Stage:
    """Of the default profile."""
    return next(stage for stage in stages_to_features(load_profile("default")) if stage.name == "pools")


def store(folder: Path, n_turns: int, n_requests: int) -> None:
    """Writes the inputs of the stage, one file each, with random words and vectors."""
    storage, rng = Storage(str(folder)), np.random.default_rng(0)
    words = np.array([f"term{number}" for number in range(20_000)])
    said = words[(rng.pareto(1.0, n_turns * TERMS_OF_TURN) * 10).astype(np.int64) % len(words)]
    ids = [f"r{number:03d}" for number in range(n_requests)]
    made = {
        "turns": _turns(n_turns),
        "terms": _table(
            TERMS,
            *_keys(0, n_turns),
            pa.LargeListArray.from_arrays(np.arange(n_turns + 1) * TERMS_OF_TURN, pa.array(said, TEXT)),
        ),
        "turn_vectors": _table(
            schemas.turn_vectors(DIM), *_keys(0, n_turns), np.zeros(n_turns, np.int32), _vectors(_unit(n_turns, rng))
        ),
        "requests": pa.Table.from_pylist([_request(name, number) for number, name in enumerate(ids)], REQUESTS),
        "request_vectors": _table(
            schemas.request_vectors(DIM), ids, ["h"] * n_requests, _vectors(_unit(n_requests, rng))
        ),
        "late_request_tokens": _table(
            schemas.request_tokens(DIM),
            np.repeat(ids, TOKENS_OF_REQUEST),
            ["h"] * n_requests * TOKENS_OF_REQUEST,
            np.tile(np.arange(TOKENS_OF_REQUEST, dtype=np.int32), n_requests),
            [[f"term{number}"] for number in range(n_requests * TOKENS_OF_REQUEST)],
            _vectors(_unit(n_requests * TOKENS_OF_REQUEST, rng)),
        ),
    }
    for name, table in made.items():
        tables.publish(storage, f"{name}.parquet", table, table.schema, "stamp")
    with (
        (folder / "codes").open("w+b") as stream,
        tables.Encoder(stream, TURN_TOKENS, "stamp", "", TURNS_OF_A_GROUP) as to,
    ):
        for start in range(0, n_turns, 2_048):
            to.add(_codes(start, min(start + 2_048, n_turns), rng))
        tables.publish_encoded(storage, "late_turn_tokens.parquet", stream, to.finish())


def run(folder: Path) -> int:
    """Runs the stage as a worker does; the rows of its output."""
    stage, storage = pools_stage(), Storage(str(folder))
    marks = {name: tables.read_mark(storage, f"{name}.parquet") for name in stage.inputs}
    inputs = {name: (Source(f"{name}.parquet", mark.digest),) for name, mark in marks.items() if mark is not None}
    work = Work("pools", "pools.parquet", "quarantine.parquet", inputs, "stamp", "", "")
    return shard.run(stage, storage, work, lambda: None).mark.rows


def _keys(start: int, stop: int) -> list[pa.Array]:
    places = np.arange(start, stop)
    return [pa.array(["h"] * len(places), TEXT), pa.array(places // 20), pa.array((places % 20).astype(np.int32))]


def _turns(n: int) -> pa.Table:
    time_of_all = pa.array(np.repeat(np.datetime64("2024-01-01", "us"), n)).cast(TURNS.field("session_time").type)
    said = pa.array(["x" * 160] * n, TEXT)
    return _table(TURNS, *_keys(0, n), time_of_all, ["user"] * n, pa.nulls(n, TEXT), said, np.full(n, TOKENS, np.int32))


def _request(name: str, number: int) -> dict[str, object]:
    text = f"term{number} term{number * 7}"
    return {"request_id": name, "history_id": "h", "mode": "reader", "text": text, "adversarial": False}


def _codes(start: int, stop: int, rng: np.random.Generator) -> pa.Table:
    codes = encode(_unit((stop - start) * TOKENS, rng))
    offsets = np.arange(stop - start + 1) * TOKENS
    each = codes.values.reshape(stop - start, -1)
    scales = pa.LargeListArray.from_arrays(offsets, pa.array(codes.scales))
    return _table(TURN_TOKENS, *_keys(start, stop), scales, [row.tobytes() for row in each])


def _unit(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((n, DIM), dtype=np.float32) / np.float32(DIM**0.5)


def _vectors(vectors: np.ndarray) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.astype(np.float16).reshape(-1)), DIM)


def _table(schema: pa.Schema, *columns: object) -> pa.Table:
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column, field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.table(arrays, names=schema.names).cast(schema)


if __name__ == "__main__":
    began = time.monotonic()
    rows = run(Path(sys.argv[1]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(f"{peak:.0f} {time.monotonic() - began:.1f} {rows}")
