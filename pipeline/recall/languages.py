"""In which language each word of a text is: told by its script, or by the text where languages share a script."""

from __future__ import annotations

from functools import cache

import polars as pl
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from pipeline.recall.stop_words import STOP_LISTS, stop_words

ENGLISH = "english"
"""The language of words in Latin letters where nothing says another."""

_OF_CODE = {
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "en": ENGLISH,
    "es": "spanish",
    "et": "estonian",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "sv": "swedish",
    "tr": "turkish",
}
"""The languages in Latin letters that have a Snowball stemmer, by ISO 639-1."""
_WITHOUT_STEMMER = ("hr", "lv", "sk", "sl", "tl", "vi")
"""Told apart so that they are not taken for one of the others."""

_OF_LETTER = {
    ENGLISH: r"\p{Latin}",
    "persian": "[پچژگکی]",
    "arabic": r"\p{Arabic}",
    "armenian": r"\p{Armenian}",
    "greek": r"\p{Greek}",
    "hindi": r"\p{Devanagari}",
    "russian": r"\p{Cyrillic}",
    "tamil": r"\p{Tamil}",
}
"""By a letter that a word has, the first that fits; for Latin letters, where the text says no other language. In the
other scripts one stemmer serves every language, so that turn and request are stemmed alike whatever they are; Arabic
words have none of the letters named for Persian."""

SHARING_A_SCRIPT = frozenset(_OF_CODE.values())
"""The languages that a text is told to be in by its words, so that two texts in one of them may be told differently."""
LANGUAGES = pl.Enum(sorted({*_OF_CODE.values(), *_OF_LETTER}))
"""All of them, under Snowball's names."""

_SHOWN_WORDS = 64
_CONFIDENCE = 0.5
_SHORTEST_EVIDENCE = 3
"""Characters: shorter words of English are words of many languages (Polish `by`, `my`, `to`)."""


def languages(tokens: pl.DataFrame) -> pl.Series:
    """The language of each token, dtype LANGUAGES, null for one in no letters of a script that is stemmed.

    `tokens` has columns row (ascending: which text) and token (lower case), in the order of the text. The language of a
    token depends on its own text alone. A text in Latin letters is English where more of its words are function words
    of English alone than of other languages alone. Else py3langid tells; where neither has more and py3langid is not
    confident, it is taken for English.
    """
    traits = _traits(tokens["token"].unique())
    words = tokens.join(traits, on="token", how="left", maintain_order="left")
    by_text = words.join(_other_than_english(words), on=["row", "language"], how="left", maintain_order="left")
    return by_text.select(pl.coalesce("of_text", "language").alias("language")).to_series()


def by_letters(tokens: pl.Series) -> pl.Series:
    """The language of each token by its letters alone, a column `language`: English for any in Latin letters."""
    traits = _traits(tokens.unique())
    return pl.DataFrame({"token": tokens}).join(traits, on="token", how="left", maintain_order="left")["language"]


def _traits(tokens: pl.Series) -> pl.DataFrame:
    """Of each distinct token what it says by itself: columns token, language and english.

    `language` is English for any word in Latin letters. `english` is 1 for a function word of English alone, -1 for one
    of other languages alone, else 0.
    """
    by_letter = pl.coalesce(
        pl.when(pl.col("token").str.contains(letter)).then(pl.lit(language, LANGUAGES))
        for language, letter in _OF_LETTER.items()
    )
    of_english, of_others = _function_words()
    english = pl.col("token").is_in(of_english.implode()).cast(pl.Int8)
    others = pl.col("token").is_in(of_others.implode()).cast(pl.Int8)
    return pl.DataFrame({"token": tokens}).with_columns(language=by_letter, english=english - others)


def _other_than_english(words: pl.DataFrame) -> pl.DataFrame:
    """The texts whose words in Latin letters may not be English: columns row, language (English) and of_text."""
    latin = words.filter(pl.col("language") == ENGLISH)
    evidence = latin.group_by("row").agg(pl.col("english").sum()).filter(pl.col("english") <= 0)
    unsure = latin.drop("english").join(evidence, on="row", maintain_order="left")
    shown = unsure.group_by("row", "language", "english", maintain_order=True).agg(pl.col("token").head(_SHOWN_WORDS))
    told = [
        _told(" ".join(tokens), sure=english < 0) for tokens, english in shown.select("token", "english").iter_rows()
    ]
    return shown.select("row", "language", pl.Series("of_text", told, LANGUAGES))


def _told(text: str, sure: bool) -> str:
    """What py3langid tells, where it is confident, or where the text is `sure` not to be English."""
    code, confidence = _identifier().classify(text)
    return _OF_CODE.get(code, ENGLISH) if sure or confidence >= _CONFIDENCE else ENGLISH


@cache
def _identifier() -> LanguageIdentifier:
    """A model of our own: the one that py3langid shares can be set to other languages by whoever imports it."""
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([*_OF_CODE, *_WITHOUT_STEMMER])
    return identifier


@cache
def _function_words() -> tuple[pl.Series, pl.Series]:
    """The stop words of English that no other language in Latin letters has, and those that English has not."""
    english = set(stop_words(ENGLISH))
    others = {word for name in STOP_LISTS & SHARING_A_SCRIPT - {ENGLISH} for word in stop_words(name)}
    told = {word for word in english - others if len(word) >= _SHORTEST_EVIDENCE}
    return pl.Series(sorted(told)), pl.Series(sorted(others - english))
