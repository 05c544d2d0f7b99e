"""The items of a JSON array one at a time, in bounded memory.

Not ijson: its fast backend turns a lone surrogate into a question mark without a word (ijson 3.6, yajl2_c), and the
backend that does not is many times slower than the standard decoder used here.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from pipeline.ingest.errors import IngestError

READ_BYTES = 1 << 20
_SPACE = re.compile(r"[ \t\r\n]*")
# Where the text ahead ends so, a number may go on behind it.
_REST_OF_NUMBER = re.compile(r"[-+.eE0-9]*")
# No token but a string is longer: an error this close to the end may be a token that was cut.
_LONGEST_TOKEN = 16


def json_items(stream: BinaryIO) -> Iterator[Any]:
    """The items of the top-level array of UTF-8 JSON; a byte order mark is skipped.

    Memory holds one item and what is read ahead of it. Bytes that are not UTF-8 become lone surrogates, which
    sanitising counts. Raises IngestError, which names the item, when the text is not JSON, no array, or cut short.
    """
    text = _Text(stream)
    if text.next_character() != "[":
        raise IngestError("the source is not a JSON array: it must begin with [")
    text.skip(1)
    position = 0
    while text.next_character() != "]":
        if position:
            if text.next_character() != ",":
                raise IngestError(f"item {position}: a comma or ] must stand before it")
            text.skip(1)
        yield text.value(position)
        position += 1


class _Text:
    """The text ahead, read from the stream as it is needed."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape").decode
        self._ahead = ""
        self._at = 0
        self._ended = False
        self._json = json.JSONDecoder(strict=False)  # a line break inside a string is no reason to lose a file

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

    def value(self, position: int) -> Any:
        """The JSON value that comes next. What is ahead doubles until it is whole: a long item costs linear time."""
        self.next_character()
        while True:
            try:
                value, end = self._json.raw_decode(self._ahead, self._at)
            except RecursionError as error:
                raise IngestError(f"item {position} is nested too deeply") from error
            except json.JSONDecodeError as error:
                if not self._may_be_cut(error) or not self._read_more(max(READ_BYTES, len(self._ahead) - self._at)):
                    raise IngestError(f"item {position} is not JSON, or cut short: {error.msg}") from error
                continue
            if not _REST_OF_NUMBER.fullmatch(self._ahead, end) or not self._read_more(READ_BYTES):
                self._at = end
                return value

    def _after_blanks(self, at: int) -> int:
        match = _SPACE.match(self._ahead, at)
        return match.end() if match else at

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._ahead) - _LONGEST_TOKEN

    def _read_more(self, size: int) -> bool:
        if self._ended:
            return False
        block = self._stream.read(size)
        self._ended = not block
        self._ahead = self._ahead[self._at :] + self._decode(block, final=self._ended)
        self._at = 0
        return True
