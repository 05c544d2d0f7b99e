from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from pipeline.recall.indexed_text import indexed_text


@pytest.mark.flash
def test_a_named_speaker_stands_before_the_text_and_a_role_does_not(turn_table: Callable[..., pa.Table]) -> None:
    turns = turn_table(
        [
            {"at": ("h", 0, 0), "text": "Hi [a photo of a cat]", "speaker": "Ann"},
            {"at": ("h", 0, 1), "text": "Hello", "role": "assistant"},
        ]
    )
    assert indexed_text(turns).to_list() == ["Ann: Hi [a photo of a cat]", "Hello"]
