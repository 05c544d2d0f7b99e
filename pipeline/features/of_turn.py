"""Features of the turn itself, of its place, and of what it shares with the request beside the channels."""

from __future__ import annotations

import polars as pl

from pipeline.features.feature import SESSION, Feature

ROLE_CODES = {"user": 0, "assistant": 1}
OTHER_ROLE = 2

_NEVER = "never"
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_ANY_MONTH = rf"(?i)\b(?:{'|'.join(_MONTHS)})\b"
_TIME_WORDS = (
    r"(?i)\b(?:yesterday|today|tonight|tomorrow|ago|last|next|this (?:week|month|year|morning|weekend)|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|(?:19|20)\d\d)\b"
)
_KINDS = {
    r"(?i)\bwhen\b|\bhow long\b|\bwhat (?:date|day|month|year|time)\b": 1,
    r"(?i)\bwhere\b|\bwhat (?:city|country|place|state)\b": 2,
    r"(?i)\bhow (?:many|much|often)\b": 3,
    r"(?i)\bwho\b|\bwhose\b|\bwhom\b": 4,
    r"(?i)\bwhy\b|\bhow\b": 5,
    r"(?i)\bwhich\b|\bwhat\b": 6,
    r"(?i)^(?:is|are|was|were|do|does|did|has|have|had|can|could|would|will|should)\b": 7,
}


def _kind() -> pl.Expr:
    """The code of the first pattern that the request's text holds; 0 for none."""
    code = pl.lit(0)
    for pattern, number in reversed(_KINDS.items()):
        code = pl.when(pl.col("request_text").str.contains(pattern)).then(pl.lit(number)).otherwise(code)
    return code


def _speaker_named() -> pl.Expr:
    """Whether the request's words hold the first word of the speaker's name."""
    first_name = pl.col("speaker").str.to_lowercase().str.extract(r"^([\p{L}\p{N}]+)")
    words = pl.col("request_text").str.to_lowercase().str.extract_all(r"[\p{L}\p{N}]+")
    return pl.when(first_name.is_not_null()).then(words.list.contains(first_name))


def _month_matches() -> pl.Expr:
    """Whether the session lies in a month that the request names."""
    month = pl.col("session_time").dt.month().replace_strict(dict(enumerate(_MONTHS, start=1)), return_dtype=pl.String)
    named = pl.col("request_text").str.to_lowercase().str.extract_all(_ANY_MONTH)
    return pl.when((named.list.len() > 0) & month.is_not_null()).then(named.list.contains(month))


OF_TURN: dict[str, Feature] = {
    feature.name: feature
    for feature in (
        Feature("pool_position", "pool", "place in the pool", "candidates, from 1", _NEVER, pl.col("pool_position")),
        Feature(
            "rrf_score", "pool", "sum of weight / (k + rank) over the channels", "none", _NEVER, pl.col("rrf_score")
        ),
        Feature(
            "role",
            "turn",
            "0 user, 1 assistant, 2 any other",
            "code",
            _NEVER,
            pl.col("role").replace_strict(ROLE_CODES, default=OTHER_ROLE),
        ),
        Feature(
            "turn_position", "turn", "turn_index: place in the session", "turns, from 0", _NEVER, pl.col("turn_index")
        ),
        Feature("n_tokens", "turn", "length of the text", "o200k tokens", _NEVER, pl.col("n_tokens")),
        Feature(
            "is_question",
            "turn",
            "1 where the text holds a question mark",
            "0 or 1",
            _NEVER,
            pl.col("text").str.contains(r"[?？]"),
        ),
        Feature(
            "has_number", "turn", "1 where the text holds a digit", "0 or 1", _NEVER, pl.col("text").str.contains(r"\d")
        ),
        Feature(
            "has_time_word",
            "turn",
            "1 where the text holds a word of time, such as `yesterday`, `last`, `Monday` or a year (English)",
            "0 or 1",
            _NEVER,
            pl.col("text").str.contains(_TIME_WORDS),
        ),
        Feature(
            "age_days",
            "time",
            "from the turn's session to asked_at; to the newest visible session where that is null",
            "days",
            "the session has no time",
            pl.col("age_days"),
        ),
        Feature(
            "month_named",
            "time",
            "1 where the session lies in a month that the request names (English)",
            "0 or 1",
            "the request names no month, or the session has no time",
            _month_matches(),
        ),
        Feature(
            "speaker_named",
            "request",
            "1 where the request holds the first word of the speaker's name",
            "0 or 1",
            "the source names no speaker",
            _speaker_named(),
        ),
        Feature(
            "request_kind",
            "request",
            "asks: 1 when, 2 where, 3 how many, 4 who, 5 why or how, 6 what, 7 yes or no, 0 none of these (English)",
            "code",
            _NEVER,
            _kind(),
        ),
        Feature(
            "request_words",
            "request",
            "words of the request",
            "words",
            _NEVER,
            pl.col("request_text").str.count_matches(r"[\p{L}\p{N}]+"),
        ),
        Feature(
            "session_candidates",
            "context",
            "turns of the session in the pool",
            "turns",
            _NEVER,
            pl.len().over(SESSION),
        ),
    )
}
"""Every feature that is no channel's, by name."""
