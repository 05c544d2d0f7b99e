"""How far repeated answers, or repeated judgements of one answer, agree."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Agreement:
    """Over `n` items with two labels or more; a value is None where it is not defined.

    `unanimous` is the share of items whose labels are all equal; `pairwise` the mean, over items, of the share of pairs
    of labels that are equal; `kappa` that of Fleiss; `accuracy_sd` the standard deviation (n - 1) of the mean label of
    a rater, over raters.
    """

    n: int
    unanimous: float | None
    pairwise: float | None
    kappa: float | None
    accuracy_sd: float | None


def agreement(labels: pl.DataFrame) -> Agreement:
    """Agreement of labels: columns item, rater and label (null: none given, which counts as no label).

    Fleiss' kappa (Psychological Bulletin 76, 1971) is (P - Pe) / (1 - Pe), P the mean pairwise agreement, Pe the sum
    of squared shares of the labels. Items may have different numbers of labels: each item counts alike in P, each label
    alike in Pe. Undefined where all labels are equal.
    """
    given = labels.drop_nulls("label").select("item", "rater", pl.col("label").cast(pl.Float64))
    items = given.group_by("item").agg(n=pl.len().cast(pl.Float64), right=pl.col("label").sum())
    items = items.filter(pl.col("n") > 1).sort("item")
    accuracies = given.group_by("rater").agg(pl.col("label").mean())["label"].sort()
    sd = accuracies.std() if accuracies.len() > 1 else None
    if not items.height:
        return Agreement(0, None, None, None, _float(sd))
    n, right = items["n"], items["right"]
    equal = (right * (right - 1) + (n - right) * (n - right - 1)) / (n * (n - 1))
    pairwise = _float(equal.mean())
    share = float(right.sum()) / float(n.sum())
    by_chance = share**2 + (1 - share) ** 2
    assert pairwise is not None
    return Agreement(
        n=items.height,
        unanimous=_float(((right == 0) | (right == n)).mean()),
        pairwise=pairwise,
        kappa=None if share in (0, 1) else (pairwise - by_chance) / (1 - by_chance),
        accuracy_sd=_float(sd),
    )


def cohen_kappa(ours: pl.Series, theirs: pl.Series) -> float | None:
    """Cohen's kappa of two raters over the items that both labelled, boolean series of equal length.

    (P - Pe) / (1 - Pe), P the share of equal labels, Pe what raters of their habits would agree on by chance
    (Educational and Psychological Measurement 20, 1960). None where that is everything, or nothing was labelled.
    """
    both = pl.DataFrame({"ours": ours, "theirs": theirs}).drop_nulls().cast(pl.Float64)
    if not both.height:
        return None
    equal = float((both["ours"] == both["theirs"]).sum()) / both.height
    first, second = (float(both[name].sum()) / both.height for name in ("ours", "theirs"))
    by_chance = first * second + (1 - first) * (1 - second)
    return None if by_chance == 1 else (equal - by_chance) / (1 - by_chance)


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None
