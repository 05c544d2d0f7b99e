from __future__ import annotations

from dataclasses import replace
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from toy_stages import SUMS, VALUES, Behaviour, arrive, only, quarantined, stages

from cluster import shard, tables
from cluster.batches import committed
from cluster.errors import InputChanged, LakeError, SchemaMismatch
from cluster.plan import Plan
from cluster.row_groups import RowGroups
from cluster.stage import ShardOutput

pytestmark = pytest.mark.flash


def first_work(opened, path, name="double"):
    plan = Plan(opened, only(name, path), committed(opened))
    return plan.graph.stages[0], plan.work(next(iter(plan.standings)))


def nothing() -> None:
    return None


def test_output_and_quarantine_are_published_with_the_stamp(toy_lake):
    stage, work = first_work(toy_lake, stages(double=Behaviour(refuse=(2,))))
    report = shard.run(stage, toy_lake.storage, work, nothing)
    assert report.mark == tables.read_mark(toy_lake.storage, work.output)
    assert report.quarantine_mark == tables.read_mark(toy_lake.storage, work.quarantine)
    assert (report.mark.stamp, report.mark.rows, report.note.weight) == (work.stamp, 5, 1)


def test_a_quarantine_file_goes_when_nothing_is_left_out_any_more(toy_lake):
    for refuse, left in (((2, 3), 2), ((), 0)):
        stage, work = first_work(toy_lake, stages(double=Behaviour(refuse=refuse)))
        shard.run(stage, toy_lake.storage, work, nothing)
        assert len(quarantined(toy_lake)) == left
    assert not toy_lake.storage.exists(work.quarantine)


def test_a_table_that_is_not_in_order_is_not_published(toy_lake):
    stage, work = first_work(toy_lake, stages())
    for table, error, said in (
        (SUMS.empty_table(), SchemaMismatch, "value"),
        (pa.table({"history_id": ["b", "a"], "n": [1, 2], "value": [1, 2]}).cast(VALUES), LakeError, "not sorted"),
    ):
        broken = replace(stage, compute=lambda inputs, model, table=table: ShardOutput(table))
        with pytest.raises(error, match=said):
            shard.run(broken, toy_lake.storage, work, nothing)
        assert not toy_lake.storage.exists(work.output)


def test_an_output_in_parts_is_the_file_that_it_would_be_whole_with_all_that_was_left_out(toy_lake):
    stage, work = first_work(toy_lake, stages(double=Behaviour(refuse=(1, 4))))
    whole = shard.run(stage, toy_lake.storage, work, nothing)
    file, left_out = toy_lake.storage.read_bytes(work.output), quarantined(toy_lake)

    def in_parts(inputs, model):
        events = inputs["events"]
        for row in range(events.num_rows):
            yield stage.compute({"events": events.slice(row, 1)}, model)

    toy_lake.storage.delete(work.output)
    parted = shard.run(replace(stage, compute=in_parts), toy_lake.storage, work, nothing)
    assert (parted.mark, parted.note) == (whole.mark, whole.note)
    assert (toy_lake.storage.read_bytes(work.output), quarantined(toy_lake)) == (file, left_out)


def test_parts_that_are_in_order_each_but_not_together_are_not_published(toy_lake):
    stage, work = first_work(toy_lake, stages())
    parts = [pa.table({"history_id": [name], "n": [1], "value": [1]}).cast(VALUES) for name in ("b", "a")]
    broken = replace(stage, compute=lambda inputs, model: map(ShardOutput, parts))
    with pytest.raises(LakeError, match="not sorted"):
        shard.run(broken, toy_lake.storage, work, nothing)
    assert not toy_lake.storage.exists(work.output)


def test_rows_of_an_output_lie_in_groups_of_the_stage_s_size(toy_lake):
    stage, work = first_work(toy_lake, stages())
    shard.run(replace(stage, group_rows=4), toy_lake.storage, work, nothing)
    with toy_lake.storage.open_input(work.output) as stream:
        footer = pq.read_metadata(stream)
    assert [footer.row_group(group).num_rows for group in range(footer.num_row_groups)] == [4, 2]


def test_an_input_in_groups_is_handed_over_unread_and_is_not_computed_from_when_it_was_replaced_under_way(toy_lake):
    path = stages()
    plan = Plan(toy_lake, path, committed(toy_lake))
    for key in [key for key in plan.standings if key.stage < 2]:
        plan.finish(key, shard.run(plan.stage(key), toy_lake.storage, plan.work(key), path[1].model.load))
    key = next(key for key in plan.standings if key.stage == 2)
    stage, work = path[2], plan.work(key)
    grouped = replace(stage.inputs["doubled"], in_groups=True)
    seen = []

    def reading(inputs, model, between):
        assert isinstance(inputs["doubled"], RowGroups)
        between()
        seen.extend(row for part in inputs["doubled"].of_history("h0-1") for row in part["n"].to_pylist())
        return ShardOutput(SUMS.empty_table())

    def with_input(between):
        return replace(stage, inputs={**stage.inputs, "doubled": grouped}, compute=partial(reading, between=between))

    shard.run(with_input(nothing), toy_lake.storage, work, nothing)
    assert seen == [3, 4, 5]
    toy_lake.storage.delete(work.output)
    (source,) = work.inputs["doubled"]
    doubled = tables.read(toy_lake.storage, [source.path], VALUES)
    other = partial(tables.publish, toy_lake.storage, source.path, doubled.slice(1), VALUES, "other")
    with pytest.raises(InputChanged, match="was replaced"):
        shard.run(with_input(other), toy_lake.storage, work, nothing)
    assert not toy_lake.storage.exists(work.output)


def test_an_input_that_was_replaced_under_way_is_not_computed_from(toy_lake):
    stage, work = first_work(toy_lake, stages())
    path = work.inputs["events"][0].path
    events = tables.read(toy_lake.storage, [path], stage.inputs["events"].schema)
    tables.publish(toy_lake.storage, path, events.slice(1), events.schema, "other")
    with pytest.raises(InputChanged, match="was replaced"):
        shard.run(stage, toy_lake.storage, work, nothing)
    assert not toy_lake.storage.exists(work.output)


def test_only_histories_of_the_primary_are_read(toy_lake):
    arrive(toy_lake, "e" * 64, (1,), 7000, rows=1)
    path = stages()
    plan = Plan(toy_lake, path, committed(toy_lake))
    for key in [key for key in plan.standings if key.stage < 2]:
        plan.finish(key, shard.run(plan.stage(key), toy_lake.storage, plan.work(key), path[1].model.load))
    last = max(key for key in plan.standings if key.stage == 2 and key.bucket == 1)
    seen = {}

    def spy(inputs, model):
        seen.update({name: table["history_id"].unique().to_pylist() for name, table in inputs.items()})
        return path[2].compute(inputs, model)

    shard.run(replace(path[2], compute=spy), toy_lake.storage, plan.work(last), nothing)
    assert seen == {"asked": ["h1-0"], "doubled": ["h1-0"], "shifted": ["h1-0"]}


def test_units_taken_out_stay_out_and_are_no_longer_counted(toy_lake):
    stage, work = first_work(toy_lake, stages())
    assert shard.count_units(stage, toy_lake.storage, work, nothing) == 6
    note = shard.take_out(stage, toy_lake.storage, work, nothing, (0, 4), "it kills")
    assert (note.rows, note.weight) == (2, 2)
    stage, work = first_work(toy_lake, stages())
    assert work.crashed == note.crashed
    assert shard.count_units(stage, toy_lake.storage, work, nothing) == 4
    shard.run(stage, toy_lake.storage, work, nothing)
    kept = tables.read(toy_lake.storage, [work.output], VALUES)
    assert kept["n"].to_pylist() == [1, 2, 3, 5]
    assert [(row["n"], row["reason"]) for row in quarantined(toy_lake)] == [(0, "it kills"), (4, "it kills")]


def test_a_probe_computes_its_units_and_publishes_nothing(toy_lake):
    stage, work = first_work(toy_lake, stages(double=Behaviour(raise_on=(2,))))
    shard.probe(stage, toy_lake.storage, work, nothing, range(3, 6))
    with pytest.raises(ValueError, match="number 2"):
        shard.probe(stage, toy_lake.storage, work, nothing, range(0, 3))
    assert not toy_lake.storage.exists(work.output)


def test_a_shard_without_rows_is_written_without_its_stage(tmp_path, toy_lake):
    arrive(toy_lake, "e" * 64, (3,), 0, rows=0)
    stage, _ = first_work(toy_lake, stages())
    plan = Plan(toy_lake, [replace(stage, compute=None)], committed(toy_lake))
    work = plan.work(max(plan.standings))
    assert shard.run(plan.graph.stages[0], toy_lake.storage, work, nothing).mark.rows == 0


def test_an_output_says_what_its_stamp_is_made_of(toy_lake):
    stage, work = first_work(toy_lake, stages())
    shard.run(stage, toy_lake.storage, work, nothing)
    assert tables.read_parts(toy_lake.storage, work.output) == work.parts
    assert '"config":{"factor":' in work.parts
