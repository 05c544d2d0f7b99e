"""Shares and means by stratum, policy and budget, each with n and a bootstrap interval."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.answers.summary import AnswerRow
from pipeline.evaluate.bootstrap import Estimate, mean_estimate, share_estimates
from pipeline.evaluate.of_memory import NOTHING, OfMemory
from pipeline.evaluate.strata import STRATA


@dataclass(frozen=True)
class Row:
    """One stratum under one policy and budget. An estimate of nothing (n = 0) has null values.

    `slate_completeness` is the share of slates that show all the evidence word for word, `evidence_share` the mean
    share of a request's evidence turns that its slate shows so.
    """

    stratum: str
    policy: str
    budget: int
    n: int
    r_pool: Estimate
    r_rank: Estimate
    slate_completeness: Estimate
    evidence_share: Estimate
    mean_tokens: Estimate


@dataclass(frozen=True)
class Summary:
    """All rows, what was left out of them, and what to know of the labels: counts of requests.

    Of those that count, `with_unseen_evidence` have evidence that they cannot see, and so are complete under no policy;
    `with_unresolved_citations` cite turns that are not stored, and are judged by the rest. `memory`: what else is
    measured of slates of memory, over the requests that have it, labelled or not; `answers`: how good what a reader
    made of the slates is, over the requests that it was given, labelled or not.
    """

    rows: tuple[Row, ...]
    n_requests: int
    left_out_no_evidence: int
    left_out_trained_on: int
    with_unseen_evidence: int
    with_unresolved_citations: int
    draws: int
    seed: int
    memory: OfMemory = NOTHING
    answers: tuple[AnswerRow, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        return asdict(self)

    def metrics(self) -> dict[str, float]:
        """Point values by name: `stratum/policy/budget/metric`, with the characters that MLflow takes."""
        named = {}
        for row in self.rows:
            for metric in ("r_pool", "r_rank", "slate_completeness", "evidence_share", "mean_tokens"):
                value = getattr(row, metric).value
                if value is not None:
                    named[metric_name(row.stratum, row.policy, row.budget, metric)] = value
        named |= {metric_name(*place): value for place, value in self.memory.values()}
        for answered in self.answers:
            stratum = f"answers of {answered.reader} {answered.shape}{' sampled' if answered.sampled else ''}"
            for metric, value in answered.values():
                named[metric_name(stratum, answered.policy, answered.budget, metric)] = value
        return named


def metric_name(stratum: str, policy: str, budget: int, metric: str) -> str:
    """A name of a metric that MLflow takes: letters, digits, space, and `_ - . / :`."""
    plain = stratum.replace(">=", "ge ").replace("=", "eq ")
    kept = "".join(letter if (letter.isascii() and letter.isalnum()) or letter in "_-./ :" else "_" for letter in plain)
    return f"{' '.join(kept.split())}/{policy}/{budget}/{metric}"


def summary(outcomes: pl.DataFrame, seen_histories: Collection[str], draws: int = 10_000, seed: int = 0) -> Summary:
    """Summarises outcomes (see `completeness.outcomes`).

    Headline strata (all, kappa = 1, >= 2, >= 3) are over requests that are not adversarial; each category has a row of
    its own. Requests without evidence and those of `seen_histories` are left out of every row and counted.
    """
    requests = outcomes.unique(["history_id", "request_id"])
    trained_on = pl.col("history_id").is_in(list(seen_histories))
    no_evidence = pl.col("n_evidence") == 0
    counted = ~trained_on & ~no_evidence
    kept = outcomes.filter(counted).sort("policy", "budget", "history_id", "request_id")
    generator = np.random.default_rng(seed)
    rows = [
        _row(stratum, policy, budget, kept.filter(cell & condition), draws, seed, generator)
        # Cells and strata of all outcomes: one that loses every request shows as n = 0, and does not vanish.
        for policy, budget in outcomes.select("policy", "budget").unique().sort("policy", "budget").iter_rows()
        for cell in [(pl.col("policy") == policy) & (pl.col("budget") == budget)]
        for stratum, condition in _strata(outcomes)
    ]
    return Summary(
        rows=tuple(rows),
        n_requests=requests.height,
        left_out_no_evidence=requests.filter(no_evidence & ~trained_on).height,
        left_out_trained_on=requests.filter(trained_on).height,
        with_unseen_evidence=requests.filter(counted & (pl.col("n_unseen") > 0)).height,
        with_unresolved_citations=requests.filter(counted & (pl.col("n_unresolved") > 0)).height,
        draws=draws,
        seed=seed,
    )


def _strata(outcomes: pl.DataFrame) -> Iterator[tuple[str, pl.Expr]]:
    headline = ~pl.col("adversarial")
    for name, condition in STRATA.items():
        yield name, headline & condition
    for category in outcomes["category"].drop_nulls().unique().sort():
        yield f"category {category}", pl.col("category") == category


def _row(
    stratum: str,
    policy: str,
    budget: int,
    cell: pl.DataFrame,
    draws: int,
    seed: int,
    generator: np.random.Generator,
) -> Row:
    in_pool: npt.NDArray[np.bool_] = cell["pool_complete"].to_numpy()
    in_slate: npt.NDArray[np.bool_] = cell["slate_complete"].to_numpy()
    r_pool, r_rank, complete = share_estimates(in_pool, in_slate, draws, generator)
    tokens = mean_estimate(cell["n_tokens"].to_numpy(), draws, generator)
    # Of its own generator: what the others draw does not depend on it.
    share = mean_estimate(cell["slate_share"].to_numpy(), draws, np.random.default_rng(seed))
    return Row(stratum, policy, budget, cell.height, r_pool, r_rank, complete, share, tokens)
