"""Storing a source: side by side or one after the other, delivered once or in pieces, always the same lake."""

from __future__ import annotations

import copy
import random
from pathlib import Path

import polars as pl
import pytest
from inside import ITEMS, delivered, stored

from cluster import tables
from cluster.batches import committed
from cluster.errors import BatchInProgress
from cluster.lake import Lake
from jobs import ingest as job
from jobs import spool

TABLES = ("turns", "sources", "requests", "labels")


def rows(lake: Lake, table: str) -> pl.DataFrame:
    frame = pl.read_parquet(f"{lake.url}/{table}/*/*.parquet", hive_partitioning=False)
    return frame.sort(frame.columns[:4])


@pytest.mark.cluster
def test_buckets_stored_side_by_side_are_those_stored_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_by_one = stored(tmp_path, ITEMS, name="one")
    monkeypatch.setattr(job, "SIDE_BY_SIDE", 1)
    together = stored(tmp_path, ITEMS, name="together")
    for table in TABLES:
        assert rows(together, table).equals(rows(one_by_one, table))
    assert [batch.counts for batch in committed(together)] == [batch.counts for batch in committed(one_by_one)]


@pytest.mark.flash
def test_a_bucket_settled_in_parts_is_the_file_that_it_is_when_settled_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = (Lake.init(str(tmp_path / name), buckets=1) for name in ("whole", "parts"))
    odd = [*ITEMS, {"question_id": "lost", "question": "?"}, 7]
    delivered(whole, tmp_path / "same.json", odd)
    monkeypatch.setattr(spool, "PART_TURNS", 1)
    delivered(parts, tmp_path / "same.json", odd)
    (batch,) = committed(whole)
    paths = [whole.path(table, 0, batch.name) for table in TABLES]
    paths.append(whole.quarantine_path(job.INGEST, 0, batch.name))
    for path in paths:
        assert tables.read_mark(parts.storage, path) == tables.read_mark(whole.storage, path)
    assert committed(parts)[0].counts == batch.counts


def test_a_batch_that_broke_off_in_the_middle_is_finished_by_the_same_source_and_holds_up_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = stored(tmp_path, ITEMS, name="whole")
    lake = Lake.init(str(tmp_path / "broken"))
    settle_bucket, stored_buckets = job.settle_bucket, []

    def breaks_off(*arguments: object) -> object:
        if len(stored_buckets) == 2:
            raise KeyboardInterrupt
        stored_buckets.append(arguments[2])
        return settle_bucket(*arguments)

    monkeypatch.setattr(job, "settle_bucket", breaks_off)
    with pytest.raises(KeyboardInterrupt):
        delivered(lake, tmp_path / "broken.json", ITEMS)
    monkeypatch.setattr(job, "settle_bucket", settle_bucket)
    assert committed(lake) == []
    with pytest.raises(BatchInProgress):
        delivered(lake, tmp_path / "other.json", ITEMS[:1])
    assert not delivered(lake, tmp_path / "broken.json", ITEMS).already
    for table in TABLES:
        assert rows(lake, table).equals(rows(whole, table))


def nights(items: list[dict], seed: int) -> list[list[dict]]:
    """Five nightly deliveries with overlaps: each holds some histories, some of them only as far as they had grown."""
    dice = random.Random(seed)
    pieces: list[list[dict]] = [[] for _ in range(5)]
    for item in items:
        full = dice.randrange(5)
        for night, piece in enumerate(pieces):
            if night != full and dice.random() < 0.5:
                piece.append(cut(item, dice.randint(1, len(item["haystack_sessions"]))))
        pieces[full].append(item)
    dice.shuffle(pieces)
    return [piece for piece in pieces if piece]


def cut(item: dict, sessions: int) -> dict:
    shorter = copy.deepcopy(item)
    for key in ("haystack_sessions", "haystack_dates", "haystack_session_ids"):
        shorter[key] = shorter[key][:sessions]
    return shorter


@pytest.mark.parametrize("seed", range(4))
def test_five_nights_in_any_order_with_overlaps_store_what_one_delivery_does(tmp_path: Path, seed: int) -> None:
    """All but what design says depends on arrival: batches, hence session_index, and how requests saw it."""
    once = stored(tmp_path, ITEMS, name="once")
    lake = Lake.init(str(tmp_path / "nightly"))
    for night, items in enumerate(nights(ITEMS, seed)):
        delivered(lake, tmp_path / f"{night}.json", items)

    def by_source(opened: Lake) -> pl.DataFrame:
        key = ["history_id", "session_index", "turn_index"]
        joined = rows(opened, "turns").join(rows(opened, "sources"), on=key, validate="1:1")
        return joined.drop("session_index", "turn_index", "continues").sort("history_id", "session_key", "turn_key")

    def cited(opened: Lake) -> pl.DataFrame:
        key = ["history_id", "session_index", "turn_index"]
        named = rows(opened, "labels").join(rows(opened, "sources"), on=key)
        return named.select("history_id", "request_id", "session_key", "turn_key").sort(pl.all())

    assert by_source(lake).equals(by_source(once))
    asked = ["history_id", "request_id", "text", "asked_at", "category", "answer", "adversarial"]
    assert rows(lake, "requests").select(asked).equals(rows(once, "requests").select(asked))
    assert cited(lake).equals(cited(once))
