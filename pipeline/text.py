"""Sanitising: after it, text is valid UTF-8 without NUL, which every tokenizer, embedder and file format takes."""

from __future__ import annotations

import re

_UNSAFE = re.compile("[\x00\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def sanitise_text(text: str) -> str:
    """The text without NUL and lone surrogates: the same object where nothing is wrong.

    NUL is removed (it stands for nothing); a lone surrogate becomes U+FFFD (it stands for a character that was lost);
    two surrogates that form a pair become their character. Arrow and Polars hold UTF-8 and refuse surrogates: call this
    on Python text before it enters a table.
    """
    if _UNSAFE.search(text) is None:
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\x00", "")


def sanitise_name(name: str) -> str:
    """An id without NUL and lone surrogates: the same object where nothing is wrong.

    What `sanitise_text` takes away stands escaped, as `\\x00` or `\\ud83d`: ids that were cut in the middle of a
    character are not the same one, and no history gets the turns of another.
    """
    if _UNSAFE.search(name) is None:
        return name
    joined = _PAIR.sub(lambda pair: sanitise_text(pair[0]), name)
    return joined.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")
