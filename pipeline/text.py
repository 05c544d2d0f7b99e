"""Sanitising: after it, text is valid UTF-8 without NUL, which every tokenizer, embedder and file format takes."""

from __future__ import annotations

import re

import polars as pl

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


def sanitise(texts: pl.Series) -> tuple[pl.Series, int]:
    """A column of text without NUL, and how many of its values changed. Nulls stay. Columns hold no surrogates."""
    clean = texts.str.replace_all("\x00", "", literal=True)
    return clean, int((clean != texts).sum())
