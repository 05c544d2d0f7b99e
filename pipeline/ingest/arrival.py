"""What a reader delivers: staged tables, which know their source but not yet their place in the lake.

They can be spooled to disk between parsing and settling. `item` is the position of an array item or line in the source,
counted on from one `file` to the next, and `file_item` that in its file; `session_position` and `turn_position` are
positions in the item and in the session, before anything is dropped: within a history, (item, session_position,
turn_position) is source order. Rows of one history may come from several items.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from pipeline.schemas import QUARANTINE, TEXT, TIME

STAGED_TURNS = pa.schema(
    [
        pa.field("history_id", TEXT, nullable=False),
        pa.field("item", pa.int64(), nullable=False),
        pa.field("file", TEXT, nullable=False),
        pa.field("file_item", pa.int64(), nullable=False),
        pa.field("session_position", pa.int64(), nullable=False),
        pa.field("turn_position", pa.int64(), nullable=False),
        pa.field("session_key", TEXT, nullable=False),
        pa.field("turn_key", TEXT, nullable=False),
        pa.field("content_digest", TEXT, nullable=False),
        pa.field("session_time", TIME),
        pa.field("source_format", TEXT, nullable=False),
        pa.field("source_session", TEXT),
        pa.field("source_turn", TEXT),
        pa.field("role", TEXT, nullable=False),
        pa.field("speaker", TEXT),
        pa.field("text", TEXT, nullable=False),
    ]
)
"""One row a turn that has text, sanitised. The keys are those of SOURCES."""

_REFERENCE_FIELDS = [
    ("session_key", TEXT),
    ("source_session", TEXT),
    ("turn_key", TEXT),
    ("content_digest", TEXT),
]

STAGED_REQUESTS = pa.schema(
    [
        pa.field("history_id", TEXT, nullable=False),
        pa.field("request_id", TEXT, nullable=False),
        pa.field("item", pa.int64(), nullable=False),
        pa.field("file", TEXT, nullable=False),
        pa.field("file_item", pa.int64(), nullable=False),
        pa.field("request_position", pa.int64(), nullable=False),
        pa.field("mode", TEXT, nullable=False),
        pa.field("text", TEXT, nullable=False),
        pa.field("asked_at", TIME),
        pa.field("category", TEXT),
        pa.field("answer", TEXT),
        pa.field("adversarial", pa.bool_(), nullable=False),
        pa.field("seen_before", pa.bool_(), nullable=False),
        *[pa.field(f"seen_{name}", kind) for name, kind in _REFERENCE_FIELDS],
    ]
)
"""One row a request. The last turn that it sees is named by the columns seen_*, as in CITATIONS; null without one. With
`seen_before` that turn is the first that it does not see."""

CITATIONS = pa.schema(
    [
        pa.field("history_id", TEXT, nullable=False),
        pa.field("request_id", TEXT, nullable=False),
        pa.field("item", pa.int64(), nullable=False),
        pa.field("file", TEXT, nullable=False),
        pa.field("request_position", pa.int64(), nullable=False),
        pa.field("place", TEXT, nullable=False),
        *[pa.field(name, kind) for name, kind in _REFERENCE_FIELDS],
    ]
)
"""One row a turn that a request's source names as evidence; `place` is where and how it is cited.
A turn of the same item is named by (session_key, turn_key, content_digest); a turn of an earlier delivery by
(source_session, turn_key), with session_key and content_digest null."""


@dataclass(frozen=True)
class Arrival:
    """A chunk of histories as they arrived: tables of STAGED_TURNS, STAGED_REQUESTS, CITATIONS and QUARANTINE.

    `counts` says what was left out or changed: blank_turns, empty_sessions, sanitised_texts; and the files and items
    that were read.
    """

    turns: pa.Table
    requests: pa.Table
    citations: pa.Table
    quarantine: pa.Table
    counts: dict[str, int] = field(default_factory=dict)

    @classmethod
    def empty(cls) -> Arrival:
        """An arrival without a row."""
        return cls(
            STAGED_TURNS.empty_table(), STAGED_REQUESTS.empty_table(), CITATIONS.empty_table(), QUARANTINE.empty_table()
        )
