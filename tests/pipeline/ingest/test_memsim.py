"""MemSim: days as sessions, places beside messages, steps as evidence, and Chinese that can be found."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest
from arrived import settled_in_turn

from pipeline.ingest.errors import IngestError
from pipeline.recall.analyzer import analyze

pytestmark = pytest.mark.flash


def message(
    mid: Any, text: Any = "我喜欢爬山。", time: Any = "2024年04月01日 周一 08:15", place: Any = "上海"
) -> dict[str, Any]:
    return {"mid": mid, "message": text, "time": time, "place": place}


def question(*steps: Any, time: Any = "2024年04月09日 周二 13:23", **more: Any) -> dict[str, Any]:
    choices = {"A": "游泳", "B": "爬山", "C": "跑步", "D": "读书"}
    asked = {"qid": 0, "question": "我喜欢什么？", "answer": "爬山", "target_step_id": list(steps), "choices": choices}
    return {**asked, "ground_truth": "B", "time": time, **more}


def trajectory(messages: list[Any], *questions: Any, tid: Any = 0) -> dict[str, Any]:
    return {"tid": tid, "message_list": messages, "question_list": list(questions)}


WEEK = [
    message(0, "甲", "2024年04月01日 周一 08:15"),
    message(1, "乙", "2024年04月01日 周一 23:59"),
    message(2, "丙", "2024年04月02日 周二 00:00"),
    message(3, "丁", "2024年04月04日 周四 07:42"),
]


def test_a_trajectory_is_a_history_and_each_day_a_session(deliver: Any, settle_first: Any) -> None:
    settled = settle_first(deliver("memsim", [trajectory(WEEK, question(1, 3))]))
    turns = settled.turns.to_pylist()
    assert [(row["history_id"], row["session_index"], row["text"]) for row in turns] == [
        ("source/0", 0, "甲 [上海]"),
        ("source/0", 0, "乙 [上海]"),
        ("source/0", 1, "丙 [上海]"),
        ("source/0", 2, "丁 [上海]"),
    ]
    assert [row["session_time"] for row in turns][1:] == [
        datetime(2024, 4, 1, 8, 15, tzinfo=UTC),
        datetime(2024, 4, 2, tzinfo=UTC),
        datetime(2024, 4, 4, 7, 42, tzinfo=UTC),
    ]
    assert {(row["role"], row["speaker"]) for row in turns} == {("user", None)}
    assert settled.sources["source_turn"].to_pylist() == ["0", "1", "2", "3"]
    assert [(row["session_index"], row["turn_index"]) for row in settled.labels.to_pylist()] == [(0, 1), (2, 0)]
    (request,) = settled.requests.to_pylist()
    assert (request["request_id"], request["text"], request["answer"]) == ("source/0#q0", "我喜欢什么？", "爬山")
    assert request["asked_at"] == datetime(2024, 4, 9, 13, 23, tzinfo=UTC)
    assert (request["seen_session"], request["category"], request["adversarial"]) == (None, None, False)
    assert settled.quarantine.num_rows == 0


def test_arrays_may_stand_in_groups_and_count_their_trajectories_anew(deliver: Any) -> None:
    merged = {"tid": 0, "message_list": [message(0)], "QA": question(0)}
    value = {"simple": {"roles": [merged], "events": [merged, {**merged, "tid": 1}]}, "noisy": {"items": None}}
    (arrival,) = deliver("memsim", value)
    assert arrival.turns["history_id"].to_pylist() == [
        "source/simple/roles/0",
        "source/simple/events/0",
        "source/simple/events/1",
    ]
    assert arrival.requests["category"].to_pylist() == ["simple"] * 3
    assert deliver("memsim", {"roles": [merged]})[0].turns["history_id"].to_pylist() == ["source/roles/0"]
    assert deliver("memsim", value, items="1")[0].turns["history_id"].to_pylist() == ["source/simple/events/0"]
    assert deliver("memsim", value, items="id:1")[0].turns["history_id"].to_pylist() == ["source/simple/events/1"]


def test_messages_as_text_with_noise_between_them_are_read_too(deliver: Any, settle_first: Any) -> None:
    messages = [
        "今天的新闻 (不重要)",
        "甲 (消息地点 上海, 消息时间 2024年04月01日 周一 08:15)",
        "更多的新闻",
        "乙 (丙) (消息地点 广东深圳, 消息时间 2024年04月02日 周二 09:00)",
    ]
    value = {"simple": {"roles": [{"tid": 7, "message_list": messages, "QA": question(1, 3)}]}}
    settled = settle_first(deliver("memsim", value))
    assert [(row["session_index"], row["text"], row["session_time"] and row["session_time"].day)
            for row in settled.turns.to_pylist()] == [
        (0, "今天的新闻 (不重要)", None),
        (1, "甲 [上海]", 1),
        (1, "更多的新闻", 1),
        (2, "乙 (丙) [广东深圳]", 2),
    ]  # fmt: skip
    assert [row["session_index"] for row in settled.labels.to_pylist()] == [1, 2]


def test_a_question_in_the_middle_of_a_day_sees_what_was_said_before_it(deliver: Any, settle_first: Any) -> None:
    day = [message(n, str(n), f"2024年04月01日 周一 {8 + n:02d}:00") for n in range(4)]
    day.insert(2, message(9, "\x00", "2024年04月01日 周一 09:45"))
    asked = [question(time=f"2024年04月01日 周一 {clock}") for clock in ("09:30", "07:00", "11:00", "23:00")]
    settled = settle_first(
        deliver("memsim", [trajectory([message(8, "x", "2024年03月31日 周日 08:00"), *day], *asked)])
    )
    assert [(row["seen_session"], row["seen_turn"]) for row in settled.requests.to_pylist()] == [
        (1, 1),
        (1, -1),
        (None, None),
        (None, None),
    ]
    assert settled.quarantine.num_rows == 0


def test_what_a_question_does_not_see_of_its_day_may_come_later_and_makes_no_other_question_of_it(
    deliver: Any,
) -> None:
    day = [message(n, str(n), f"2024年04月01日 周一 {8 + n:02d}:00") for n in range(4)]
    asked = question(time="2024年04月01日 周一 09:30")
    nights = settled_in_turn(deliver("memsim", [trajectory(told, asked)]) for told in (day[:2], day, day[:1]))
    assert [night.requests["seen_session"].to_pylist() for night in nights] == [[None], [], []]
    assert [night.counts["repeated_requests"] for night in nights] == [0, 1, 1]
    assert [night.quarantine.num_rows for night in nights] == [0, 0, 0]


def test_the_choices_which_hold_the_answer_reach_no_text(deliver: Any) -> None:
    (arrival,) = deliver("memsim", [trajectory([message(0)], question(0))])
    assert "游泳" not in str(arrival.requests.to_pydict()) + str(arrival.turns.to_pydict())


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (question(answer="36岁"), "36岁"),
        (question(answer=36), "36"),
        (question(answer=None), "爬山"),
        (question(answer=None, ground_truth="X"), None),
        (question(answer=None, choices=["爬山"]), None),
    ],
)
def test_the_answer_is_what_was_written_else_the_right_choice(deliver: Any, asked: Any, answer: str | None) -> None:
    assert deliver("memsim", [trajectory([message(0)], asked)])[0].requests["answer"].to_pylist() == [answer]


@pytest.mark.parametrize(
    ("steps", "cited", "notes"),
    [
        ([0, 2], [(0, 0), (1, 0)], 0),
        (["2", 2], [(1, 0)], 0),
        (3, [(2, 0)], 0),
        ([9, 1], [(0, 1)], 1),
        ([None, True, 1.5, [0], "x"], [], 2),
        ("x" * 5_000_000, [], 1),
        ([], [], 0),
        (None, [], 0),
    ],
)
def test_steps_name_messages_by_their_number(
    deliver: Any, settle_first: Any, steps: Any, cited: list[tuple[int, int]], notes: int
) -> None:
    settled = settle_first(deliver("memsim", [trajectory(WEEK, {**question(), "target_step_id": steps})]))
    assert [(row["session_index"], row["turn_index"]) for row in settled.labels.to_pylist()] == cited
    assert [(row["code"], row["weight"]) for row in settled.quarantine.to_pylist()] == [("citation", 0)] * notes
    assert all(len(row["place"]) < 100 for row in settled.quarantine.to_pylist())


def test_steps_name_messages_without_a_number_by_where_they_stand_and_never_two(
    deliver: Any, settle_first: Any
) -> None:
    unnumbered = [{"message": "a"}, {"message": "b"}]
    settled = settle_first(deliver("memsim", [trajectory(unnumbered, question(1))]))
    assert [row["turn_index"] for row in settled.labels.to_pylist()] == [1]
    twice = [message(1, "a"), {"message": "b"}]
    settled = settle_first(deliver("memsim", [trajectory(twice, question(1))]))
    assert (settled.labels.num_rows, settled.quarantine["code"].to_pylist()) == (0, ["citation"])


def test_what_the_simulator_failed_to_make_is_no_question(deliver: Any) -> None:
    failed = [question(question="[ERRORQ]"), question(answer="[ERRORA]"), question()]
    (arrival,) = deliver("memsim", [trajectory([message(0)], *failed)])
    assert arrival.requests["request_id"].to_pylist() == ["source/0#q2"]
    assert arrival.quarantine["code"].to_pylist() == ["bad_request"] * 2


def test_only_what_is_broken_is_lost(deliver: Any) -> None:
    messages = [message(0), message(1, time="4月"), message(2, text=[]), 5, message(4, text=None), message(5, place="")]
    items = ["text", {"tid": 1}, trajectory(messages, "text", {}, question(time="soon"), question(), tid=2)]
    (arrival,) = deliver("memsim", items)
    assert arrival.turns["source_turn"].to_pylist() == ["0", "5"]
    assert arrival.turns["text"].to_pylist() == ["我喜欢爬山。 [上海]", "我喜欢爬山。"]
    assert arrival.requests["request_id"].to_pylist() == ["source/2#q3"]
    assert arrival.counts["blank_turns"] == 1
    assert [(row["code"], row["place"]) for row in arrival.quarantine.to_pylist()] == [
        ("wrong_shape", "item 0"),
        ("wrong_shape", "item 1"),
        ("bad_time", "item 2, turn 1"),
        ("bad_turn", "item 2, turn 2"),
        ("bad_turn", "item 2, turn 3"),
        ("bad_request", "item 2, question 0"),
        ("bad_request", "item 2, question 1"),
        ("bad_time", "item 2, question 2"),
    ]


@pytest.mark.parametrize("group", ["text", 5, True])
def test_a_group_that_holds_no_trajectories_costs_itself(deliver: Any, group: Any) -> None:
    (arrival,) = deliver("memsim", {"simple": {"roles": group, "events": [trajectory([message(0)])]}, "noisy": None})
    assert arrival.turns["history_id"].to_pylist() == ["source/simple/events/0"]
    assert arrival.quarantine.select(["code", "place"]).to_pylist() == [
        {"code": "wrong_shape", "place": "simple, roles, item 0"}
    ]


@pytest.mark.parametrize("tid", [None, "", True, [], {}])
def test_a_trajectory_without_a_number_is_called_after_where_it_stands(deliver: Any, tid: Any) -> None:
    (arrival,) = deliver("memsim", [trajectory([message(0)], tid="x"), trajectory([message(0)], tid=tid)])
    assert arrival.turns["history_id"].to_pylist() == ["source/x", "source/1"]


@pytest.mark.parametrize("value", ["text", 5, {"a": {"b": 1}}, {}])
def test_what_holds_no_array_is_refused(deliver: Any, value: Any) -> None:
    with pytest.raises(IngestError):
        deliver("memsim", value)


def test_a_grown_trajectory_keeps_the_keys_of_its_turns(deliver: Any) -> None:
    keys = [
        {
            (row["session_key"], row["turn_key"])
            for row in deliver("memsim", [trajectory(messages)])[0].turns.to_pylist()
        }
        for messages in (WEEK[:2], WEEK)
    ]
    assert keys[0] < keys[1]


@pytest.mark.parametrize(
    ("asked", "meant", "other"),
    [
        ("金融科技精英论坛的规模是什么？", "金融科技精英论坛的规模是三千人。", "模型艺术盛宴的地点是北京。"),
        ("表弟的年龄是多少？", "我的表弟今年36岁。", "我上司的邮箱地址是这个。"),
        ("コーヒーはどこで飲む？", "毎朝駅前でコーヒーを飲みます。", "週末は山に登ります。"),
        ("แมวของฉันชื่ออะไร", "แมวของฉันชื่อมะลิ", "วันนี้ฝนตกหนัก"),
    ],
)
def test_a_question_shares_terms_with_what_it_is_about_though_no_word_is_parted(
    asked: str, meant: str, other: str
) -> None:
    wanted, right, wrong = (set(terms) for terms in analyze(pl.Series([asked, meant, other])).to_list())
    assert len(wanted & right) > len(wanted & wrong)
