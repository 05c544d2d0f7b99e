"""Lexical analysis: from text to the terms that BM25 counts, the same for turns and for requests."""

from __future__ import annotations

from functools import cache
from importlib import resources

import polars as pl
import Stemmer

ANALYZER_ID = "unicode-en-2"
"""Names what `analyze` does; terms of two analyzers never meet, so a change of its output needs a new name."""

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts written without spaces, and the prolonged sound mark, which Unicode gives to no script."""
_LETTERS = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]+"
_TOKEN = rf"[{_UNSPACED}]+|{_LETTERS}(?:'{_LETTERS})*"
_APOSTROPHES = "[\u2019\u02bc\uff07]"


def analyze(texts: pl.Series) -> pl.Series:
    """Terms of each text, in order, repeats kept: a series of lists of strings, as long as `texts`.

    Words are runs of letters, marks and digits of the NFKC, lower-case text, with apostrophes between letters; English
    stop words are left out, the rest stemmed (Snowball English, which also takes off a possessive 's). An underscore
    parts words, so that a part of an identifier is found. A run in a script that is written without spaces becomes its
    overlapping pairs of characters, each Han character by itself before its pair (many are words, which no pair of
    another text need hold); one character alone stays.
    """
    folded = texts.str.normalize("NFKC").str.to_lowercase().str.replace_all(_APOSTROPHES, "'")
    tokens = pl.DataFrame({"token": folded.str.extract_all(_TOKEN)}).with_row_index("row").explode("token").drop_nulls()
    terms = tokens.join(_terms_of_tokens(tokens["token"].unique()), on="token", how="left", maintain_order="left")
    by_row = terms.explode("terms").drop_nulls().group_by("row", maintain_order=True).agg("terms")
    rows = pl.DataFrame({"row": pl.arange(len(texts), dtype=pl.UInt32, eager=True)})
    listed = rows.join(by_row, on="row", how="left", maintain_order="left")["terms"]
    return listed.fill_null([]).cast(pl.List(pl.String)).alias("terms")


def _terms_of_tokens(tokens: pl.Series) -> pl.DataFrame:
    """What each distinct token becomes: columns token and terms, an empty list for a stop word."""
    unspaced = tokens.str.contains(rf"^[{_UNSPACED}]")
    words = tokens.filter(~unspaced)
    words = words.filter(~words.is_in(_stop_words().implode()))
    stems = pl.Series(Stemmer.Stemmer("english").stemWords(words.to_list()), dtype=pl.String)
    stemmed = pl.DataFrame({"token": words, "terms": stems}).group_by("token").agg("terms")
    return pl.concat([stemmed, _pairs(tokens.filter(unspaced))])


def _pairs(runs: pl.Series) -> pl.DataFrame:
    """The overlapping pairs of characters, and the Han characters, of each distinct run: columns token and terms."""
    numbered = pl.DataFrame({"token": runs}).with_row_index("run")  # a number a character, not a copy of its run
    characters = numbered.select("run", character=pl.col("token").str.split("")).explode("character")
    following = pl.col("character").shift(-1).over("run")
    by_itself = pl.col("character").str.contains(r"^\p{Han}$") | (pl.len().over("run") == 1)
    pairs = (
        characters.with_columns(
            terms=pl.concat_list(pl.when(by_itself).then("character"), pl.col("character") + following)
        )
        .explode("terms")
        .drop_nulls("terms")
    )
    return numbered.join(pairs.group_by("run", maintain_order=True).agg("terms"), on="run").select("token", "terms")


@cache
def _stop_words() -> pl.Series:
    listed = resources.files("pipeline.recall").joinpath("stopwords_en.txt").read_text(encoding="utf-8")
    return pl.Series(listed.split())
