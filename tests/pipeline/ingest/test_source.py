"""A document is called after its file."""

from __future__ import annotations

import io

import pytest

from pipeline.ingest.source import Document


@pytest.mark.flash
@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("chat.json", "chat"),
        ("CHAT.JSON", "CHAT"),
        ("run.traj.json", "run"),
        ("run.Traj.Json", "run"),
        ("in/a.b.jsonl", "in/a.b"),
        ("none", "none"),
        (".json", ".json"),
    ],
)
def test_a_history_is_called_after_its_file_without_the_endings_of_kind_in_any_case(name: str, stem: str) -> None:
    assert Document.of(io.BytesIO(), name).stem == stem
