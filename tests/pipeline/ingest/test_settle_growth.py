"""However a history grows and its rows are cut and mixed, settling stores each turn once."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from settling import SCHEMAS, Length, Store, ask, chat, text_at

from pipeline.ingest.arrival import Arrival
from pipeline.ingest.settle import Settled, settle
from pipeline.ingest.source import SourceHistory, SourceRequest, SourceSession, SourceTurn
from pipeline.ingest.staging import Staging

texts = st.sampled_from(["a", "b", "c", "ok"])


@st.composite
def growths(draw: st.DrawFn) -> list[list[tuple[str | None, list[str]]]]:
    """Deliveries of one history, each a continuation of the one before: sessions with or without ids."""
    names = draw(st.lists(st.sampled_from([None, "s", "t"]), min_size=1, max_size=4))
    whole = [(name, draw(st.lists(texts, min_size=1, max_size=4))) for name in names]
    cuts = draw(st.lists(st.tuples(*[st.integers(0, len(said)) for _, said in whole]), max_size=3))
    deliveries, reached = [], [0] * len(whole)
    for cut in [*cuts, tuple(len(said) for _, said in whole)]:
        reached = [max(pair) for pair in zip(reached, cut, strict=True)]
        deliveries.append([(name, said[:upto]) for (name, said), upto in zip(whole, reached, strict=True)])
    return deliveries


def as_history(item: int, delivery: list[tuple[str | None, list[str]]]) -> SourceHistory:
    sessions = [chat(at, *said, name=name) for at, (name, said) in enumerate(delivery)]
    evidence = [(at, turn) for at, (_, said) in enumerate(delivery) for turn in range(len(said))]
    return SourceHistory(
        "h", item, sessions, [SourceRequest(0, f"r{item}", "?", evidence=ask(0, "", *evidence).evidence)]
    )


@settings(deadline=None, max_examples=60)
@given(growths(), st.booleans())
def test_however_a_history_grows_its_turns_are_neither_lost_nor_doubled(
    deliveries: list[list[tuple[str | None, list[str]]]], in_one_batch: bool
) -> None:
    store = Store()
    histories = [as_history(item, delivery) for item, delivery in enumerate(deliveries)]
    if in_one_batch:
        store.add(*histories)
    else:
        for history in histories:
            store.add(history)
    delivered = Counter(text for _, said in deliveries[-1] for text in said)
    assert Counter(row["text"] for row in store.rows("turns")) == delivered
    placed = text_at(store)
    assert len(placed) == store.table("turns").num_rows
    labels = Counter()
    for row in store.rows("labels"):
        labels[row["request_id"], placed["h", row["session_index"], row["turn_index"]]] += 1
    assert labels == Counter(
        (f"r{item}", text) for item, delivery in enumerate(deliveries) for _, said in delivery for text in said
    )
    first_parts = {row["session_key"]: row["session_index"] for row in reversed(store.rows("sources"))}
    for row in store.rows("sources"):
        first = first_parts[row["session_key"]]
        assert row["continues"] == (None if row["session_index"] == first else first)
    repeated = store.add(*histories)
    assert [getattr(repeated, name).num_rows for name in SCHEMAS] == [0] * 5


@settings(deadline=None, max_examples=40)
@given(st.lists(growths(), min_size=1, max_size=4), st.randoms())
def test_the_order_of_histories_and_the_cutting_into_arrivals_change_nothing(
    growing: list[list[list[tuple[str | None, list[str]]]]], dice: random.Random
) -> None:
    histories = [as_history(0, deliveries[-1]) for deliveries in growing]
    for number, history in enumerate(histories):
        history.history_id = f"h{number}"

    def settled(order: list[int], apart: bool) -> Settled:
        stagings = [Staging("test") for _ in order] if apart else [Staging("test")] * len(order)
        for item, (number, staging) in enumerate(zip(order, stagings, strict=True)):
            histories[number].item = item
            staging.add(histories[number])
        arrivals = [staging.take() for staging in dict.fromkeys(stagings)]
        return Store().add_arrivals(*(reversed(arrivals) if apart else arrivals))

    order = list(range(len(histories)))
    straight = settled(order, apart=False)
    dice.shuffle(order)
    shuffled = settled(order, apart=True)
    for name in ("turns", "sources", "requests", "labels"):
        assert getattr(straight, name).equals(getattr(shuffled, name)), name


@pytest.mark.flash
@settings(max_examples=20)
@given(st.randoms(use_true_random=False))
def test_what_is_settled_hangs_on_the_order_of_the_source_and_not_on_that_of_the_rows_given(
    mixing: random.Random,
) -> None:
    def mixed(table: pa.Table) -> pa.Table:
        return table.take(pa.array(mixing.sample(range(table.num_rows), table.num_rows), pa.int64()))

    edited = [SourceSession(0, "s", None, [SourceTurn(0, "user", text, name="m")]) for text in ("one", "two", "three")]
    nights = [
        [SourceHistory("h", 0, [edited[0]], [])],
        [SourceHistory("h", 0, [edited[1]], []), SourceHistory("h", 1, [edited[2], chat(1, "x", "y")], [])],
        [
            SourceHistory("h", at, [chat(0, "x", "y")], [ask(0, text, ("s", "m"), ("s", 0))])
            for at, text in enumerate("abc")
        ],
    ]
    in_order, shuffled = Store(), Store()
    for night in nights:
        staging = Staging("test")
        for history in night:
            staging.add(history)
        arrival = staging.take()
        in_order.add_arrivals(arrival)
        stored = [mixed(shuffled.table(name)) for name in ("sources", "requests", "labels")]
        tables = {name: mixed(getattr(arrival, name)) for name in ("turns", "requests", "citations", "quarantine")}
        shuffled.settled.append(settle([Arrival(**tables)], len(shuffled.settled), *stored, Length()))
    for name in SCHEMAS:
        assert shuffled.table(name).equals(in_order.table(name)), name
    assert (in_order.table("requests").num_rows, in_order.table("labels").num_rows) == (1, 1)
    assert in_order.rows("labels")[0]["session_index"] == in_order.rows("turns")[2]["session_index"]
