"""Five nightly batches, in any order of delivery and with overlaps, store what one delivery of everything does.

What depends on arrival by design, and nothing else does: `session_index` holds the batch, and with it go `turn_index`
and `continues`, since what a later batch brings of a session is another part of it; `seen_session` and `seen_turn` name
the turn that bounds a request by these positions. The time of a session that is a day is that of the first of its
messages in a delivery. Evidence that had not come yet leaves a note.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from nights import EVERY_STEP, GROWING, Files
from words import WordCounter

from cluster.lake import Lake
from jobs.ingest import ingest
from pipeline import schemas
from pipeline.ingest.formats import FORMATS, arrivals
from pipeline.ingest.settle import POSITION_BITS, settle
from pipeline.ingest.source import Document

SCHEMAS = {
    "turns": schemas.TURNS,
    "sources": schemas.SOURCES,
    "requests": schemas.REQUESTS,
    "labels": schemas.LABELS,
    "quarantine": schemas.QUARANTINE,
}
TURN = ["history_id", "session_index", "turn_index"]
NAMED = ["history_id", "session_key", "turn_key"]
ASKED = ["history_id", "request_id"]
DAYS = ("evermemos", "memsim")
"""Formats whose session is a day, at the time of its first message."""
UNSEEN = ("chatgpt", "evermemos", "letta", "openai-chat", "sharegpt")
"""Formats whose requests name the first turn that they do not see: the one that asks."""

Tables = dict[str, pl.DataFrame]


def settled(name: str, deliveries: list[Files], options: Mapping[str, str]) -> Tables:
    """What a bucket holds after some deliveries."""
    held = {table: schema.empty_table() for table, schema in SCHEMAS.items()}
    for seq, files in enumerate(deliveries, start=1):
        documents = (Document.of(io.BytesIO(files[file]), file) for file in sorted(files))
        arrived = list(arrivals(GROWING[name].tiny.source_format, documents, options))
        new = settle(arrived, seq, held["sources"], held["requests"], held["labels"], WordCounter())
        held = {table: pa.concat_tables([held[table], getattr(new, table)]) for table in held}
    return {table: pl.DataFrame(rows) for table, rows in held.items()}


def stored(name: str, lake: Lake, deliveries: list[Files], folder: Path) -> Tables:
    """What a lake holds after some deliveries, each a folder of its own."""
    for number, files in enumerate(deliveries):
        source = folder / str(number)
        source.mkdir(parents=True)
        for file, payload in files.items():
            (source / file).write_bytes(payload)
        ingest(lake, str(source), GROWING[name].tiny.source_format, GROWING[name].options)
    found = {table: list(Path(lake.url).glob(f"{table}/**/*.parquet")) for table in SCHEMAS}
    return {
        table: pl.read_parquet(paths, hive_partitioning=False) if paths else pl.DataFrame(SCHEMAS[table].empty_table())
        for table, paths in found.items()
    }


@cache
def once(name: str) -> Tables:
    return settled(name, [GROWING[name].whole()], GROWING[name].options)


def deliveries_of(name: str, seed: int) -> list[Files]:
    """The nights. Requests of the native format come once more, alone, when all that they cite is there."""
    nights = GROWING[name].nights(random.Random(f"{name}:{seed}"))
    if name == "native":
        lines = map(json.loads, GROWING[name].whole()["a.jsonl"].splitlines())
        asked = [json.dumps({key: line[key] for key in ("history_id", "requests")}) for line in lines]
        nights.append({"requests.jsonl": "\n".join(asked).encode()})
    return nights


def assert_equal(name: str, held: Tables, whole: Tables) -> None:
    """Raises AssertionError where anything differs that does not depend on arrival."""
    assert turns_of(name, held).equals(turns_of(name, whole))
    assert requests_of(name, held).equals(requests_of(name, whole))
    assert labels_of(held).equals(labels_of(whole))
    assert set(held["quarantine"].filter(pl.col("weight") > 0)["reason"]) == set()
    assert set(held["quarantine"]["code"]) <= {"citation"}


def turns_of(name: str, tables: Tables) -> pl.DataFrame:
    """Turns with all that is known of them, by the keys that the source gives them."""
    told = tables["turns"].join(tables["sources"], on=TURN, validate="1:1")
    depends = ["session_index", "turn_index", "continues", *(["session_time"] if name in DAYS else [])]
    return told.drop(depends).sort(NAMED)


def requests_of(name: str, tables: Tables) -> pl.DataFrame:
    """Requests, with the turn that bounds what they see by its keys. What it is to a question of MemSim depends on what
    had come of the day."""
    bound = tables["sources"].select(*TURN, bound=pl.struct("session_key", "turn_key"))
    at = pl.col("seen_turn") + int(name in UNSEEN)
    asked = tables["requests"].with_columns(session_index="seen_session", turn_index=at)
    named = asked.join(bound, on=TURN, how="left", maintain_order="left")
    if name == "memsim":
        return named.drop("session_index", "turn_index", "seen_session", "seen_turn", "bound").sort(ASKED)
    assert named.filter(pl.col("seen_session").is_not_null() & pl.col("bound").is_null()).is_empty()
    return named.drop("session_index", "turn_index", "seen_session", "seen_turn").sort(ASKED)


def labels_of(tables: Tables) -> pl.DataFrame:
    named = tables["labels"].join(tables["sources"], on=TURN, validate="m:1")
    return named.select("request_id", *NAMED).sort(pl.all())


@pytest.mark.flash
def test_every_format_grows() -> None:
    assert {growing.tiny.source_format for growing in GROWING.values()} == set(FORMATS)
    for name in GROWING:
        tables = once(name)
        assert tables["quarantine"].is_empty()
        assert tables["turns"].height >= 12, name
        assert tables["requests"].height >= 3, name


@pytest.mark.flash
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", GROWING)
def test_five_nights_in_any_order_with_overlaps_store_what_one_delivery_does(name: str, seed: int) -> None:
    nights = deliveries_of(name, seed)
    assert len(nights) >= 2
    assert_equal(name, settled(name, nights, GROWING[name].options), once(name))


@pytest.mark.flash
@pytest.mark.parametrize("name", GROWING)
def test_a_session_delivered_twice_is_stored_once(name: str) -> None:
    whole = GROWING[name].whole()
    held = settled(name, [whole, whole], GROWING[name].options)
    assert_equal(name, held, once(name))
    assert {row >> POSITION_BITS for row in held["turns"]["session_index"]} == {1}


@pytest.mark.flash
@pytest.mark.parametrize("name", GROWING)
def test_a_session_delivered_longer_adds_what_is_new_of_it_and_delivered_as_it_was_nothing(name: str) -> None:
    earlier, whole = GROWING[name].earlier(), GROWING[name].whole()
    grown = settled(name, [earlier, whole, earlier], GROWING[name].options)
    assert_equal(name, grown, once(name))
    later = pl.col("session_index") >= 2 << POSITION_BITS
    begun = grown["sources"].filter(~later)
    parts = grown["sources"].filter(later).join(begun, on=["history_id", "session_key"], how="semi")
    assert parts.height > 0, "no session has grown"
    assert {row >> POSITION_BITS for row in parts["session_index"]} == {2}
    assert {row >> POSITION_BITS for row in parts["continues"]} == {1}


@pytest.mark.flash
@pytest.mark.parametrize("name", [name for name, growing in GROWING.items() if "any" in growing.lists.values()])
def test_a_session_delivered_late_is_stored_behind_what_came_before_it(name: str) -> None:
    rest, whole = GROWING[name].without_the_first(), GROWING[name].whole()
    held = settled(name, [rest, whole], GROWING[name].options)
    assert_equal(name, held, once(name))
    late = held["turns"].filter(pl.col("session_index") >= 2 << POSITION_BITS)
    assert 0 < late.height < held["turns"].height


@pytest.mark.flash
@pytest.mark.parametrize("name", ["mini-swe-agent", "openhands", "openhands-lines"])
def test_a_log_that_was_cut_in_the_middle_of_a_step_keeps_that_state_of_it_and_loses_no_request(name: str) -> None:
    whole, cut = GROWING[name].whole(), GROWING[name].cut_in_a_step()
    held = settled(name, [cut, whole], EVERY_STEP)
    assert requests_of(name, held).equals(requests_of(name, once(name)))
    assert held["quarantine"].is_empty()
    key = [*NAMED, "content_digest"]
    extra = turns_of(name, held).join(turns_of(name, once(name)), on=key, how="anti")
    complete = extra.join(turns_of(name, once(name)), on=NAMED, validate="1:1")
    assert complete.height == extra.height == 3
    for text, of_whole in complete.select("text", "text_right").iter_rows():
        assert of_whole.startswith(f"{text}\n=>\n")


@pytest.mark.flash
@pytest.mark.parametrize("name", GROWING)
def test_what_was_the_last_to_be_asked_of_one_night_stays_beside_what_is_the_last_of_all(name: str) -> None:
    nights = deliveries_of(name, seed=0)
    asked, all_asked = (settled(name, given, {})["requests"] for given in ([GROWING[name].whole()], nights))
    assert asked.join(all_asked, on=[*ASKED, "text"], how="anti").is_empty()


@pytest.mark.parametrize("name", GROWING)
def test_five_nights_in_a_lake_store_what_one_delivery_does(name: str, tmp_path: Path) -> None:
    nights = deliveries_of(name, seed=100)
    lake = Lake.init(str(tmp_path / "lake"), buckets=2)
    held = stored(name, lake, nights, tmp_path / "nights")
    whole = stored(name, Lake.init(str(tmp_path / "once"), buckets=2), [GROWING[name].whole()], tmp_path / "whole")
    assert_equal(name, held, whole)
