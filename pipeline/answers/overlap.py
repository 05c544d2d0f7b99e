"""How far the words of answers are those of the gold answers: token F1, exact match, and whether gold is contained.

As LoCoMo scores (arXiv 2402.17753; task_eval/evaluation.py): words in lower case, without punctuation and articles
("and" counts as one), stemmed for F1 by Porter's algorithm; F1 as of SQuAD (arXiv 1606.05250). Two things differ from
it: an answer and a gold answer that both have no word left are equal (F1 1), and stems are Snowball's `porter`, the
algorithm of 1980 without NLTK's additions.
"""

from __future__ import annotations

import polars as pl
import Stemmer

from pipeline.answers.conventions import ABSTAINS, INFERRED, MULTI_ANSWER

_PUNCTUATION = r"[!-/:-@\[-`{-~]"
"""As Python's string.punctuation."""
_ARTICLES = r"\b(a|an|the|and)\b"


def overlap(answers: pl.DataFrame) -> pl.DataFrame:
    """Adds f1 (0 to 1), exact, contains and abstains to rows of text, answer (gold), category and adversarial.

    Of several gold answers (category 1) each is met by the best part of the text, and F1 is their mean; `contains` asks
    for all of them. An adversarial row has `abstains` alone, a row without gold none: what it has not is null.
    """
    rows = answers.with_row_index("_row")
    several = (pl.col("category") == MULTI_ANSWER).fill_null(False)
    inferred = (pl.col("category") == INFERRED).fill_null(False)
    gold = pl.when(inferred).then(pl.col("answer").str.split(";").list.first()).otherwise("answer")
    scored = rows.filter(~pl.col("adversarial"), pl.col("answer").is_not_null()).select(
        "_row",
        text=pl.when(several).then(pl.col("text").str.split(",")).otherwise(pl.concat_list("text")),
        gold=pl.when(several).then(gold.str.split(",")).otherwise(pl.concat_list(gold)),
        whole=normalised(pl.col("text")),
        exact=normalised(pl.col("text")) == normalised(gold),
    )
    texts, golds = _parts(scored, "text"), _parts(scored, "gold", "whole")
    held = _padded("whole").str.contains(_padded("words"), literal=True) & (pl.col("words") != "")
    by_words = golds.group_by("_row").agg(contains=held.all()).join(scored.select("_row", "exact"), on="_row")
    found = _f1(texts, golds).join(by_words, on="_row", how="left")
    said = pl.any_horizontal(pl.col("text").str.to_lowercase().str.contains(words, literal=True) for words in ABSTAINS)
    return (
        rows.join(found, on="_row", how="left", maintain_order="left")
        .with_columns(abstains=pl.when("adversarial").then(said))
        .drop("_row")
    )


def normalised(text: pl.Expr) -> pl.Expr:
    """Words in lower case without punctuation and articles, one space between."""
    plain = text.str.to_lowercase().str.replace_all(_PUNCTUATION, "")
    return plain.str.replace_all(_ARTICLES, " ").str.replace_all(r"\s+", " ").str.strip_chars()


def _parts(scored: pl.DataFrame, name: str, *kept: str) -> pl.DataFrame:
    """A row a part of the texts in a column, its position under the column's name, and its words."""
    positions = pl.int_ranges(pl.col(name).list.len())
    parts = scored.select("_row", *kept, positions.alias(name), words=name).explode(name, "words")
    return parts.with_columns(normalised(pl.col("words")))


def _padded(name: str) -> pl.Expr:
    return pl.concat_str(pl.lit(" "), pl.col(name), pl.lit(" "))


def _f1(texts: pl.DataFrame, golds: pl.DataFrame) -> pl.DataFrame:
    """Columns _row and f1, of parts of texts (_row, text, words) and of gold answers (_row, gold, words)."""
    of_texts, of_golds = _stemmed(texts, "text"), _stemmed(golds, "gold")
    common = (
        of_texts.join(of_golds, on=["_row", "stem"], suffix="_gold")
        .group_by("_row", "text", "gold")
        .agg(common=pl.min_horizontal("times", "times_gold").sum())
    )
    pairs = (
        texts.select("_row", "text", words_text=_n_words())
        .join(golds.select("_row", "gold", words_gold=_n_words()), on="_row")
        .join(common, on=["_row", "text", "gold"], how="left")
    )
    words = pl.col("words_text") + pl.col("words_gold")
    # 2PR / (P + R) of precision and recall is twice the common words over all words.
    f1 = pl.when(words == 0).then(1.0).otherwise(2 * pl.col("common").fill_null(0) / words)
    best = pairs.select("_row", "gold", f1=f1).group_by("_row", "gold").agg(pl.col("f1").max())
    return best.sort("_row", "gold").group_by("_row", maintain_order=True).agg(pl.col("f1").mean())


def _n_words() -> pl.Expr:
    return pl.when(pl.col("words") == "").then(0).otherwise(pl.col("words").str.count_matches(" ", literal=True) + 1)


def _stemmed(parts: pl.DataFrame, part: str) -> pl.DataFrame:
    """How often each stem occurs (`times`) in each part; every distinct word is stemmed once."""
    words = parts.select("_row", part, word=pl.col("words").str.split(" ")).explode("word").filter(pl.col("word") != "")
    distinct = words["word"].unique()
    stems = pl.DataFrame(
        {"word": distinct, "stem": pl.Series(Stemmer.Stemmer("porter").stemWords(distinct.to_list()), dtype=pl.String)}
    )
    return words.join(stems, on="word").group_by("_row", part, "stem").agg(times=pl.len().cast(pl.Int64))
