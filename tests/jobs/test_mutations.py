"""Two thousand mutated copies of small sources: no crash, no hang, and no harm but to what was mutated.

A failure names the call that repeats it, such as `assert_copy_is_harmless("locomo", 17)`.
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from consequences import TABLES, Clean, assert_harmless, read
from mutations import Mutation, mutated
from tiny_sources import SOURCES, Tiny

from cluster.batches import committed
from cluster.lake import Lake
from jobs.ingest import ingest
from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import FORMATS

COPIES = 134
"""Of each source: two thousand in all."""
FEW = 4
IN_LAKES = 2
SECONDS = 20.0
"""That one copy may take, on a machine that has other things to do; here none takes two."""
MEGABYTES = 500
"""That all copies of a source may add to the peak of the memory; values grow to five."""


@cache
def clean(name: str) -> Clean:
    tiny = SOURCES[name]
    return Clean(tiny, read(tiny, {file: tiny.payload(file) for file in tiny.files}))


def copy_of(name: str, number: int) -> Mutation:
    return mutated(SOURCES[name], f"{name}:{number}")


def assert_copy_is_harmless(name: str, number: int) -> bool:
    """Judges one copy, and returns whether anything of it is stored."""
    mutation = copy_of(name, number)
    outcome, refusal = None, ""
    with at_most(SECONDS):
        try:
            outcome = read(SOURCES[name], mutation.files)
        except IngestError as error:
            refusal = str(error)
    if outcome is None:
        assert len(refusal) < 500
        assert may_be_refused(SOURCES[name], mutation), f"all is refused for a part: {refusal}"
        return False
    assert not mutation.broken, "what no one can parse was read"
    assert_harmless(clean(name), mutation, outcome, datetime.now(UTC))
    return True


def may_be_refused(tiny: Tiny, mutation: Mutation) -> bool:
    """Whether what has changed is more than a part of a message, which costs the message at most."""
    more = any(tiny.message_of(path) in (None, path) for path in mutation.changed)
    return more or mutation.broken or mutation.extreme


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises TimeoutError in what takes longer."""

    def out_of_time(*_: object) -> None:
        raise TimeoutError(f"it takes more than {seconds} s")

    before = signal.signal(signal.SIGALRM, out_of_time)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def assert_copies_are_harmless(name: str, numbers: range) -> int:
    """Judges copies; how many of them are stored."""
    stored = 0
    for number in numbers:
        try:
            stored += assert_copy_is_harmless(name, number)
        except Exception as error:
            call = f'assert_copy_is_harmless("{name}", {number})'
            raise AssertionError(f"{call}, {copy_of(name, number).what}: {type(error).__name__}: {error}") from error
    return stored


@pytest.mark.flash
def test_every_format_has_a_source_that_is_read_whole() -> None:
    assert {tiny.source_format for tiny in SOURCES.values()} == set(FORMATS)
    for name, tiny in SOURCES.items():
        assert len({key[0] for key in clean(name).outcome.turns}) == 3, name
        own = {"locomo": 15, "longmemeval": 6, "memsim": 6, "native": 12, "realtalk": 9}
        assert len(clean(name).outcome.tables["labels"]) == own.get(tiny.source_format, 0), name


@pytest.mark.flash
@pytest.mark.parametrize("name", SOURCES)
def test_a_few_mutated_copies_harm_nothing_but_what_was_mutated(name: str) -> None:
    assert_copies_are_harmless(name, range(FEW))


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_mutated_copies_harm_nothing_but_what_was_mutated_in_bounded_time_and_memory(name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    stored = assert_copies_are_harmless(name, range(FEW, COPIES))
    assert stored > COPIES / 2, "hardly any copy is read at all"
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < MEGABYTES


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_a_lake_stores_of_a_mutated_copy_what_was_judged_or_nothing_and_takes_the_next_source(
    name: str, tmp_path: Path
) -> None:
    tiny = SOURCES[name]
    for number in range(IN_LAKES):
        mutation = copy_of(name, number)
        lake = Lake.init(str(tmp_path / f"lake{number}"))
        source = delivered(tmp_path / f"mutated{number}", mutation.files)
        try:
            judged = read(tiny, mutation.files)
        except IngestError:
            with pytest.raises(IngestError):
                ingest(lake, source, tiny.source_format, {})
            assert not list(Path(lake.url).rglob("*.parquet"))
            assert committed(lake) == []
        else:
            ingest(lake, source, tiny.source_format, {})
            for table in (*TABLES, "quarantine"):
                expected = judged.quarantine if table == "quarantine" else judged.tables[table]
                assert stored_in(lake, table) == ordered(expected), f"{table} of {mutation.what}"
        whole = delivered(tmp_path / f"whole{number}", {file: tiny.payload(file) for file in tiny.files})
        assert not ingest(lake, whole, tiny.source_format, {}).already


def delivered(folder: Path, files: Mapping[str, bytes]) -> str:
    """Writes the files of a source; where it lies."""
    folder.mkdir()
    for name, payload in files.items():
        (folder / name).write_bytes(payload)
    return str(folder if len(files) > 1 else folder / next(iter(files)))


def stored_in(lake: Lake, table: str) -> list[str]:
    if not list(Path(lake.url).glob(f"{table}/**/*.parquet")):
        return []
    return ordered(pl.read_parquet(f"{lake.url}/{table}/**/*.parquet", hive_partitioning=False).to_dicts())


def ordered(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Rows in one order, without what depends on the tokenizer."""
    return sorted(repr(sorted((key, value) for key, value in row.items() if key != "n_tokens")) for row in rows)
