"""Sanitising: after it, text is valid UTF-8 without NUL, which every tokenizer, embedder and file format takes."""

from __future__ import annotations

import re

_UNSAFE = re.compile("[\x00\ud800-\udfff]")


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
