"""What the tests of ingest share: a counter that needs no model, and settling of Python values."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pipeline.ingest.arrival import Arrival
from pipeline.ingest.formats import arrivals
from pipeline.ingest.settle import Settled, settle
from pipeline.ingest.source import Document
from pipeline.schemas import LABELS, REQUESTS, SOURCES


class WordCounter:
    """One token a word."""

    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())

    def count_many(self, texts: Sequence[str]) -> npt.NDArray[np.int32]:
        return np.array([self.count(text) for text in texts], np.int32)


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
def settle_first(words: WordCounter) -> SettleFirst:
    """Settles arrivals into an empty lake."""

    def settled(arrivals: list[Arrival]) -> Settled:
        return settle(arrivals, 0, SOURCES.empty_table(), REQUESTS.empty_table(), LABELS.empty_table(), words)

    return settled
