from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
import toy_stages
from toy_stages import Behaviour, Shift, planned, stages, work_off

from cluster.batches import committed
from cluster.cache import MarkCache
from cluster.errors import LakeError, NoSuchStage
from cluster.plan import RUNNABLE, Plan, State
from cluster.stage import Input, Stage

pytestmark = pytest.mark.flash


def states(plan: Plan) -> list[dict[State, int]]:
    found = [Counter() for _ in plan.graph.stages]
    for key, standing in plan.standings.items():
        found[key.stage][standing.state] += 1
    return [dict(counter) for counter in found]


def test_a_new_lake_waits_for_what_it_lacks_and_a_finished_one_is_done(toy_lake):
    plan = planned(toy_lake, stages())
    assert states(plan) == [{State.MISSING: 5}, {State.MISSING: 5}, {State.WAITING: 5}, {State.WAITING: 5}]
    assert len(work_off(plan)) == 20
    assert states(plan) == [{State.DONE: 5}] * 4
    assert states(planned(toy_lake, stages(), cache=MarkCache())) == [{State.DONE: 5}] * 4


def test_what_cannot_be_decided_yet_is_decided_with_its_inputs(toy_lake):
    work_off(planned(toy_lake, stages()))
    plan = planned(toy_lake, stages(version=2))
    assert states(plan) == [{State.STALE: 5}, {State.DONE: 5}, {State.WAITING: 5}, {State.WAITING: 5}]
    # The new version gives the same rows, so that what lies below turns out done.
    assert len(work_off(plan)) == 5
    assert states(plan) == [{State.DONE: 5}] * 4


def test_costly_shards_that_exist_elsewhere_or_are_stale_need_backfill_and_block(toy_lake):
    work_off(planned(toy_lake, stages()))
    for changed in (stages(model="two"), stages(shift=Shift(7))):
        blocked = [{State.DONE: 5}, {State.NEEDS_BACKFILL: 5}, {State.BLOCKED: 5}, {State.BLOCKED: 5}]
        assert states(planned(toy_lake, changed)) == blocked
        asked = planned(toy_lake, changed, backfill=["vectors"])
        assert set(states(asked)[1]) <= set(RUNNABLE)


def test_a_costly_stage_that_works_on_rows_of_its_own_choice_does_them_and_redoes_none_unasked(toy_lake):
    def path(choice: str, factor: int = 2) -> list[Stage]:
        first = toy_stages.renamed(stages(factor=factor)[0], "first", choice, Behaviour(), factor)
        rows = {"events": Input("first", first.choice, first.schema)}
        scored = replace(toy_stages.renamed(stages()[0], "scored", choice, Behaviour()), inputs=rows, costly=True)
        return [first, scored]

    work_off(planned(toy_lake, path("a")))
    other = planned(toy_lake, path("b"))
    assert len(work_off(other)) == 10
    assert states(other) == [{State.DONE: 5}] * 2, "what choice a has is another's"
    changed = planned(toy_lake, path("a", factor=7))
    work_off(changed)
    assert states(changed) == [{State.DONE: 5}, {State.NEEDS_BACKFILL: 5}]
    assert len(work_off(planned(toy_lake, path("a", factor=7), backfill=["scored"]))) == 5


def test_a_second_choice_that_the_same_run_writes_needs_a_backfill_of_the_past_and_none_once_it_is_in_use(toy_lake):
    one = toy_stages.only("vectors", stages())[0]
    other = replace(one, name="more_vectors", choice=("model", "other"), identities=("other",))
    work_off(planned(toy_lake, [one]))
    assert states(planned(toy_lake, [other])) == [{State.NEEDS_BACKFILL: 5}]
    assert states(planned(toy_lake, [one, other])) == [{State.DONE: 5}, {State.NEEDS_BACKFILL: 5}]
    paths = work_off(planned(toy_lake, [one, other], backfill=["more_vectors"]))
    assert len(paths) == 5
    broken_off = next(path for path in toy_lake.storage.list("vectors/model=other", ".parquet"))
    toy_lake.storage.delete(broken_off.path)
    assert states(planned(toy_lake, [one, other])) == [{State.DONE: 5}, {State.DONE: 4, State.MISSING: 1}]


def test_a_stage_downstream_needs_backfill_once_its_inputs_are_there(toy_lake):
    """The costly stage waits for another; what is found then blocks what lies below, and is counted once."""
    double = stages()[0]
    costly = toy_stages.renamed(double, "costly", "b", Behaviour())
    path = [double, toy_stages.costly_after(costly, double)]
    work_off(planned(toy_lake, path))
    changed = [stages(factor=5)[0], path[1]]
    plan = planned(toy_lake, changed)
    assert states(plan)[1] == {State.WAITING: 5}
    work_off(plan)
    assert states(plan) == [{State.DONE: 5}, {State.NEEDS_BACKFILL: 5}]


def test_failure_blocks_all_that_reads_it_directly_or_not(toy_lake):
    plan = planned(toy_lake, stages())
    first = next(plan.shards(State.MISSING))
    blocked = plan.fail(first)
    assert {(key.stage, key.seq, key.bucket) for key in blocked} == {(2, 1, 0), (2, 2, 0), (3, 1, 0), (3, 2, 0)}
    work_off(plan)
    assert states(plan)[2:] == [{State.DONE: 3, State.BLOCKED: 2}] * 2


def test_stamps_follow_what_affects_the_output_and_nothing_else(toy_lake):
    def stamp(**options) -> str:
        plan = planned(toy_lake, stages(**options))
        return plan.stamp(next(plan.shards(State.MISSING)))

    assert stamp() == stamp(plus=3) == stamp(double=Behaviour(sleep_s=3))
    assert len({stamp(), stamp(factor=3), stamp(version=2)}) == 3


def test_a_committed_batch_without_its_file_is_an_error_that_names_it(toy_lake):
    lost = toy_lake.path("events", 2, committed(toy_lake)[1].name)
    toy_lake.storage.delete(lost)
    with pytest.raises(LakeError, match=f"{lost} is missing"):
        planned(toy_lake, stages())


def test_backfill_of_an_unknown_stage_names_those_that_can_be(toy_lake):
    with pytest.raises(NoSuchStage, match=r"no stage vector .*: vectors$"):
        planned(toy_lake, stages(), backfill=["vector"])


def preferring(model: str, *instead: str) -> list[Stage]:
    """The stages with vectors of `model` where there are none of the others."""
    path = stages(model=model, shift=Shift(7))
    return [path[0], replace(path[1], instead=tuple(("model", other) for other in instead)), *path[2:]]


def test_what_another_choice_has_of_the_past_stands_for_it_and_new_arrivals_are_made(toy_lake):
    work_off(planned(toy_lake, stages()))
    assert states(planned(toy_lake, preferring("two", "none", "one"))) == [{State.DONE: 5}] * 4
    batch = toy_stages.arrive(toy_lake, "f" * 64, [0, 1], 5000)
    done = work_off(planned(toy_lake, preferring("two", "none", "one")))
    assert Counter((key.stage, key.seq) for key in done) == {(stage, batch.seq): 2 for stage in range(4)}
    assert toy_lake.choices("vectors") == [("model", "one"), ("model", "two")]
    # A shard that was lost is one of those that are to be made: only what stands elsewhere is not.
    lost = toy_lake.path("vectors", 1, batch.name, ("model", "two"))
    toy_lake.storage.delete(lost)
    plan = planned(toy_lake, preferring("two", "none", "one"))
    assert states(plan)[1] == {State.DONE: 6, State.MISSING: 1}
    work_off(plan)
    read = {source.path for key in plan.standings for source in plan.inputs(key).get("shifted", ())}
    assert {path.split("/")[1] for path in read} == {"model=one", "model=two"}


def test_a_back_fill_makes_what_others_stood_for_and_what_reads_it_follows(toy_lake):
    work_off(planned(toy_lake, stages()))
    plan = planned(toy_lake, preferring("two", "one"), backfill=["vectors"])
    assert states(plan)[1] == {State.MISSING: 5}
    work_off(plan)
    assert {path.split("/")[1] for path in map(plan.output, plan.standings) if path.startswith("vectors")} == {
        "model=two"
    }
    alone = stages(model="two", shift=Shift(7))
    assert states(planned(toy_lake, alone)) == [{State.DONE: 5}] * 4


def test_a_choice_that_is_not_named_stands_for_nothing(toy_lake):
    work_off(planned(toy_lake, stages()))
    assert states(planned(toy_lake, preferring("two", "none")))[1] == {State.NEEDS_BACKFILL: 5}
