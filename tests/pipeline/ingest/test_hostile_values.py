"""Whatever stands in place of any value of a document, reading ends: with rows, quarantine, or IngestError."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from pipeline.ingest.errors import IngestError

DOCUMENTS: dict[str, Any] = {
    "longmemeval": [
        {
            "question_id": "q1",
            "question_type": "multi-session",
            "question": "Where?",
            "question_date": "2023/05/30 (Tue) 23:40",
            "answer": "Rome",
            "answer_session_ids": ["a"],
            "haystack_session_ids": ["a"],
            "haystack_dates": ["2023/05/20 (Sat) 02:21"],
            "haystack_sessions": [[{"role": "user", "content": [{"text": "words"}], "has_answer": True}]],
        }
    ],
    "mini-swe-agent": {
        "trajectory_format": "mini-swe-agent-1.1",
        "info": {"exit_status": "submitted"},
        "messages": [
            {"role": "user", "content": "Solve this", "extra": {"timestamp": 1757318400}},
            {
                "role": "assistant",
                "content": "Look.",
                "tool_calls": [{"id": "t", "function": {"name": "bash", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "t", "content": "<returncode>0</returncode>"},
        ],
    },
    "native": [
        {
            "history_id": "h",
            "sessions": [
                {"session_id": "s", "time": None, "turns": [{"role": "user", "text": "words", "turn_id": "t"}]}
            ],
            "requests": [
                {
                    "request_id": "r",
                    "text": "?",
                    "asked_at": "2026-12-01T08:00:00Z",
                    "seen": {"session": "s", "turn": "t"},
                    "evidence": [{"session": 0, "turn": 0}],
                }
            ],
        }
    ],
    "openhands": [
        {"id": 0, "source": "user", "timestamp": "2025-01-01T00:00:00", "action": "message", "args": {"content": "x"}},
        {"id": 3, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "look"}},
        {"id": 4, "cause": 3, "observation": "run", "content": "a.py", "extras": {"command": "ls"}},
    ],
    "swe-agent": {
        "trajectory": [{"thought": "look", "action": "ls", "observation": "a.py", "response": "r", "state": "{}"}],
        "history": [{"role": "user", "content": [{"type": "text", "text": "Fix"}], "agent": "main", "is_demo": False}],
        "info": {"exit_status": "submitted"},
        "replay_config": {"problem_statement": {"id": "i"}},
    },
    "chatgpt": [
        {
            "conversation_id": "c",
            "create_time": 1757318400.25,
            "current_node": "a",
            "mapping": {
                "r": {"parent": None, "children": ["a"], "message": None},
                "a": {
                    "parent": "r",
                    "children": [],
                    "message": {
                        "id": "a",
                        "create_time": 1757318400.25,
                        "author": {"role": "user", "name": None},
                        "content": {"content_type": "multimodal_text", "parts": [{"content_type": "image"}, "words"]},
                        "metadata": {},
                        "recipient": "all",
                    },
                },
            },
        }
    ],
    "evermemos": {
        "version": "1.0.0",
        "session_meta": {
            "scene": "group_chat",
            "default_timezone": "UTC",
            "user_details": {"u": {"full_name": "A", "role": "user", "extra": {"type": "x"}}},
        },
        "conversation_list": [
            {
                "message_id": "m1",
                "create_time": "2025-02-01T10:00:00Z",
                "sender": "u",
                "sender_name": "A",
                "type": "text",
                "content": "words",
                "refer_list": [],
            },
        ],
    },
    "letta": {
        "agents": [
            {
                "id": "agent-0",
                "name": "sam",
                "messages": [
                    {
                        "id": "message-0",
                        "role": "user",
                        "name": None,
                        "content": [{"type": "text", "text": '{"type": "user_message", "message": "words"}'}],
                        "created_at": "2025-10-31T22:56:56Z",
                        "tool_calls": [{"function": {"name": "look", "arguments": "{}"}}],
                        "tool_returns": [{"func_response": "found"}],
                        "approvals": [{"reason": "no"}],
                    }
                ],
            }
        ],
        "blocks": [],
    },
    "locomo": [
        {
            "sample_id": "conv-1",
            "conversation": {
                "speaker_a": "A",
                "session_1": [{"speaker": "A", "dia_id": "D1:1", "text": "words", "blip_caption": "a dog"}],
                "session_1_date_time": "1:56 pm on 8 May, 2023",
            },
            "qa": [{"question": "What?", "answer": "this", "category": 1, "evidence": ["D1:1"]}],
        }
    ],
    "memsim": [
        {
            "tid": 0,
            "message_list": [{"mid": 0, "message": "甲", "time": "2024年04月01日 周一 08:15", "place": "上海"}],
            "question_list": [
                {
                    "qid": 0,
                    "question": "什么？",
                    "answer": "甲",
                    "target_step_id": [0],
                    "choices": {"A": "甲"},
                    "ground_truth": "A",
                    "time": "2024年04月02日 周二 08:15",
                }
            ],
        }
    ],
    "openai-chat": [
        {
            "messages": [
                {
                    "role": "user",
                    "name": "Ada",
                    "content": [
                        {"type": "text", "text": "words"},
                        {"type": "tool_use", "name": "look", "input": {"at": "door"}},
                        {"type": "tool_result", "content": [{"type": "text", "text": {"value": "found"}}]},
                    ],
                    "refusal": "no",
                    "audio": {"transcript": "spoken"},
                    "tool_calls": [{"type": "function", "function": {"name": "look", "arguments": "{}"}}],
                    "function_call": {"name": "look", "arguments": {}},
                }
            ],
            "user_id": "ada",
            "session_id": "s",
            "timestamp": 1757318400.25,
            "response": {"choices": [{"message": {"role": "assistant", "content": ""}}]},
        }
    ],
    "realtalk": {
        "name": {"speaker_1": "A", "speaker_2": "B"},
        "session_1": [
            {
                "clean_text": "words",
                "speaker": "A",
                "date_time": "29.12.2023, 00:51:12",
                "dia_id": "D1:1",
                "blip_caption": "a dog",
            }
        ],
        "session_1_date_time": "29.12.2023, 00:51:12",
        "qa": [{"question": "What?", "answer": "this", "category": 1, "evidence": ["D1:1-D1:2"]}],
    },
    "sharegpt": [
        {"id": "x", "conversations": [{"from": "human", "value": "words"}, {"from": "function_call", "value": ""}]}
    ],
}

ABSENT = object()
NESTED: Any = "deep"
for _ in range(300):
    NESTED = [NESTED]
VALUES = [
    *(ABSENT, None, True, 0, -1, 1.5, 10**400, "", " ", "\x00", "\ud800", "word", "D1:1", "x" * 1_000_000),
    *([], {}, [None], [[]], [{}], {"": None}, ["word", 5], {"text": "word"}, NESTED),
]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of each value within a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield (*path, key)
        yield from paths(below, (*path, key))


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(document)
    within = changed
    for key in path[:-1]:
        within = within[key]
    if value is ABSENT:
        del within[path[-1]]
    else:
        within[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("name", "path"),
    [(name, path) for name, document in DOCUMENTS.items() for path in paths(document)],
    ids=lambda part: ".".join(map(str, part)) if isinstance(part, tuple) else part,
)
def test_a_value_of_any_kind_in_any_place_does_no_harm(
    name: str, path: tuple[Any, ...], deliver: Any, settle_first: Any
) -> None:
    for value in VALUES:
        try:
            settled = settle_first(deliver(name, replaced(DOCUMENTS[name], path, value)))
        except IngestError:
            continue
        for row in settled.quarantine.to_pylist():
            assert len(row["reason"]) < 400
            assert len(row["place"]) < 400
        assert settled.labels.num_rows <= 1


@pytest.mark.flash
@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_the_documents_themselves_are_read_whole(name: str, deliver: Any, settle_first: Any) -> None:
    settled = settle_first(deliver(name, DOCUMENTS[name]))
    turns = 2 if name in ("mini-swe-agent", "openhands", "swe-agent") else 1  # the task, and a step
    labels = 1 if name in ("locomo", "longmemeval", "memsim", "native", "realtalk") else 0
    assert (settled.turns.num_rows, settled.requests.num_rows, settled.labels.num_rows) == (turns, 1, labels)
    assert settled.quarantine.num_rows == 0
