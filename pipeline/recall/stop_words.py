"""The stop words of each language that has a list."""

from __future__ import annotations

from functools import cache
from importlib import resources

import polars as pl

STOP_LISTS = frozenset(
    (
        "danish",
        "dutch",
        "english",
        "finnish",
        "french",
        "german",
        "hungarian",
        "italian",
        "norwegian",
        "portuguese",
        "russian",
        "spanish",
        "swedish",
        "turkish",
    )
)
"""The languages that have one, each a file in `stopwords/`, where `#` begins a line that says where it is from."""


@cache
def stop_words(language: str) -> pl.Series:
    """The stop words of a language, none where it has no list."""
    if language not in STOP_LISTS:
        return pl.Series([], dtype=pl.String)
    listed = resources.files("pipeline.recall").joinpath("stopwords", f"{language}.txt").read_text(encoding="utf-8")
    lines = [line for line in listed.splitlines() if not line.startswith("#")]
    return pl.Series(" ".join(lines).split(), dtype=pl.String)
