"""The price of a stage is what workers took for it, by the rows of the table of ingest that it works on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from toy_stages import planned, stages

from cluster import snapshot
from cluster.pricing import RUNS, Price, prices
from cluster.snapshot import FILES, Snapshot

pytestmark = pytest.mark.flash
START = datetime(2026, 1, 1, tzinfo=UTC)


def ran(lake, number: int, files: list[dict]) -> None:
    started = START + timedelta(minutes=number)
    rows = [
        {"bucket": 0, "batch": "000001-a", "stamp": "", "digest": "", "quarantined": 0, **snapshot.NO_COST, **file}
        for file in files
    ]
    snapshot.write(
        lake,
        Snapshot(
            run_id=snapshot.new_run_id(started),
            profile="toy",
            started=started,
            ended=started,
            exit_code=0,
            config={},
            identities={},
            counts={},
            cost={},
            files=pa.Table.from_pylist(rows, FILES),
        ),
    )


def events(rows: int, bucket: int = 0) -> dict:
    return {"path": f"events/{bucket}", "stage": "", "table": "events", "role": "read", "rows": rows, "seconds": 0.0,
            "bucket": bucket}  # fmt: skip


def made(stage: str, folder: str, seconds: float, role: str = "written", bucket: int = 0, rows: int = 1) -> dict:
    path = f"{stage}/{folder}/bucket=b{bucket:04d}/000001-a.parquet"
    return {"path": path, "stage": stage, "table": stage, "role": role, "rows": rows, "seconds": seconds,
            "bucket": bucket}  # fmt: skip


def test_seconds_are_shared_out_over_root_rows_of_what_was_written(toy_lake):
    graph = planned(toy_lake, stages()).graph
    assert [graph.root(index) for index in range(4)] == ["events"] * 4
    assert prices(toy_lake, graph) == {}
    first, second = (made("double", "kind=plain", seconds, bucket=bucket) for bucket, seconds in enumerate((2.0, 6.0)))
    ran(toy_lake, 1, [events(10), events(30, bucket=1), first, second, made("sums", "profile=toy", 4.0, rows=7)])
    ran(toy_lake, 2, [events(10), made("double", "kind=plain", 0.0, role="reused"), made("sums", "profile=toy", 6.0)])
    assert prices(toy_lake, graph) == {"double": Price(0.2, True), "sums": Price(0.5, True)}


def test_what_another_choice_took_is_told_apart_and_counts_only_where_there_is_nothing_else(toy_lake):
    graph = planned(toy_lake, stages()).graph
    ran(toy_lake, 1, [events(10), made("vectors", "model=two", 30.0)])
    assert prices(toy_lake, graph) == {"vectors": Price(3.0, False)}
    ran(toy_lake, 2, [events(10), made("vectors", "model=one", 5.0)])
    assert prices(toy_lake, graph) == {"vectors": Price(0.5, True)}


def test_a_training_that_left_its_files_counts_like_a_run(toy_lake):
    graph = planned(toy_lake, stages()).graph
    ran(toy_lake, 1, [events(10), made("double", "kind=plain", 1.0)])
    (run_id,) = snapshot.run_ids(toy_lake)
    files = snapshot.files_of_run(toy_lake, run_id)
    seconds = files.schema.get_field_index("seconds")
    tripled = files.set_column(seconds, FILES.field("seconds"), pc.multiply(files["seconds"], 3.0))
    snapshot.write_files(toy_lake, snapshot.new_run_id(START + timedelta(minutes=2)), tripled)
    assert prices(toy_lake, graph) == {"double": Price(0.2, True)}
    assert snapshot.run_ids(toy_lake) == [run_id]


def test_only_the_newest_runs_count_and_shards_without_rows_do_not(toy_lake):
    graph = planned(toy_lake, stages()).graph
    ran(toy_lake, 0, [events(1), made("sums", "profile=toy", 999.0)])
    for number in range(1, RUNS + 1):
        ran(toy_lake, number, [events(10), events(0, bucket=1), made("double", "kind=plain", 1.0),
                               made("double", "kind=plain", 50.0, bucket=1)])  # fmt: skip
    assert prices(toy_lake, graph) == {"double": Price(0.1, True)}


def test_what_models_and_gpus_took_is_priced_by_the_same_rows(toy_lake):
    graph = planned(toy_lake, stages()).graph
    asked = {"calls": 20, "prompt_tokens": 5_000, "gpu_seconds": 2.5}
    ran(toy_lake, 1, [events(10), {**made("vectors", "model=one", 5.0), **asked}])
    assert prices(toy_lake, graph) == {
        "vectors": Price(0.5, True, {"gpu_seconds": 0.25, "calls": 2.0, "prompt_tokens": 500.0})
    }
