"""A format is told by the content of a document, whatever its name."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.ingest.detect import detect
from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import FORMATS
from pipeline.ingest.sample import sample
from pipeline.ingest.source import Document

pytestmark = pytest.mark.flash


def document(payload: bytes) -> Document:
    return Document.of(io.BytesIO(payload), "some.thing")


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"history_id": ["h"]}), sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ([{"question": "?", "question_id": "q", "haystack_sessions": [[]]}], "longmemeval"),
        ([{"sample_id": "conv-1", "conversation": {"session_1": []}, "qa": []}], "locomo"),
        ({"history_id": "h", "sessions": []}, "native"),
        ([{"history_id": "h", "requests": []}], "native"),
        ({"messages": [{"role": "user", "content": "?"}], "user": "ada"}, "openai-chat"),
        ([{"messages": []}, {"messages": [{"role": "user", "content": None}]}], "openai-chat"),
        ([{"role": "system", "content": "Be kind."}, {"role": "assistant", "tool_calls": []}], "openai-chat"),
        ({"role": "user", "content": "?"}, "openai-chat"),
        ([{"conversations": [{"from": "human", "value": "?"}], "id": "x"}], "sharegpt"),
        ({"conversations": [{"role": "user", "content": "?"}]}, "sharegpt"),
        ({"messages": [{"from": "gpt", "value": "!"}]}, "sharegpt"),
        ([{"title": "T", "mapping": {}, "current_node": None}], "chatgpt"),
        ({"agents": [{"id": "agent-0", "messages": []}], "blocks": [], "tools": []}, "letta"),
        ({"agent_type": "memgpt_agent", "core_memory": [], "messages": [{"role": "user", "content": []}]}, "letta"),
        ({"environment": "main", "trajectory": [{"action": "ls", "observation": ""}], "info": {}}, "swe-agent"),
        ({"trajectory": [], "history": [], "info": {}}, "swe-agent"),
        ({"history": [{"role": "system", "content": "x", "agent": "main"}]}, "swe-agent"),
        (
            [{"role": "system", "content": "exactly ONE bash code block"}, {"role": "user", "content": ""}],
            "mini-swe-agent",
        ),
        ([{"role": "user", "content": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}], "mini-swe-agent"),
        ([{"role": "assistant", "content": "x", "extra": {"actions": []}}], "mini-swe-agent"),
        ({"messages": [], "trajectory_format": "mini-swe-agent-1.1", "info": {}}, "mini-swe-agent"),
        ({"messages": [{"role": "user", "content": "x"}], "info": {"exit_status": "Submitted"}}, "mini-swe-agent"),
        ([{"role": "user", "content": "run `exactly one` bash command"}], "openai-chat"),
        ({"messages": [{"role": "user", "content": "<returncode>0</returncode>"}]}, "openai-chat"),
        ([{"id": 0, "source": "user", "action": "message", "args": {}}], "openhands"),
        ([{"id": 0, "cause": 1, "observation": "run", "content": ""}], "openhands"),
        ([{"kind": "SystemPromptEvent", "source": "agent", "system_prompt": {}}], "openhands"),
        ({"instance_id": "i", "history": [{"source": "user", "action": "message"}], "metrics": {}}, "openhands"),
        ({"issue": {}, "history": [[{"source": "user", "action": "message"}, {}]]}, "openhands"),
        ({"name": {"speaker_1": "A"}, "session_1": [{"clean_text": "x", "dia_id": "D1:1"}], "qa": []}, "realtalk"),
        ({"version": "1", "session_meta": {}, "conversation_list": [{"content": "x"}]}, "evermemos"),
        ({"version": "1", "conversation_meta": {}, "conversation_list": []}, "evermemos"),
        ([{"tid": 0, "message_list": [{"mid": 0, "message": "x"}], "question_list": []}], "memsim"),
        ({"simple": {"roles": None, "events": [{"tid": 0, "message_list": ["x"], "QA": {}}]}}, "memsim"),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b"\n  "])
def test_each_format_is_recognised_whether_pretty_printed_or_not(
    value: Any, name: str, indent: int | None, start: bytes
) -> None:
    assert detect(document(start + json.dumps(value, indent=indent).encode())) == name


def test_parquet_is_native() -> None:
    assert detect(document(parquet())) == "native"


def test_lines_are_told_from_one_object_and_a_bad_line_after_the_first_does_not_matter() -> None:
    line = json.dumps({"history_id": "h", "requests": []})
    assert sample(document(f"{line}\n\n{line}\n{{broken".encode()).stream).shape == "lines"
    assert sample(document(line.encode()).stream).shape == "object"
    assert sample(document(json.dumps({"a": {"b": 1}}, indent=1).encode()).stream).records == ({"a": {"b": 1}},)


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (b"", "some.thing: it is empty"),
        (b"\xef\xbb\xbf \n", "it is empty"),
        (gzip.compress(b"{}"), r"some.thing: it is compressed with gzip: .* end with \.gz"),
        (bz2.compress(b"{}"), r"end with \.bz2"),
        (pa.compress(b"{}", codec="zstd", asbytes=True), r"end with \.zst"),
        (lzma.compress(b"{}"), "compressed with xz"),
        (b"PK\x03\x04", "zip archive"),
        ('{"history_id": "a"}'.encode("utf-16"), "UTF-16: bring it into UTF-8"),
        (json.dumps({"k" * 5_000_000: 1}).encode(), r"JSON object of k{40}\.\.\.\)"),
        (b"{}", "JSON object of no key"),
        (b"<html>", "neither JSON.*slatemill formats"),
        (b"\x89PNG", "no text.*slatemill formats"),
        (b"%PDF-1.7\n%", "no text.*slatemill formats"),
        (b"GIF89a\0\1", "no text.*slatemill formats"),
        (b'["never closed', "a string in it does not end$"),
        (
            b"{ not json",
            r"begins as a JSON object and is none: JSONDecodeError\. If it is JSON lines, name their format",
        ),
        (b"[1,", "item 1 is not JSON, or cut short"),
        (b'{"foo": 1, "bar": 2}', r"of no known format \(JSON object of bar, foo\)"),
        (b"[]", "of no known format"),
    ],
)
def test_what_is_no_format_is_an_error_that_says_what_was_seen(payload: bytes, said: str) -> None:
    with pytest.raises(IngestError, match=said) as raised:
        detect(document(payload))
    assert len(str(raised.value)) < 700


@pytest.mark.parametrize("folder", sorted(FORMATS))
def test_every_real_file_is_of_the_one_format_whose_folder_it_lies_in(real_data: Path, folder: str) -> None:
    for file in (*real_data.glob(f"{folder}/*.json*"), *real_data.glob(f"trajectories/{folder}/*")):
        with file.open("rb") as stream:
            assert detect(Document.of(stream, file.name)) == folder
