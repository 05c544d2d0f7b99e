"""JSON in what a model says: whole, in a fence or between prose, or cut short."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, NamedTuple

How = Literal["whole", "fenced", "salvaged", "none"]

DEEPEST = 64
"""Text that nests deeper is not taken for JSON: no answer does, and parsers run out of stack."""

_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*+(?P<string>")?'  # a string that does not end reaches to the end of the text
    r"|(?P<fence>```)"
    r"|(?P<mark>[{}\[\],:])"
    r'|[^\s"{}\[\],:`]+|`',
    re.DOTALL,
)
_SPACE = re.compile(r"\s*")
_OPENER = re.compile(r"[{\[]")
_CLOSED_BY = {"{": "}", "[": "]"}
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_CUT_SCALAR = re.compile(r"t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|-?\d*(?:\.\d*)?(?:[eE][+-]?\d*)?")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Reading(NamedTuple):
    """An object or list, None where there is none, and how it was come by.

    `whole`: it is all of the text; `fenced`: it stands in a fence or between prose; `salvaged`: the text breaks off
    within it, and what was complete by then is closed.
    """

    value: Any
    how: How


class _Span(NamedTuple):
    """Text that is JSON: from `start` to `end`, and then `closers`, where it was cut."""

    start: int
    end: int
    closers: str


def read_json(text: str) -> Reading:
    """The longest JSON object or list in a text. Takes time in proportion to the text, whatever it holds.

    Of JSON that breaks off, an item that was being written is left out, and a list or object of which nothing was
    complete. JSON that is wrong in any other way is not mended.
    """
    spans: list[_Span] = []
    at = 0
    while opener := _OPENER.search(text, at):
        span, at = _scan(text, opener.start())
        if span is not None:
            spans.append(span)
    for span in sorted(spans, key=lambda each: each.start - each.end):
        value = _parsed(text[span.start : span.end] + span.closers)
        if value is not None:
            return Reading(value, _how(text, span))
    return Reading(None, "none")


def _how(text: str, span: _Span) -> How:
    if span.closers:
        return "salvaged"
    around = text[: span.start] + text[span.end :]
    return "fenced" if around.strip() else "whole"


def _parsed(text: str) -> Any:
    """The value of a text, None where it is not JSON. Line ends within strings are let pass: models write them."""
    try:
        value = json.loads(text, strict=False)
    except ValueError:
        return None
    return _clean(value) if "\\u" in text else value


def _clean(value: Any) -> Any:
    """A value without lone surrogates, which escapes can name and no file takes."""
    if isinstance(value, str):
        return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value


def _scan(text: str, start: int) -> tuple[_Span | None, int]:
    """The JSON that begins with the bracket at `start`, if any, and the place from which to look on."""
    grammar = _Grammar()
    saved = _Span(start, start, "")
    at = start
    while found := _TOKEN.match(text, _SPACE.match(text, at).end()):  # type: ignore[union-attr]
        token, at = found.group(), found.end()
        if found["fence"]:
            break
        if not grammar.takes(token, ended=bool(found["mark"] or found["string"]) or at < len(text)):
            if at == len(text) and not found["mark"] and grammar.may_be_cut(token):
                break
            # What stands within JSON that is wrong is no answer.
            return None, len(text) if grammar.sure else max(found.start(), start + 1)
        if grammar.complete:
            saved = _Span(start, at, grammar.closers)
            if not saved.closers:
                return saved, at
    return (saved if saved.closers else None), at


class _Grammar:
    """JSON, token by token: which may come next, and what is open."""

    def __init__(self) -> None:
        self.complete = False
        """Whether the last token ended a value."""
        self.sure = False
        """Whether this is meant for JSON, and no bracket of prose: there was a key, or too many brackets."""
        self._open: list[str] = []
        self._next = "value"

    @property
    def closers(self) -> str:
        """What closes all that is open."""
        return "".join(reversed(self._open))

    def takes(self, token: str, ended: bool) -> bool:
        """Takes a token, and whether it may stand here; `ended`: it is seen to be all of it."""
        self.complete = False
        if token in _CLOSED_BY:
            return self._opens(token)
        if token in ("}", "]"):
            return self._closes(token)
        if token in (",", ":"):
            return self._separates(token)
        if token[0] == '"':
            return ended and self._string()
        if not self._awaits_value() or not ended or not _SCALAR.fullmatch(token):
            return False
        self._ends_value()
        return True

    def may_be_cut(self, token: str) -> bool:
        """Whether a token at the end of the text, which was not taken, is the beginning of one that may stand here."""
        if token[0] == '"':
            return self._awaits_value() or self._awaits_key()
        cut = _SCALAR.fullmatch(token) or _CUT_SCALAR.fullmatch(token)
        return self._awaits_value() and cut is not None

    def _awaits_value(self) -> bool:
        return self._next in ("value", "value or end")

    def _awaits_key(self) -> bool:
        return self._next in ("key", "key or end")

    def _opens(self, token: str) -> bool:
        self.sure = self.sure or len(self._open) == DEEPEST
        if not self._awaits_value() or len(self._open) == DEEPEST:
            return False
        self._open.append(_CLOSED_BY[token])
        self._next = "key or end" if token == "{" else "value or end"
        return True

    def _closes(self, token: str) -> bool:
        if not self._open or self._open[-1] != token or not self._next.endswith("end"):
            return False
        self._open.pop()
        self._ends_value()
        return True

    def _separates(self, token: str) -> bool:
        if token == ":":
            fits, self._next = self._next == "colon", "value"
            self.sure = self.sure or fits
            return fits
        fits = self._next == "comma or end"
        self._next = "value" if self._open and self._open[-1] == "]" else "key"
        return fits

    def _string(self) -> bool:
        if self._awaits_key():
            self._next = "colon"
            return True
        if not self._awaits_value():
            return False
        self._ends_value()
        return True

    def _ends_value(self) -> None:
        self._next = "comma or end"
        self.complete = True
