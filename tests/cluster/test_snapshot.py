"""A snapshot is one whole run, and says when its files are no longer those of the run."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pytest

from cluster import snapshot, tables
from cluster.errors import LakeError, SnapshotStale
from cluster.lake import Lake
from cluster.report import Failure
from cluster.snapshot import FILES, Snapshot

SCHEMA = pa.schema([pa.field("history_id", pa.large_string(), nullable=False)])
NOW = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)


@pytest.fixture(params=["local", "memory"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    return Lake.init(str(tmp_path / "lake") if request.param == "local" else f"memory://{uuid.uuid4().hex}/lake")


def write_table(lake: Lake, table: str, bucket: int, stamp: str, *rows: str) -> dict[str, object]:
    path = lake.path(table, bucket, "000001-a")
    mark = tables.publish(lake.storage, path, pa.table({"history_id": list(rows)}, SCHEMA), SCHEMA, stamp)
    row = {"path": path, "stage": table, "table": table, "bucket": bucket, "batch": "000001-a", "role": "written"}
    return {
        **row,
        "stamp": mark.stamp,
        "digest": mark.digest,
        "rows": mark.rows,
        "quarantined": 0,
        **snapshot.NO_COST,
        "seconds": 0.5,
    }


def run_of(profile: str, started: datetime, rows: list[dict[str, object]]) -> Snapshot:
    return Snapshot(
        run_id=snapshot.new_run_id(started),
        profile=profile,
        started=started,
        ended=started + timedelta(seconds=9),
        exit_code=0,
        config={"budgets": [900, 2700], "recall": {"k": 60}},
        identities={"ranker": "abc"},
        counts={"slates": {"done": 2}},
        cost={"seconds": 1.5},
        files=pa.Table.from_pylist(rows, FILES),
    )


@pytest.mark.flash
def test_a_snapshot_comes_back_as_it_was(lake: Lake) -> None:
    taken = run_of("p", NOW, [write_table(lake, "turns", 1, "s", "h"), write_table(lake, "turns", 0, "s", "g")])
    snapshot.write(lake, taken)
    assert snapshot.load(lake, taken.run_id) == taken
    assert snapshot.paths_of(taken, "turns") == [lake.path("turns", 0, "000001-a"), lake.path("turns", 1, "000001-a")]
    assert snapshot.paths_of(taken, "pools") == []


@pytest.mark.flash
def test_what_failed_is_kept_and_no_file_is_made_where_nothing_did(lake: Lake) -> None:
    well, badly = run_of("p", NOW, []), run_of("p", NOW + timedelta(seconds=1), [])
    failures = [Failure("pools", "000001-a", bucket, "OSError: no", "a traceback") for bucket in (2, 1)]
    snapshot.write(lake, well)
    snapshot.write(lake, badly, failures)
    assert snapshot.failures_of_run(lake, badly.run_id) == failures
    assert snapshot.failures_of_run(lake, well.run_id) == []
    assert [info.path for info in lake.storage.list("runs", "failures.parquet")] == [
        f"runs/{badly.run_id}/failures.parquet"
    ]
    assert snapshot.load(lake, badly.run_id) == badly


@pytest.mark.flash
def test_the_latest_is_of_its_profile_and_whole(lake: Lake) -> None:
    with pytest.raises(LakeError, match=r"slatemill run"):
        snapshot.latest(lake, "p")
    old, new = run_of("p", NOW, []), run_of("p", NOW + timedelta(microseconds=1), [])
    other, broken = run_of("q", NOW + timedelta(days=1), []), run_of("p", NOW + timedelta(days=2), [])
    for taken in (new, old, other, broken):
        snapshot.write(lake, taken)
    lake.storage.delete(f"runs/{broken.run_id}/run.parquet")
    assert snapshot.latest(lake, "p").run_id == new.run_id
    assert vars(snapshot.latest(lake, "p")) == {**vars(snapshot.latest_run(lake, "p")), "files": new.files}
    assert snapshot.latest_run(lake, "nobody") is None
    assert snapshot.run_ids(lake) == [other.run_id, new.run_id, old.run_id]
    with pytest.raises(LakeError, match=broken.run_id):
        snapshot.load(lake, broken.run_id)


@pytest.mark.flash
def test_a_run_id_sorts_by_time_in_any_zone_and_is_given_once() -> None:
    elsewhere = (NOW + timedelta(seconds=1)).astimezone(timezone(timedelta(hours=-9)))
    assert snapshot.new_run_id(NOW) < snapshot.new_run_id(elsewhere)
    assert len({snapshot.new_run_id(NOW) for _ in range(100)}) == 100


@pytest.mark.flash
def test_a_file_that_changed_or_went_makes_a_snapshot_stale(lake: Lake) -> None:
    rows = [write_table(lake, name, 0, "s", "h") for name in ("turns", "pools", "slates")]
    taken = run_of("p", NOW, rows)
    snapshot.verify(lake, taken)
    write_table(lake, "pools", 0, "another stamp", "h")
    with pytest.raises(SnapshotStale, match=r"pools/bucket=b0000"):
        snapshot.verify(lake, taken)
    snapshot.verify(lake, taken, ["turns", "slates"])
    lake.storage.delete(str(rows[2]["path"]))
    write_table(lake, "slates", 0, "s", "other content")
    with pytest.raises(SnapshotStale, match=r"slates/"):
        snapshot.verify(lake, taken, ["slates"])
    lake.storage.delete(str(rows[0]["path"]))
    with pytest.raises(SnapshotStale, match=r"turns/"):
        snapshot.verify(lake, taken, ["turns"])
