"""How good answers are, by who read which slates how: overlap with the gold answers, and what judges say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from pipeline.answers.agreement import Agreement, agreement, cohen_kappa
from pipeline.answers.overlap import overlap
from pipeline.evaluate.bootstrap import Estimate, mean_estimate
from pipeline.schemas import ANSWER_KEY, REQUEST_KEY

GROUP = ("reader", "shape", "sampled", "budget", "policy")
"""What rows of a summary are by. `sampled` tells drawn answers from the likeliest."""

_OF_ANSWER = (*ANSWER_KEY, "sampled", "category", "adversarial", "contains")


@dataclass(frozen=True)
class Judged:
    """What one judge says of the answers of a group.

    `accuracy` is over the `n` requests that it gave a label and that are not adversarial, of each the mean label;
    `by_type` averages it over their categories. Of the `n_abstention` adversarial ones `abstention` is the share that
    is recognised as such. `with_abstention` is over all of them together, as LongMemEval's own accuracy is. `unparsed`
    and `failed` count judgements without a label. `kappa_with_words` is Cohen's kappa of its labels and of whether the
    gold answer is contained word for word.
    """

    judge: str
    n: int
    accuracy: Estimate
    by_type: float | None
    n_abstention: int
    abstention: float | None
    with_abstention: float | None
    unparsed: int
    failed: int
    kappa_with_words: float | None
    over_repeats: Agreement
    over_judgings: Agreement


@dataclass(frozen=True)
class AnswerRow:
    """The answers of a group. Overlap is over the `n` requests with a gold answer that are not adversarial, of each the
    mean over its repeats; an answer that failed counts as wrong.

    `abstains` is the share of the `n_adversarial` that say so in LoCoMo's words. `failed` and `cut` count answers,
    `prompt_tokens` and `completion_tokens` are means over all of them.
    """

    reader: str
    shape: str
    sampled: bool
    budget: int
    policy: str
    n: int
    repeats: int
    f1: Estimate
    exact: float | None
    contains: float | None
    n_adversarial: int
    abstains: float | None
    failed: int
    cut: int
    prompt_tokens: float
    completion_tokens: float
    judged: tuple[Judged, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        return asdict(self)

    def values(self) -> Iterator[tuple[str, float]]:
        """Every point value by its name."""
        named = {
            "f1": self.f1.value,
            "exact": self.exact,
            "contains": self.contains,
            "abstains": self.abstains,
            "failed": self.failed,
            "prompt_tokens": self.prompt_tokens,
        }
        for judged in self.judged:
            named[f"accuracy by {judged.judge}"] = judged.accuracy.value
            named[f"accuracy by type by {judged.judge}"] = judged.by_type
            named[f"abstention by {judged.judge}"] = judged.abstention
        return ((name, value) for name, value in named.items() if value is not None)


def answer_rows(
    answers: pl.DataFrame, requests: pl.DataFrame, judgements: pl.DataFrame, draws: int = 10_000, seed: int = 0
) -> tuple[AnswerRow, ...]:
    """Summarises ANSWERS, JUDGEMENTS of them, and their REQUESTS, by GROUP in its order."""
    told = requests.select(*REQUEST_KEY, "category", "answer", "adversarial")
    scored = overlap(answers.join(told, on=list(REQUEST_KEY), validate="m:1"))
    scored = scored.with_columns(sampled=pl.col("repeat") > 0)
    labelled = judgements.join(scored.select(*_OF_ANSWER), on=list(ANSWER_KEY))
    rows = []
    for key, group in scored.sort(*GROUP).group_by(GROUP, maintain_order=True):
        place = dict(zip(GROUP, key, strict=True))
        of_group = labelled.filter(**place)
        judged = [
            _judged(str(judge), by_one, draws, seed)
            for (judge,), by_one in of_group.sort("judge").group_by(["judge"], maintain_order=True)
        ]
        rows.append(_row(place, group, tuple(judged), draws, seed))
    return tuple(rows)


def _row(place: dict[str, Any], group: pl.DataFrame, judged: tuple[Judged, ...], draws: int, seed: int) -> AnswerRow:
    by_request = _by_request(group, "f1", "exact", "contains", "abstains")
    scored = by_request.drop_nulls("f1")
    adversarial = by_request.drop_nulls("abstains")
    return AnswerRow(
        **place,
        n=scored.height,
        repeats=group["repeat"].n_unique(),
        f1=_estimate(scored["f1"], draws, seed),
        exact=_mean(scored["exact"]),
        contains=_mean(scored["contains"]),
        n_adversarial=adversarial.height,
        abstains=_mean(adversarial["abstains"]),
        failed=group.filter(status="failed").height,
        cut=group.filter(finish="length").height,
        prompt_tokens=_mean(group["prompt_tokens"]) or 0.0,
        completion_tokens=_mean(group["completion_tokens"]) or 0.0,
        judged=judged,
    )


def _judged(judge: str, group: pl.DataFrame, draws: int, seed: int) -> Judged:
    by_request = _by_request(group, "label").drop_nulls("label")
    plain, adversarial = by_request.filter(~pl.col("adversarial")), by_request.filter("adversarial")
    by_type = plain.group_by("category").agg(pl.col("label").mean()).sort("category")
    first = group["judging"].min()
    item = pl.concat_str(REQUEST_KEY, separator="\x00")
    over_repeats = group.filter(judging=first).select(item.alias("item"), "label", rater="repeat")
    of_answer = pl.concat_str(*REQUEST_KEY, "repeat", separator="\x00")
    over_judgings = group.select(of_answer.alias("item"), "label", rater="judging")
    return Judged(
        judge=judge,
        n=plain.height,
        accuracy=_estimate(plain["label"], draws, seed),
        by_type=_mean(by_type["label"]),
        n_abstention=adversarial.height,
        abstention=_mean(adversarial["label"]),
        with_abstention=_mean(by_request["label"]),
        unparsed=group.filter(status="unparsed").height,
        failed=group.filter(status="failed").height,
        kappa_with_words=cohen_kappa(group["label"], group["contains"]),
        over_repeats=agreement(over_repeats),
        over_judgings=agreement(over_judgings),
    )


def _by_request(rows: pl.DataFrame, *names: str) -> pl.DataFrame:
    """The mean of columns over the rows of each request; null where none has a value."""
    means = [pl.col(name).cast(pl.Float64).mean() for name in names]
    return rows.group_by(*REQUEST_KEY, "category", "adversarial").agg(means).sort(*REQUEST_KEY)


def _estimate(values: pl.Series, draws: int, seed: int) -> Estimate:
    return mean_estimate(values.to_numpy(), draws, np.random.default_rng(seed))


def _mean(values: pl.Series) -> float | None:
    mean = values.mean()
    return float(mean) if isinstance(mean, (int, float)) else None
