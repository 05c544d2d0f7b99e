"""What is wrong in a file of any format costs what it must and no more: times, secrets, an upload that broke off."""

from __future__ import annotations

import copy
import io
import random
from pathlib import Path

import polars as pl
import pytest
from consequences import read
from mutations import places
from tiny_sources import SOURCES

from cluster.lake import Lake
from jobs.ingest import ingest
from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import arrivals
from pipeline.ingest.source import Document


@pytest.mark.flash
@pytest.mark.parametrize("name", SOURCES)
def test_no_time_that_cannot_be_parsed_becomes_now_or_any_other(name: str) -> None:
    tiny = SOURCES[name]
    value = copy.deepcopy(tiny.files)
    for path, leaf in places(value):
        dated = isinstance(leaf, str | float) and any(mark in str(path[-1]) for mark in ("time", "date", "created"))
        if dated or path[-2:-1] == ("haystack_dates",):
            within = value
            for key in path[:-1]:
                within = within[key]
            within[path[-1]] = "31.02.2023 at noon"
    damaged = type(tiny)(tiny.source_format, value, tiny.unit, tiny.messages, tiny.lines)
    outcome = read(damaged, {file: damaged.payload(file) for file in value})
    dated = {
        row["session_time"] is not None for row in read(tiny, {f: tiny.payload(f) for f in tiny.files}).turns.values()
    }
    assert {row["session_time"] for row in outcome.turns.values()} <= {None}
    if True in dated:
        assert outcome.turns == {}
        assert {row["code"] for row in outcome.quarantine} >= {"bad_time"}


SECRET = "sk-live-51H8abcdefGHIJKLmnopqrSTUVwxyz0123456789ABCDEFGH"
NAMES = ("tid", "target_step_id", "session", "turn")
"""Keys of ids, which are shown: by these things are found."""


@pytest.mark.parametrize("name", SOURCES)
def test_wherever_a_secret_or_a_document_stands_no_row_of_the_quarantine_and_no_error_holds_it(name: str) -> None:
    tiny, said, refused = SOURCES[name], [], 0
    file = sorted(tiny.files)[0]
    # The first few of each list are like the rest.
    for path, _ in places(tiny.files[file]):
        if any(isinstance(key, int) and key > 1 for key in path) or any(key in NAMES for key in path[-2:]):
            continue
        for value in (f"my password is {SECRET}", {"text": "a document " * 1_000}):
            changed = copy.deepcopy(tiny.files[file])
            within = changed
            for key in path[:-1]:
                within = within[key]
            within[path[-1]] = value
            payload = type(tiny)(tiny.source_format, {file: changed}, (), (), tiny.lines).payload(file)
            try:
                arrived = list(arrivals(tiny.source_format, [Document.of(io.BytesIO(payload), file)], {}))
            except IngestError as error:
                said.append(str(error))
                continue
            rows = [row for arrival in arrived for row in arrival.quarantine.to_pylist()]
            assert all(row["file"] == file and row["place"] and row["code"] for row in rows)
            said += [f"{row['place']}: {row['reason']}" for row in rows]
            refused += bool(rows)
    assert refused >= 3
    assert not any(SECRET[:12] in text or len(text) > 500 for text in said)


@pytest.mark.flash
@pytest.mark.parametrize("name", ["native", "openai-chat", "openhands-lines", "longmemeval", "locomo", "realtalk"])
def test_a_file_that_comes_again_whole_after_a_failed_upload_leaves_no_gap_and_no_double(
    name: str, tmp_path: Path
) -> None:
    tiny, dice = SOURCES[name], random.Random(name)
    lake, once = (Lake.init(str(tmp_path / folder)) for folder in ("lake", "once"))
    file = sorted(tiny.files)[0]
    whole = tmp_path / file
    for _ in range(2):
        # The upload broke off: it is ingested as far as it came, and so is what was appended to it.
        whole.write_bytes(tiny.payload(file)[: dice.randrange(len(tiny.payload(file)))])
        if tiny.lines:
            ingest(lake, str(whole), tiny.source_format, {})
        else:
            with pytest.raises(IngestError):
                ingest(lake, str(whole), tiny.source_format, {})
    whole.write_bytes(tiny.payload(file))
    for target in (lake, once):
        assert not ingest(target, str(whole), tiny.source_format, {}).already
    assert ingest(lake, str(whole), tiny.source_format, {}).already
    for table in ("turns", "requests", "labels"):
        assert by_source(lake, table).equals(by_source(once, table)), table


def by_source(lake: Lake, table: str) -> pl.DataFrame:
    """The rows of a table with the source's names in place of positions, which depend on the batch."""
    key = ["history_id", "session_index", "turn_index"]
    frame, sources = (
        pl.read_parquet(f"{lake.url}/{part}/*/*.parquet", hive_partitioning=False) for part in (table, "sources")
    )
    if table == "requests":
        return frame.drop("seen_session", "seen_turn").sort(pl.all())
    joined = frame.join(sources.select(*key, "session_key", "turn_key"), on=key, how="left", validate="m:1")
    return joined.drop("session_index", "turn_index").sort(pl.all())
