"""Which histories are an agent's: their turns are steps of a task, and are packed otherwise than a conversation."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc


def agent_histories(sources: pa.Table, requests: pa.Table, formats: Collection[str]) -> set[str]:
    """Those that came in one of `formats`, and those that a request of mode `agent` was asked over.

    `sources` (SOURCES) are of the batch that is cut, `requests` (REQUESTS) of what arrived up to it.
    """
    logged = sources.filter(pc.is_in(sources["source_format"], pa.array(list(formats), pa.large_string())))
    asked = requests.filter(pc.equal(requests["mode"], "agent"))
    return {*logged["history_id"].to_pylist(), *asked["history_id"].to_pylist()}
