"""What a word of a language becomes: nothing, or its stem."""

from __future__ import annotations

import polars as pl
import Stemmer

from pipeline.recall.languages import ENGLISH, SHARING_A_SCRIPT
from pipeline.recall.stop_words import stop_words


def stems(words: pl.DataFrame) -> pl.DataFrame:
    """The terms of each distinct word: columns token, language and term, no row for a stop word.

    `words` has columns token and language (null: a word that is its own term). Stemmers are Snowball's. A word of a
    language that shares its script has two terms, its stem and what the English stemmer makes of it, where they
    differ: the language is told by the text, and a short request may be told English where its turn is not.
    """
    kept_whole = words.filter(pl.col("language").is_null()).with_columns(term="token")
    spoken = words.drop_nulls("language").group_by("language")
    return pl.concat([kept_whole, *(_of_language(str(language), of_one) for (language,), of_one in spoken)])


def _of_language(language: str, words: pl.DataFrame) -> pl.DataFrame:
    """As `stems`, of words of one language."""
    kept = _without_stop_words(language, words)
    own = _stemmed(language, kept)
    if language == ENGLISH or language not in SHARING_A_SCRIPT:
        return own
    english = _stemmed(ENGLISH, _without_stop_words(ENGLISH, kept))
    return pl.concat([own, english]).unique(maintain_order=True)


def _without_stop_words(language: str, words: pl.DataFrame) -> pl.DataFrame:
    return words.filter(~pl.col("token").is_in(stop_words(language).implode()))


def _stemmed(language: str, words: pl.DataFrame) -> pl.DataFrame:
    tokens = words["token"]
    if language == "turkish":  # endings of names stand after an apostrophe, out of the stemmer's sight: İzmir'de
        tokens = tokens.str.replace("'.*", "")
    terms = Stemmer.Stemmer(language).stemWords(tokens.to_list())
    return words.with_columns(term=pl.Series(terms, dtype=pl.String))
