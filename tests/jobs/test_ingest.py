"""Storing a source: side by side or one after the other, delivered once or in pieces, always the same lake."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest
from inside import ITEMS, delivered, stored
from rich.console import Console

from cluster import tables
from cluster.batches import committed
from cluster.errors import BatchInProgress
from cluster.lake import Lake
from jobs import ingest as job
from jobs import spool
from jobs.report import show_ingest

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


ASKED = {"requests": [{"request_id": "q", "text": "Where does Ada live?"}]}


@pytest.mark.flash
def test_a_history_that_is_asked_about_and_not_stored_is_named_with_those_near_it_and_not_once_it_is(tmp_path) -> None:
    said = {"sessions": [{"turns": [{"role": "user", "text": "I moved to Rome."}]}]}
    lake = stored(tmp_path, [{"history_id": name, **said} for name in ("conversations", "other")], "native")
    asked = [{"history_id": name, **ASKED} for name in ("conversation", "other", "zzz")]
    report = delivered(lake, tmp_path / "asked.jsonl", asked, "native")
    assert report.unheard == {"conversation": ["conversations"], "zzz": []}
    assert (report.lost, report.counts["requests"]) == (0, 3)
    out = io.StringIO()
    show_ingest("asked.jsonl", report, "lake", Console(file=out, width=80))
    assert "history conversation (near it: conversations), zzz: its requests see nothing" in out.getvalue()
    delivered(lake, tmp_path / "late.jsonl", [{"history_id": "conversation", **said}], "native")
    again = delivered(lake, tmp_path / "again.jsonl", [{"history_id": "conversation", **ASKED}, asked[1]], "native")
    assert (again.counts["repeated_requests"], again.unheard) == (2, {})


@pytest.mark.flash
def test_of_many_histories_that_are_not_stored_none_is_looked_up_and_a_few_are_named(tmp_path) -> None:
    lake = stored(tmp_path, ITEMS[:1])
    asked = [{"history_id": f"{ITEMS[0]['question_id']}{number}", **ASKED} for number in range(5)]
    report = delivered(lake, tmp_path / "asked.jsonl", asked, "native")
    assert list(report.unheard.values()) == [[]] * 5
    out = io.StringIO()
    show_ingest("asked.jsonl", report, "lake", Console(file=out, width=80))
    assert "and 2 more: its requests see nothing" in out.getvalue()


@pytest.mark.flash
def test_in_a_lake_of_many_turns_no_history_is_looked_up(tmp_path, monkeypatch) -> None:
    lake = stored(tmp_path, ITEMS[:1])
    (batch,) = committed(lake)
    asked = [{"history_id": f"{ITEMS[0]['question_id']}0", **ASKED}]
    monkeypatch.setattr(job, "_FEW_TURNS", batch.counts["turns"])
    report = delivered(lake, tmp_path / "asked.jsonl", asked, "native")
    assert report.unheard == {asked[0]["history_id"]: [ITEMS[0]["question_id"]]}
    monkeypatch.setattr(job, "_FEW_TURNS", batch.counts["turns"] - 1)
    other = [{"history_id": f"{ITEMS[0]['question_id']}1", **ASKED}]
    assert list(delivered(lake, tmp_path / "other.jsonl", other, "native").unheard.values()) == [[]]


@pytest.mark.flash
def test_a_batch_that_is_stored_is_reported_also_where_no_history_can_be_looked_up(tmp_path) -> None:
    lake = stored(tmp_path, ITEMS[:1])
    (damaged,) = Path(lake.url).glob("turns/*/*.parquet")
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:4] + b"\xff" * 400 + whole[404:])
    asked = [{"history_id": f"{ITEMS[0]['question_id']}0", **ASKED}]
    report = delivered(lake, tmp_path / "asked.jsonl", asked, "native")
    assert report.batch == committed(lake)[1]
    assert report.unheard == {asked[0]["history_id"]: []}


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
