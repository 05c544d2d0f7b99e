"""What is foretold of a run is what the run does."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import toy_stages
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_stages import Behaviour, Shift, planned, stages, work_off

from cluster import shard
from cluster.forecast import LEFT, Outlook, forecast
from cluster.lake import Lake
from cluster.plan import RUNNABLE, State
from cluster.stage import Input, Stage
from cluster.stamp import Cause, Reason


def foretold(opened, path, **options) -> list[dict[Outlook, int]]:
    """Counts of outlooks by stage, after a check that a run does just that."""
    plan = planned(opened, path, **options)
    prospects = forecast(plan)
    assert list(prospects) == list(plan.standings)
    there = {key: plan.is_there(key) for key in prospects}
    done = work_off(plan)
    for key, prospect in prospects.items():
        state, outlook = plan.standings[key].state, prospect.outlook
        assert prospect.is_there == there[key]
        assert (key in done) == (outlook is Outlook.DO) or outlook is Outlook.FOLLOW
        assert (state in (State.NEEDS_BACKFILL, State.BLOCKED)) == (outlook in LEFT) or outlook is Outlook.FOLLOW
        assert bool(prospect.reasons) == (outlook is not Outlook.REUSE)
    found = [Counter() for _ in plan.graph.stages]
    for key, prospect in prospects.items():
        found[key.stage][prospect.outlook] += 1
    return [dict(counter) for counter in found]


def reasons(opened, path, **options) -> list[set[tuple[Reason, ...]]]:
    plan = planned(opened, path, **options)
    found = [set() for _ in plan.graph.stages]
    for key, prospect in forecast(plan).items():
        found[key.stage].add(prospect.reasons)
    return found


@pytest.mark.flash
def test_a_new_lake_is_all_to_do_and_a_finished_one_all_reused(toy_lake):
    assert reasons(toy_lake, stages()) == [{(Reason(Cause.NEW),)}] * 4
    assert foretold(toy_lake, stages()) == [{Outlook.DO: 5}] * 4
    assert foretold(toy_lake, stages()) == [{Outlook.REUSE: 5}] * 4


@pytest.mark.flash
def test_what_reads_changed_files_follows_and_the_reasons_name_it(toy_lake):
    work_off(planned(toy_lake, stages()))
    assert reasons(toy_lake, stages(version=2, factor=3)) == [
        {(Reason(Cause.VERSION), Reason(Cause.CONFIG, ("factor",)))},
        {()},
        {(Reason(Cause.UPSTREAM, ("doubled",)),)},
        {(Reason(Cause.UPSTREAM, ("sums",)),)},
    ]
    # A new version that gives equal rows: nothing follows in the end.
    follow = [{Outlook.DO: 5}, {Outlook.REUSE: 5}, {Outlook.FOLLOW: 5}, {Outlook.FOLLOW: 5}]
    assert foretold(toy_lake, stages(version=2)) == follow
    assert foretold(toy_lake, stages(version=2)) == [{Outlook.REUSE: 5}] * 4
    assert foretold(toy_lake, stages(version=2, plus=3))[3] == {Outlook.DO: 5}


@pytest.mark.flash
def test_a_stage_that_has_reasons_of_its_own_is_done_whatever_its_inputs_turn_out(toy_lake):
    work_off(planned(toy_lake, stages()))
    assert foretold(toy_lake, stages(factor=3, plus=1)) == [
        {Outlook.DO: 5},
        {Outlook.REUSE: 5},
        {Outlook.FOLLOW: 5},
        {Outlook.DO: 5},
    ]


@pytest.mark.flash
def test_another_model_needs_a_backfill_and_blocks_unless_it_is_asked_for(toy_lake):
    work_off(planned(toy_lake, stages()))
    for changed, cause in ((stages(model="two"), Cause.CHOICE), (stages(shift=Shift(7)), Cause.MODEL)):
        assert reasons(toy_lake, changed) == [
            {()},
            {(Reason(cause),)},
            {(Reason(Cause.UPSTREAM, ("shifted",)),)},
            {(Reason(Cause.UPSTREAM, ("sums",)),)},
        ]
        left = [{Outlook.REUSE: 5}, {Outlook.NEEDS_BACKFILL: 5}, {Outlook.BLOCKED: 5}, {Outlook.BLOCKED: 5}]
        assert foretold(toy_lake, changed) == left
    assert foretold(toy_lake, stages(shift=Shift(7)), backfill=["vectors"])[1:] == [
        {Outlook.DO: 5},
        {Outlook.FOLLOW: 5},
        {Outlook.FOLLOW: 5},
    ]


@pytest.mark.flash
def test_a_new_batch_is_done_and_as_of_latest_all_that_reads_it(toy_lake):
    path = stages(span="all")
    work_off(planned(toy_lake, path))
    toy_stages.arrive(toy_lake, "e" * 64, (0,), 7000)
    assert foretold(toy_lake, path) == [
        {Outlook.REUSE: 5, Outlook.DO: 1},
        {Outlook.REUSE: 5, Outlook.DO: 1},
        {Outlook.REUSE: 3, Outlook.FOLLOW: 2, Outlook.DO: 1},
        {Outlook.REUSE: 3, Outlook.FOLLOW: 2, Outlook.DO: 1},
    ]


@pytest.mark.flash
def test_a_shard_without_rows_changes_nothing_below_it(tmp_path):
    opened = toy_stages.lake(tmp_path / "lake", [(0, 1)], rows=0)
    toy_stages.arrive(opened, "e" * 64, (1,), 7000)
    work_off(planned(opened, stages()))
    assert foretold(opened, stages(factor=3)) == [
        {Outlook.DO: 3},
        {Outlook.REUSE: 3},
        {Outlook.REUSE: 2, Outlook.FOLLOW: 1},
        {Outlook.REUSE: 2, Outlook.FOLLOW: 1},
    ]


@pytest.mark.flash
def test_units_that_bisection_took_out_since_are_a_reason(toy_lake):
    work_off(planned(toy_lake, stages()))
    plan = planned(toy_lake, stages())
    first = next(plan.shards(State.DONE))
    shard.take_out(plan.stage(first), toy_lake.storage, plan.work(first), lambda: None, (0,), "it kills")
    assert reasons(toy_lake, stages())[0] == {(), (Reason(Cause.QUARANTINE),)}
    assert foretold(toy_lake, stages())[0] == {Outlook.REUSE: 4, Outlook.DO: 1}


@pytest.mark.flash
def test_below_a_costly_stage_that_may_need_a_backfill_nothing_is_promised(toy_lake):
    double = stages()[0]
    costly = toy_stages.costly_after(toy_stages.renamed(double, "costly", "b", Behaviour()), double)
    path = [double, costly]
    work_off(planned(toy_lake, path))
    below = toy_stages.costly_after(toy_stages.renamed(double, "below", "c", Behaviour()), costly)
    longer = [stages(factor=5)[0], costly, below]
    assert foretold(toy_lake, longer) == [{Outlook.DO: 5}, {Outlook.FOLLOW: 5}, {Outlook.FOLLOW: 5}]
    assert not list(planned(toy_lake, longer).shards(*RUNNABLE))


@pytest.mark.flash
def test_a_file_that_does_not_say_what_it_was_made_of_is_compared_as_a_whole(toy_lake, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("cluster.stamp.Parts.note", lambda self: "")
        work_off(planned(toy_lake, stages()))
    assert foretold(toy_lake, stages()) == [{Outlook.REUSE: 5}] * 4
    assert reasons(toy_lake, stages(factor=3))[0] == {(Reason(Cause.UNKNOWN),)}
    assert foretold(toy_lake, stages(factor=3))[2] == {Outlook.FOLLOW: 5}


CHANGES = st.fixed_dictionaries(
    {
        "factor": st.integers(0, 2),
        "version": st.integers(1, 2),
        "plus": st.integers(0, 1),
        "model": st.sampled_from(["one", "two"]),
        "shift": st.integers(0, 1),
        "span": st.sampled_from(["prefix", "all"]),
        "refuse": st.sampled_from([(), (1, 2), (0, 1, 2, 3, 4, 5)]),
        "backfill": st.booleans(),
        "touched": st.sampled_from([(), (0,), (0, 1)]),
        "rows": st.integers(0, 2),
    }
)


@settings(max_examples=20, deadline=None)
@given(st.lists(CHANGES, min_size=2, max_size=4))
def test_whatever_has_changed_a_run_does_what_was_foretold(steps):
    with tempfile.TemporaryDirectory() as folder:
        opened = Lake.init(str(Path(folder) / "lake"), buckets=2)
        for number, step in enumerate(steps):
            if step["touched"]:
                toy_stages.arrive(opened, f"{number + 1:064x}", step["touched"], 1000 * number, step["rows"])
            path = stages(
                double=Behaviour(refuse=step["refuse"]),
                shift=Shift(step["shift"]),
                **{name: step[name] for name in ("factor", "version", "plus", "model", "span")},
            )
            foretold(opened, path, backfill=["vectors"] if step["backfill"] else ())


@pytest.mark.flash
def test_what_another_choice_stands_for_is_foretold_as_reused_also_below_what_changed(toy_lake):
    def preferring_two(**options) -> list[Stage]:
        path = stages(model="two", **options)
        below = {**path[1].inputs, "double": Input("double", path[0].choice, path[0].schema)}
        return [path[0], replace(path[1], instead=(("model", "one"),), inputs=below), *path[2:]]

    work_off(planned(toy_lake, stages()))
    assert foretold(toy_lake, preferring_two()) == [{Outlook.REUSE: 5}] * 4
    changed = foretold(toy_lake, preferring_two(factor=5))
    assert changed[:2] == [{Outlook.DO: 5}, {Outlook.REUSE: 5}]
    toy_stages.arrive(toy_lake, "f" * 64, [1], 5000)
    assert foretold(toy_lake, preferring_two(factor=5))[1] == {Outlook.REUSE: 5, Outlook.DO: 1}
