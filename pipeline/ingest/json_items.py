"""The items of a JSON array, or of arrays in groups, one at a time, in bounded memory.

Not ijson: its fast backend turns a lone surrogate into a question mark without a word (ijson 3.6, yajl2_c), and the
backend that does not is many times slower than the standard decoder used here.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Generator, Iterator
from typing import Any, BinaryIO

from pipeline.ingest import json_values
from pipeline.ingest.errors import IngestError
from pipeline.ingest.json_values import JsonReader, broken, too_long
from pipeline.ingest.quoting import shown
from pipeline.ingest.source import Refused

READ_BYTES = 1 << 20
MOST_GROUPS = 8
_SPACE = re.compile(r"[ \t\r\n]*")
# Where the text ahead ends so, a number may go on behind it.
_REST_OF_NUMBER = re.compile(r"[-+.eE0-9]*")
# No token but a string is longer: an error this close to the end may be a token that was cut.
_LONGEST_TOKEN = 16


def json_items(stream: BinaryIO, lost: list[Refused] | None = None) -> Iterator[Any]:
    """The items of the top-level array of UTF-8 JSON; a byte order mark is skipped.

    Memory holds one item and what is read ahead of it. What is lost within an item is put down in `lost`. Raises
    IngestError, which names the item, when the text is not JSON, no array, or cut short, or when an item is too long.
    """
    text = _Text(stream, lost)
    if text.next_character() != "[":
        raise IngestError("the source is not a JSON array: it must begin with [")
    yield from _items(text)
    _require_end(text)


def json_grouped_items(
    stream: BinaryIO, lost: list[Refused] | None = None
) -> Iterator[tuple[tuple[str, ...], int, Any]]:
    """The items of a top-level array, or of all arrays that stand in a top-level object, at most MOST_GROUPS deep.

    Each comes with the keys that lead to its array, and its position there. Text, a number or a boolean where an array
    may stand is handed out in its stead. Otherwise as `json_items`; an object without an array raises IngestError, too,
    as do objects that are nested deeper.
    """
    text = _Text(stream, lost)
    if text.next_character() not in ("[", "{"):
        raise IngestError("the source is neither a JSON array nor a JSON object")
    if not (yield from _groups(text, ())):
        raise IngestError("the source is a JSON object without an array in it")
    _require_end(text)


def place_of(position: int, path: tuple[str, ...]) -> str:
    """Where an item stands, as rows of the quarantine say it."""
    return "".join(f"{shown(key)}, " for key in path) + f"item {position}"


def _require_end(text: _Text) -> None:
    if text.next_character():
        raise IngestError("something stands behind the end of the JSON: a source is one value, or one a line")


def _groups(text: _Text, path: tuple[str, ...]) -> Generator[tuple[tuple[str, ...], int, Any], None, bool]:
    """The items of all arrays in the value that comes next; returns whether there are arrays."""
    start, arrays = text.next_character(), False
    if start == "[":
        arrays = True
        for position, item in enumerate(_items(text, path)):
            yield path, position, item
    elif start == "{":
        if len(path) == MOST_GROUPS:
            raise IngestError(f"the arrays are nested too deeply: in more than {MOST_GROUPS} objects")
        for key in _keys(text):
            arrays |= yield from _groups(text, (*path, key))
    elif (value := text.value(0)) is not None:
        yield path, 0, value
    return arrays


def _items(text: _Text, path: tuple[str, ...] = ()) -> Iterator[Any]:
    """The items of the array that comes next, to which the keys of a path have led."""
    for position in _parts(text, "]"):
        yield text.value(position, path)


def _keys(text: _Text) -> Iterator[str]:
    """The keys of the object that comes next. Whoever asks for the next key has read the value of the last."""
    for position in _parts(text, "}"):
        key = text.value(position)
        if not isinstance(key, str) or text.next_character() != ":":
            raise IngestError(f"item {position}: a key and a colon must stand before it")
        text.skip(1)
        yield key


def _parts(text: _Text, closing: str) -> Iterator[int]:
    """The position of each part, ahead of it, of an array or object up to its closing bracket."""
    text.skip(1)
    position = 0
    while text.next_character() != closing:
        if position:
            if text.next_character() != ",":
                raise IngestError(f"item {position}: a comma or {closing} must stand before it")
            text.skip(1)
        yield position
        position += 1
    text.skip(1)


class _Text:
    """The text ahead, read from the stream as it is needed."""

    def __init__(self, stream: BinaryIO, lost: list[Refused] | None) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape").decode
        self._ahead = ""
        self._at = 0
        self._ended = False
        self._lost = lost
        self._json = JsonReader()

    def next_character(self) -> str:
        """The next character that is not blank, not yet skipped; empty at the end."""
        while True:
            self._at = self._after_blanks(self._at)
            if self._at < len(self._ahead):
                return self._ahead[self._at]
            if not self._read_more(READ_BYTES):
                return ""

    def skip(self, characters: int) -> None:
        """Goes on behind characters that were looked at."""
        self._at += characters

    def value(self, position: int, path: tuple[str, ...] = ()) -> Any:
        """The JSON value that comes next. What is ahead doubles until it is whole: a long item costs linear time."""
        self.next_character()
        while True:
            try:
                value, end, lost = self._json.at(self._ahead, self._at, place_of(position, path))
            except RecursionError as error:
                raise IngestError(f"item {position} is nested too deeply") from error
            except json.JSONDecodeError as error:
                if not self._may_be_cut(error) or not self._read_more_of(position):
                    raise IngestError(f"item {position} is not JSON, or cut short: {broken(error)}") from error
                continue
            except ValueError as error:  # a whole number of more digits than Python turns into one
                raise IngestError(f"item {position} holds what cannot be read: {str(error)[:60]}") from error
            if not _REST_OF_NUMBER.fullmatch(self._ahead, end) or not self._read_more_of(position):
                self._at = end
                if self._lost is not None:
                    self._lost += lost
                return value

    def _after_blanks(self, at: int) -> int:
        match = _SPACE.match(self._ahead, at)
        return match.end() if match else at

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._ahead) - _LONGEST_TOKEN

    def _read_more_of(self, position: int) -> bool:
        """Doubles what is ahead of an item that is not whole yet."""
        size = len(self._ahead) - self._at
        if size > json_values.MOST_BYTES:
            raise IngestError(f"item {position}: {too_long()}")
        return self._read_more(min(max(READ_BYTES, size), json_values.MOST_BYTES + 1 - size))

    def _read_more(self, size: int) -> bool:
        if self._ended:
            return False
        block = self._stream.read(size)
        self._ended = not block
        self._ahead = self._ahead[self._at :] + self._decode(block, final=self._ended)
        self._at = 0
        return True
