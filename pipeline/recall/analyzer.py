"""Lexical analysis: from text to the terms that BM25 counts, the same for turns and for requests."""

from __future__ import annotations

import polars as pl

from pipeline.recall.languages import ENGLISH, SHARING_A_SCRIPT, by_letters, languages
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
    tokens = _tokens(texts)
    return _listed(tokens.with_columns(languages(tokens)), len(texts))


def analyze_words(texts: pl.Series, words: pl.Series, text_of_word: pl.Series) -> pl.Series:
    """As `analyze`, of single words, each in the language that its text is told to be in: lists as long as `words`.

    `text_of_word` has for each word the place of its text in `texts`. By itself a word of another language would be
    taken for English, and its stop words for rare words.
    """
    tokens = _tokens(texts)
    told = tokens.with_columns(languages(tokens)).filter(pl.col("language").is_in(list(SHARING_A_SCRIPT)))
    of_text = told.group_by("row").agg(of_text=pl.col("language").first()).rename({"row": "text"})
    of_words = _tokens(words)
    places = pl.DataFrame({"row": pl.int_range(len(words), dtype=pl.UInt32, eager=True), "text": text_of_word})
    spoken = (
        of_words.with_columns(by_letters(of_words["token"]))
        .join(places.cast({"text": pl.UInt32}), on="row", maintain_order="left")
        .join(of_text, on="text", how="left", maintain_order="left")
        .with_columns(
            language=pl.when(pl.col("language") == ENGLISH)
            .then(pl.coalesce("of_text", "language"))
            .otherwise(pl.col("language"))
        )
    )
    return _listed(spoken.select("row", "token", "language"), len(words))


def _tokens(texts: pl.Series) -> pl.DataFrame:
    """The tokens of texts in order, lower case: columns row (which text) and token."""
    folded = texts.str.normalize("NFKC").str.to_lowercase().str.replace_many(_SAME).str.replace_all(_ELIDED, "$1$2")
    tokens = pl.DataFrame({"token": folded.str.extract_all(_TOKEN)}).with_row_index("row")
    return tokens.explode("token").drop_nulls()


def _listed(words: pl.DataFrame, n_texts: int) -> pl.Series:
    """The terms of words (row, token, language) as a list for each of `n_texts` rows."""
    of_words = _terms_of_words(words.select("token", "language").unique())
    terms = words.join(of_words, on=["token", "language"], nulls_equal=True, maintain_order="left_right")
    by_row = terms.group_by("row", maintain_order=True).agg(pl.col("term").alias("terms"))
    rows = pl.DataFrame({"row": pl.arange(n_texts, dtype=pl.UInt32, eager=True)})
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
