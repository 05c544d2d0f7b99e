"""What is stored of a source; and what a change to the source may do to that, and what it may not."""

from __future__ import annotations

import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from mutations import Mutation, places
from tiny_sources import Path, Tiny
from words import WordCounter

from pipeline import schemas
from pipeline.ingest.formats import arrivals
from pipeline.ingest.settle import settle
from pipeline.ingest.source import Document

Row = dict[str, Any]
Key = tuple[str, int, int]
"""Of a turn: history_id, session_index, turn_index."""

TABLES = ("turns", "sources", "requests", "labels")
_WORD = re.compile(r"zq[b-w]{10}")
_OF_SEVERAL_MESSAGES = ("mini-swe-agent", "openhands", "swe-agent")
"""Formats whose turns are made of several messages: a broken one may join others that belong to no step now."""
_LONGEST = 400


@dataclass(frozen=True)
class Outcome:
    """Rows that are stored of a source, by table, with what is in quarantine and what was counted."""

    tables: Mapping[str, Sequence[Row]]
    quarantine: Sequence[Row]
    counts: Mapping[str, int]

    @cached_property
    def turns(self) -> dict[Key, Row]:
        """Turns by key."""
        return {_key(row): row for row in self.tables["turns"]}

    def of(self, table: str, history_id: str) -> list[Row]:
        """The rows of a history."""
        return [row for row in self.tables[table] if row["history_id"] == history_id]

    @cached_property
    def histories(self) -> set[str]:
        """The histories that any table knows."""
        return {row["history_id"] for table in TABLES for row in self.tables[table]}


def read(tiny: Tiny, files: Mapping[str, bytes]) -> Outcome:
    """What an empty lake would store of a source. Raises IngestError."""
    documents = (Document.of(io.BytesIO(files[name]), name) for name in sorted(files))
    arrived = list(arrivals(tiny.source_format, documents, {}))
    stored = [schema.empty_table() for schema in (schemas.SOURCES, schemas.REQUESTS, schemas.LABELS)]
    settled = settle(arrived, 1, *stored, WordCounter())
    counts = Counter(settled.counts)
    for arrival in arrived:
        counts.update(arrival.counts)
    tables = {table: getattr(settled, table).to_pylist() for table in TABLES}
    return Outcome(tables, settled.quarantine.to_pylist(), counts)


class Clean:
    """What is stored of a source as it is, and which words of which places stand in which rows."""

    def __init__(self, tiny: Tiny, outcome: Outcome) -> None:
        assert not outcome.quarantine, outcome.quarantine
        self.tiny = tiny
        self.outcome = outcome
        self.places: dict[str, list[tuple[str, Path]]] = defaultdict(list)
        for name, value in tiny.files.items():
            for path, below in places(value):
                for word in _words(below):
                    self.places[word].append((name, path))
        self.turn_of: dict[str, Key] = {}
        self.request_of: dict[str, str] = {}
        for key, row in outcome.turns.items():
            assert _words(row["text"]), row
            self.turn_of.update(dict.fromkeys(_words(row["text"]), key))
        for row in outcome.tables["requests"]:
            for word in _words(row["text"]):
                self.request_of.setdefault(word, row["request_id"])
        self.words_of: dict[Key, set[str]] = defaultdict(set)
        for word, key in self.turn_of.items():
            self.words_of[key].add(word)

    def histories_in(self, name: str, unit: Path) -> set[str]:
        """The histories of which something stands below a place of a file."""
        owners = {word: key[0] for word, key in self.turn_of.items()}
        return {
            owners[word]
            for word in owners
            for file, path in self.places[word]
            if file == name and path[: len(unit)] == unit
        }


def assert_harmless(clean: Clean, mutation: Mutation, outcome: Outcome, now: datetime) -> None:
    """Raises AssertionError where a mutated copy has done what it may not have done."""
    change = _Change(clean, mutation)
    _assert_untouched_histories_are_as_they_were(change, outcome)
    _assert_turns_are_right_or_accounted_for(change, outcome, now)
    _assert_requests_see_and_cite_what_they_did(change, outcome)
    for row in outcome.quarantine:
        assert len(row["reason"]) < _LONGEST, row["reason"][:_LONGEST]
        assert len(row["place"]) < _LONGEST, row["place"][:_LONGEST]
        assert len(row["history_id"] or "") <= 20_000, "a history of the quarantine has a name without end"


class _Change:
    """Which histories, turns and requests a mutation has touched."""

    def __init__(self, clean: Clean, mutation: Mutation) -> None:
        self.clean = clean
        self.mutation = mutation
        unit = len(clean.tiny.unit)
        self.histories = {
            history for path in mutation.changed for history in clean.histories_in(mutation.file, path[:unit])
        }
        messages = [clean.tiny.message_of(path) for path in mutation.changed]
        self.only_messages = all(message is not None for message in messages)
        """Whether nothing has changed but within messages."""
        # Above a message, everything below may be another.
        self._within = [message or path for message, path in zip(messages, mutation.changed, strict=True)]
        self._beside = [
            path[:-1] if message else path[:unit] for message, path in zip(messages, mutation.changed, strict=True)
        ]

    def touched(self, word: str) -> bool:
        """Whether the text of a word is within what has changed, or of a message within which something has."""
        return self._below(word, self._within)

    def near(self, word: str) -> bool:
        """Whether what has changed stands beside the text, or in its history and in no message."""
        return self.touched(word) or self._below(word, self._beside)

    def gone(self, word: str) -> bool:
        """Whether the text of a word is no longer in the source, or what led to it is not."""
        return self._below(word, self.mutation.gone)

    def _below(self, word: str, prefixes: Iterable[Path]) -> bool:
        return any(
            name == self.mutation.file and path[: len(prefix)] == prefix
            for prefix in prefixes
            for name, path in self.clean.places[word]
        )


def _assert_untouched_histories_are_as_they_were(change: _Change, outcome: Outcome) -> None:
    for history in change.clean.outcome.histories - change.histories:
        for table in TABLES:
            assert outcome.of(table, history) == change.clean.outcome.of(table, history), f"{table} of {history}"
        assert not [row for row in outcome.quarantine if row["history_id"] == history], f"quarantine of {history}"
    new = outcome.histories - change.clean.outcome.histories
    assert not (new and change.only_messages), f"a message has made a history {str(new)[:80]}"


def _assert_turns_are_right_or_accounted_for(change: _Change, outcome: Outcome, now: datetime) -> None:
    clean, order = change.clean, defaultdict(list)
    nameless = 0
    for key, row in outcome.turns.items():
        if row["session_time"] is not None:
            assert abs(row["session_time"] - now) > timedelta(days=1), "a time has become now"
        if key[0] in clean.outcome.histories - change.histories:
            continue
        meant = {clean.turn_of[word] for word in _words(row["text"]) if word in clean.turn_of}
        nameless += not meant
        for was in meant:
            assert was[0] in change.histories, f"a turn of {was[0]} has moved to {key[0]}"
            named = key[0] in (was[0], *(outcome.histories - clean.outcome.histories))
            renamed = change.mutation.of_bytes and not change.only_messages
            assert named or renamed, f"{was} has moved to {key}"
        touched = [was for was in meant if any(map(change.touched, clean.words_of[was]))]
        if len(meant) > 1:
            assert touched, f"turns {meant} have become one"
            assert clean.tiny.source_format in _OF_SEVERAL_MESSAGES or change.mutation.of_bytes, f"{meant} are one"
        elif meant and not touched:
            (was,) = meant
            before = clean.outcome.turns[was]
            for column in ("text", "role", "speaker", "n_tokens"):
                assert row[column] == before[column], f"{column} of {was}"
            session = [turn for turn in clean.outcome.turns if turn[:2] == was[:2]]
            if not any(change.near(word) for turn in session for word in clean.words_of[turn]):
                assert row["session_time"] == before["session_time"], f"session_time of {was}"
            order[key[0]].append((key, was))
    if change.only_messages:
        for history, pairs in order.items():
            assert [was for _, was in sorted(pairs)] == sorted(was for _, was in pairs), f"order of {history}"
    _assert_missing_turns_are_accounted_for(change, outcome, nameless)


def _assert_missing_turns_are_accounted_for(change: _Change, outcome: Outcome, nameless: int) -> None:
    clean = change.clean
    stored = {
        clean.turn_of[word] for row in outcome.turns.values() for word in _words(row["text"]) & set(clean.turn_of)
    }
    missing = {key for key in clean.outcome.turns if key not in stored}
    assert {history for history, _, _ in missing} <= change.histories, "an untouched turn is missing"
    left = [key for key in missing if not any(map(change.gone, clean.words_of[key]))]
    counted = Counter(outcome.counts) - Counter(clean.outcome.counts)
    kept_aside = [row for row in outcome.quarantine if row["history_id"] in (*change.histories, None)]
    kept_aside += [row for row in outcome.quarantine if row["history_id"] not in clean.outcome.histories]
    noted = len(kept_aside) + counted["blank_turns"] + counted["empty_sessions"] + nameless
    assert not left or noted, f"{len(left)} turns are missing without a word, such as {left[0]}"


def _assert_requests_see_and_cite_what_they_did(change: _Change, outcome: Outcome) -> None:
    clean = change.clean
    requests = {(row["history_id"], row["request_id"]): row for row in outcome.tables["requests"]}
    cited = defaultdict(set)
    for row in outcome.tables["labels"]:
        request = requests[row["history_id"], row["request_id"]]
        cited[row["history_id"], row["request_id"]].add(_key(row))
        assert _key(row) in outcome.turns, f"a label of {row['request_id'][:80]} points at no turn"
        assert request["history_id"] == row["history_id"]
    for (history, request_id), row in requests.items():
        words = _words(row["text"]) & clean.places.keys()
        for word in words & clean.turn_of.keys():
            assert clean.turn_of[word][0] in {history, *change.histories}, f"{request_id} asks of another history"
        if row["seen_session"] is not None:
            seen = (history, row["seen_session"], row["seen_turn"])
            assert row["seen_turn"] == -1 or seen in outcome.turns, f"{request_id[:80]} has seen no turn"
        _assert_labels_are_those_of_before(change, outcome, row, cited[history, request_id])


def _assert_labels_are_those_of_before(change: _Change, outcome: Outcome, request: Row, cited: set[Key]) -> None:
    clean = change.clean
    if clean.tiny.source_format == "native" and change.mutation.moved:
        return  # it cites by position
    own = [word for word in _words(request["text"]) if word in clean.request_of and word not in clean.turn_of]
    if (
        not own
        or change.touched(own[0])
        or any(
            path[:-1] and change._below(own[0], [path[: len(path) - back]])
            for path in change.mutation.changed
            for back in (1, 2, 3)
            if len(path) - back > len(clean.tiny.unit)
        )
    ):
        return
    request_id = clean.request_of[own[0]]
    before = {_key(row) for row in clean.outcome.tables["labels"] if row["request_id"] == request_id}
    after = set()
    for key in cited:
        words = _words(outcome.turns[key]["text"]) & clean.turn_of.keys()
        was = {clean.turn_of[word] for word in words}
        assert was <= before or any(map(change.touched, words)), f"{request_id} cites {was}, before it cited {before}"
        after |= was
    for key in before - after:
        excused = any(change.near(word) or change.gone(word) for word in clean.words_of[key])
        noted = any(row["request_id"] == request["request_id"] for row in outcome.quarantine)
        assert excused or noted, f"{request_id} has lost its label of {key} without a word"


def _words(value: Any) -> set[str]:
    return set(_WORD.findall(value)) if isinstance(value, str) else set()


def _key(row: Row) -> Key:
    return row["history_id"], row["session_index"], row["turn_index"]
