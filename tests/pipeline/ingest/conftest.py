"""What the tests of ingest share: a counter that needs no model, and settling of Python values."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from words import WordCounter

# Helpers beside the tests are imported by name: importlib mode puts no test directory on the path.
sys.path.insert(0, str(Path(__file__).parent))

from arrived import settled_in_turn

from pipeline.ingest.arrival import Arrival
from pipeline.ingest.formats import arrivals
from pipeline.ingest.settle import Settled
from pipeline.ingest.source import Document


@pytest.fixture(scope="session")
def words() -> WordCounter:
    return WordCounter()


Deliver = Callable[..., list[Arrival]]
SettleFirst = Callable[[list[Arrival]], Settled]


@pytest.fixture(scope="session")
def deliver() -> Deliver:
    """`deliver(format, value)`: a Python value as the bytes of a source, read."""

    def read(source_format: str, value: Any, **options: Any) -> list[Arrival]:
        documents = value if source_format == "native" else [value]
        payload = "\n".join(json.dumps(document) for document in documents)
        return list(arrivals(source_format, [Document.of(io.BytesIO(payload.encode()), "source.json")], options))

    return read


@pytest.fixture(scope="session")
def settle_first() -> SettleFirst:
    """Settles arrivals into an empty lake, as its batch 0."""
    return lambda arrivals: settled_in_turn([arrivals], first=0)[0]
