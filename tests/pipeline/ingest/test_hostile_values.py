"""Whatever stands in place of any value of a document, reading ends: with rows, quarantine, or IngestError."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from pipeline.ingest.errors import IngestError

DOCUMENTS: dict[str, Any] = {
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
    labels = 1 if name in ("locomo", "memsim", "realtalk") else 0
    assert (settled.turns.num_rows, settled.requests.num_rows, settled.labels.num_rows) == (1, 1, labels)
    assert settled.quarantine.num_rows == 0
