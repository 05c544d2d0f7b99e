from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_stages import SUMS, stages

from cluster.batches import Batch
from cluster.graph import Graph, Shard
from cluster.stage import Input

pytestmark = pytest.mark.flash

BUCKETS = st.sets(st.integers(0, 3), min_size=1).map(lambda buckets: tuple(sorted(buckets)))


@given(st.lists(BUCKETS, max_size=6), st.sampled_from(["prefix", "all"]))
def test_dependents_are_just_those_that_read_the_shard_and_come_after_it(touched, span):
    batches = [Batch(seq + 1, f"{seq:064x}", buckets, {}) for seq, buckets in enumerate(touched)]
    graph = Graph(stages(span=span), batches)
    shards = list(graph.shards())
    assert shards == sorted(shards)
    assert len(shards) == 4 * sum(map(len, touched))
    for shard in shards:
        readers = sorted(
            other
            for other in shards
            for source in graph.stages[other.stage].inputs.values()
            if graph.producer(source) == shard.stage
            and other.bucket == shard.bucket
            and shard.seq in [graph.seqs(other.bucket)[position] for position in graph.extent(other, source)]
        )
        assert sorted(graph.dependents(shard)) == readers
        assert all(shard < reader for reader in readers)


def test_a_prefix_holds_the_batches_that_touch_the_bucket_up_to_its_own():
    batches = [Batch(3, "c" * 64, (0, 1), {}), Batch(1, "a" * 64, (0,), {}), Batch(2, "b" * 64, (1,), {})]
    graph = Graph(stages(), batches)
    prefix = graph.stages[2].inputs["doubled"]
    assert [graph.seqs(0)[i] for i in graph.extent(Shard(2, 3, 0), prefix)] == [1, 3]
    assert [graph.seqs(0)[i] for i in graph.extent(Shard(2, 1, 0), prefix)] == [1]


def test_stages_that_do_not_fit_each_other_are_refused():
    double, vectors, sums, slates = stages()
    with pytest.raises(ValueError, match="same name"):
        Graph([double, double], [])
    with pytest.raises(ValueError, match="both write double/kind=plain"):
        Graph([double, replace(double, name="other")], [])
    with pytest.raises(ValueError, match="reads double/kind=plain, written after it"):
        Graph([sums, double, vectors], [])
    wrong = Input("sums", ("profile", "toy"), SUMS.append(SUMS.field(0).with_name("more")))
    with pytest.raises(ValueError, match="another schema"):
        Graph([double, vectors, sums, replace(slates, inputs={"sums": wrong})], [])
