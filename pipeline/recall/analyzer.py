"""Lexical analysis: from text to the terms that BM25 counts, the same for turns and for requests."""

from __future__ import annotations

import polars as pl

from pipeline.recall.languages import languages
from pipeline.recall.stems import stems

ANALYZER_ID = "unicode-snowball-1"
"""Names what `analyze` does; terms of two analyzers never meet, so a change of its output needs a new name."""

_PAIRED = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Hangul}"
"""Scripts written without spaces, with the prolonged sound mark, which Unicode gives to no script; and Korean, which
writes its particles at the word."""
_LETTERS = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_PAIRED}]]+"
_TOKEN = rf"[{_PAIRED}]+|{_LETTERS}(?:'{_LETTERS})*"
_SAME = {"\u2019": "'", "\u02bc": "'", "\uff07": "'", "i\u0307": "i"}
"""Apostrophes, and the small letter of the Turkish capital İ."""
_ELIDED = (
    r"(^|[^\p{L}\p{M}\p{N}'])"
    r"(?:c|d|j|l|m|n|s|t|qu|jusqu|lorsqu|puisqu|quoiqu|un|all|dall|dell|nell|sull|quest)'(\p{L}{2})"
)
"""Words of French and Italian that are written at the next one, which has two letters or more (English has `all's`)."""


def analyze(texts: pl.Series) -> pl.Series:
    """Terms of each text, in order, repeats kept: a series of lists of strings, as long as `texts`.

    Words are runs of letters, marks and digits of the NFKC, lower-case text, with apostrophes between letters, less an
    elided word before the first (l', dell'). Stop words of the text's language are left out, the rest stemmed
    (pipeline.recall.languages, pipeline.recall.stems). An underscore parts words, so that a part of an identifier is
    found. A run in a script that is written without spaces, or in Hangul, becomes its overlapping pairs of characters,
    each Han character by itself before its pair (many are words, which no pair of another text need hold); one
    character alone stays.
    """
    folded = texts.str.normalize("NFKC").str.to_lowercase().str.replace_many(_SAME).str.replace_all(_ELIDED, "$1$2")
    tokens = pl.DataFrame({"token": folded.str.extract_all(_TOKEN)}).with_row_index("row").explode("token").drop_nulls()
    words = tokens.with_columns(languages(tokens))
    of_words = _terms_of_words(words.select("token", "language").unique())
    terms = words.join(of_words, on=["token", "language"], nulls_equal=True, maintain_order="left_right")
    by_row = terms.group_by("row", maintain_order=True).agg(pl.col("term").alias("terms"))
    rows = pl.DataFrame({"row": pl.arange(len(texts), dtype=pl.UInt32, eager=True)})
    listed = rows.join(by_row, on="row", how="left", maintain_order="left")["terms"]
    return listed.fill_null([]).cast(pl.List(pl.String)).alias("terms")


def _terms_of_words(words: pl.DataFrame) -> pl.DataFrame:
    """What each distinct word becomes: columns token, language and term, a row for each of its terms in order."""
    paired = pl.col("token").str.contains(rf"^[{_PAIRED}]")
    return pl.concat([stems(words.filter(~paired)), _pairs(words.filter(paired))])


def _pairs(runs: pl.DataFrame) -> pl.DataFrame:
    """The overlapping pairs of characters, and the Han characters, of each distinct run: columns as of its words."""
    characters = runs.with_row_index("run").with_columns(character=pl.col("token").str.split("")).explode("character")
    following = pl.col("character").shift(-1).over("run")
    by_itself = pl.col("character").str.contains(r"^\p{Han}$") | (pl.len().over("run") == 1)
    pair = pl.concat_list(pl.when(by_itself).then("character"), pl.col("character") + following)
    return characters.select("token", "language", term=pair).explode("term").drop_nulls("term")
