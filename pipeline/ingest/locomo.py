"""LoCoMo: an array of conversations of two people, each with its questions.

A history is one conversation; its history_id is sample_id, or the name of the file and its position there. Of an image
its caption is kept with the turn's text; the search phrase it was found by (`query`) tells what the question will be,
and is not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipeline.ingest.codes import Code
from pipeline.ingest.dialogue import add_requests, add_sessions
from pipeline.ingest.options import Options
from pipeline.ingest.records import items, wanted
from pipeline.ingest.sample import Sample
from pipeline.ingest.source import Document, Refused, SourceHistory
from pipeline.ingest.times import parse_locomo_time

ADVERSARIAL = "5"
"""The category of questions that the conversation does not answer."""


def read(document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    """Histories of a LoCoMo file, one at a time. Raises IngestError when it is not a JSON array."""
    for record in items(document):
        sample = record.value.get("sample_id") if isinstance(record.value, dict) else None
        history_id = f"{document.stem}:{record.position}" if sample in (None, "") else str(sample)
        if wanted(document, record, [history_id], options):
            yield _history(record.position, record.value, history_id)


def recognises(sample: Sample) -> bool:
    """An array of objects that each hold a conversation."""
    return sample.shape == "array" and sample.all_have("conversation")


def _history(position: int, item: Any, history_id: str) -> SourceHistory | Refused:
    place = f"item {position}"
    conversation = item.get("conversation") if isinstance(item, dict) else None
    if not isinstance(conversation, dict):
        return Refused(Code.WRONG_SHAPE, place, "key conversation is missing or not an object", 1, history_id)
    history = SourceHistory(history_id, position)
    ids = add_sessions(
        history,
        conversation,
        f"{place}, ",
        text_keys=("text",),
        time_of=lambda name, _: parse_locomo_time(conversation.get(f"{name}_date_time")),
    )
    if not history.sessions and not history.refused:
        history.refuse(Code.WRONG_SHAPE, place, "the conversation holds no session_N")
    add_requests(history, item.get("qa") or [], ids, f"{place}, ", ADVERSARIAL)
    return history
