"""Arrivals have one order: one at a time, once each, and what is dropped never comes back."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cluster.batches import Batch, claim, commit, committed, uncommitted, void
from cluster.errors import BatchInProgress, LakeError
from cluster.lake import Lake

A, B, C = "a" * 64, "b" * 64, "c" * 64


@pytest.fixture(params=["local", "memory"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    return Lake.init(str(tmp_path / "lake") if request.param == "local" else f"memory://{uuid.uuid4().hex}/lake")


@pytest.mark.flash
def test_batches_come_in_order_with_what_they_touched(lake: Lake) -> None:
    assert committed(lake) == []
    first = claim(lake, A)
    assert committed(lake) == []
    batch = commit(lake, first, [3, 1], {"turns": 5})
    second = commit(lake, claim(lake, B), [2], {})
    assert batch == Batch(first.seq, A, (1, 3), {"turns": 5})
    assert batch.name == first.name == f"{first.seq:06d}-{A[:12]}"
    assert committed(lake) == [batch, second]
    assert second.seq == batch.seq + 1


@pytest.mark.flash
def test_the_same_arrival_again_is_known(lake: Lake) -> None:
    batch = commit(lake, claim(lake, A), [0], {"turns": 1})
    commit(lake, claim(lake, B), [0], {})
    again = claim(lake, A)
    assert again.already == batch
    assert again.name == batch.name
    assert len(committed(lake)) == 2


@pytest.mark.flash
def test_an_unfinished_batch_is_resumed_by_its_own_and_bars_others(lake: Lake) -> None:
    first = claim(lake, A)
    assert claim(lake, A) == first
    with pytest.raises(BatchInProgress, match=r"slatemill ingest .*--void"):
        claim(lake, B)
    commit(lake, first, [0], {})
    assert claim(lake, B).seq == first.seq + 1


@pytest.mark.flash
def test_a_twins_commit_is_no_error(lake: Lake) -> None:
    first = claim(lake, A)
    assert commit(lake, first, [1, 0], {"turns": 1}) == commit(lake, first, [0, 1], {"turns": 1})
    assert len(committed(lake)) == 1


def test_of_racing_claimers_one_wins(lake: Lake) -> None:
    def attempt(digest: str) -> str:
        try:
            return claim(lake, digest).digest
        except BatchInProgress:
            return ""

    with ThreadPoolExecutor(8) as threads:
        held = [name for name in threads.map(attempt, [f"{k}" * 64 for k in range(8)]) if name]
    assert len(held) == 1
    assert len(lake.storage.list("batches", ".claim")) == 1


@pytest.mark.flash
def test_a_dropped_batchs_number_is_not_given_again(lake: Lake) -> None:
    first = claim(lake, A)
    assert void(lake) == [first.name]
    assert void(lake) == []
    again = claim(lake, A)
    assert again.seq > first.seq
    assert again.already is None
    batch = commit(lake, again, [0], {})
    assert committed(lake) == [batch]
    assert void(lake) == []
    assert claim(lake, A).already == batch


@pytest.mark.flash
def test_void_deletes_the_files_of_what_it_drops_and_no_others(lake: Lake) -> None:
    kept = claim(lake, A)
    paths = {}
    for held in (kept, None):
        held = held or claim(lake, B)  # noqa: PLW2901
        paths[held.digest] = [lake.path("turns", 1, held.name), lake.quarantine_path("ingest", 1, held.name)]
        for path in paths[held.digest]:
            lake.storage.create(path, b"1")
        if held is kept:
            commit(lake, held, [1], {})
    void(lake)
    assert all(lake.storage.exists(path) for path in paths[A])
    assert not any(lake.storage.exists(path) for path in paths[B])


@pytest.mark.flash
def test_a_writer_that_outlives_its_void_cannot_commit(lake: Lake) -> None:
    late = claim(lake, A)
    void(lake)
    lake.storage.create(lake.path("turns", 1, late.name), b"1")
    with pytest.raises(LakeError, match="void"):
        commit(lake, late, [0], {})
    assert committed(lake) == []
    void(lake)
    assert not lake.storage.exists(lake.path("turns", 1, late.name))


def test_commit_and_void_at_once_have_one_outcome(lake: Lake) -> None:
    for k in range(10):
        held = claim(lake, f"{k}" * 64)

        def attempt(held: object = held) -> bool:
            try:
                commit(lake, held, [0], {})  # type: ignore[arg-type]
            except LakeError:
                return False
            return True

        with ThreadPoolExecutor(2) as threads:
            commits, drops = threads.submit(attempt), threads.submit(void, lake)
            stays = commits.result()
            assert (held.name in drops.result()) is not stays
        assert (held.name in [batch.name for batch in committed(lake)]) is stays


@pytest.mark.flash
def test_a_twin_that_commits_something_else_is_told(lake: Lake) -> None:
    held = claim(lake, A)
    batch = commit(lake, held, [0], {"turns": 1})
    with pytest.raises(LakeError, match=held.name):
        commit(lake, held, [1], {"turns": 1})
    assert committed(lake) == [batch]


@pytest.mark.flash
def test_what_is_claimed_and_not_committed_is_known_with_its_time(lake: Lake) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    commit(lake, claim(lake, A), [0], {})
    assert uncommitted(lake) == []
    held = claim(lake, B)
    ((found, since),) = uncommitted(lake)
    assert found == held
    assert before < since < datetime.now(UTC) + timedelta(seconds=1)
    void(lake)
    assert uncommitted(lake) == []
