"""The model card of a ranker: what it was made of, how well it does, what it is for and where it stops (Markdown).

After Mitchell et al. 2019 (arXiv 1810.03993). It names no date: equal data and code give equal cards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jobs.config import Profile
from jobs.train.crossval import RANKER, CrossValidation
from jobs.train.judge import RECALL
from models.ranker import LightGBMRanker

TOP = 10
"""Features that are named by their importance."""


@dataclass(frozen=True)
class Facts:
    """What a card tells beside the ranker itself. `shap` is the mean absolute contribution by feature."""

    profile: Profile
    size: str
    digest: str
    code: str
    counts: Mapping[str, int]
    holdout: float
    crossval: CrossValidation | None
    shap: Mapping[str, float]


def card(ranker: LightGBMRanker, facts: Facts) -> str:
    """The card of a fitted ranker."""
    parts = (_head(ranker, facts), _data(facts), _numbers(ranker, facts), _features(ranker, facts), _use(facts))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _head(ranker: LightGBMRanker, facts: Facts) -> Iterator[str]:
    told = ranker.params.model_dump(exclude={"rising", "falling", "objective", "gains"})
    params = ", ".join(f"{name} {value:g}" for name, value in told.items())
    yield f"# Ranker of profile {facts.profile.name}"
    yield ""
    yield "LightGBM LambdaRank over the features of a pool: it orders the candidates of a request, and the slate is"
    yield "filled in that order."
    yield ""
    yield f"- identity: `{ranker.identity}`"
    yield f"- code: {facts.code}"
    yield f"- parameters ({facts.size}): {params}"
    for direction, names in (("rise", ranker.params.rising), ("fall", ranker.params.falling)):
        if names:
            yield f"- a score may only {direction} with: {', '.join(names)}"


def _data(facts: Facts) -> Iterator[str]:
    counts = facts.counts
    yield "## Learned from"
    yield ""
    yield f"- data digest: `{facts.digest}`"
    yield f"- {counts['histories']:,} histories; {facts.holdout:.0%} of all were held out"
    yield f"- {counts['groups']:,} requests with {counts['rows']:,} candidates, {counts['labels']:,} of them evidence"
    yield f"- left out: {counts['requests_without_evidence_in_pool']:,} requests without evidence in their pool"


def _numbers(ranker: LightGBMRanker, facts: Facts) -> Iterator[str]:
    yield "## How well it does"
    yield ""
    crossval = facts.crossval
    if crossval is None:
        yield "Not known: it was not cross-validated."
    else:
        yield f"Out of fold: {len(crossval.folds)} folds by history, each scored by a ranker that has not seen it; 95%"
        yield "intervals over histories."
        yield ""
        ndcg = crossval.ndcg_10.text(interval=True)
        yield f"nDCG at 10 is {ndcg} (in the order of recall {crossval.recall_ndcg_10:.3f}),"
        yield f"AUC {crossval.auc:.3f}."
        yield ""
        yield from _complete(crossval)
    held = {name: value for name, value in ranker.metrics.items() if name.startswith("holdout")}
    if held:
        yield ""
        yield "On the histories held out: " + ", ".join(f"{name} {value:.3f}" for name, value in held.items()) + "."


def _complete(crossval: CrossValidation) -> Iterator[str]:
    rows = {(row.policy, row.budget, row.stratum): row for row in crossval.rows}
    cells = dict.fromkeys((row.budget, row.stratum) for row in crossval.rows)
    yield from _table(
        ("slates of", "requests", "n", "r_pool", "r_rank", "complete", "recall order", "difference"),
        [
            (
                f"{budget:,} tokens",
                stratum,
                f"{ours.n:,}",
                ours.r_pool.text(),
                ours.r_rank.text(),
                ours.slate_completeness.text(interval=True),
                rows[RECALL, budget, stratum].slate_completeness.text(),
                ours.difference.text(signed=True, interval=True),
            )
            for budget, stratum in cells
            for ours in [rows[RANKER, budget, stratum]]
        ],
    )


def _features(ranker: LightGBMRanker, facts: Facts) -> Iterator[str]:
    gain = ranker.importances()["gain"]
    total = sum(gain.values()) or 1.0
    top = sorted(facts.shap, key=lambda name: (-facts.shap[name], name))[:TOP]
    yield "## What it goes by"
    yield ""
    yield f"{len(ranker.feature_names)} features: {', '.join(ranker.feature_names)}."
    yield ""
    yield from _table(
        ("feature", "mean absolute contribution to a score (SHAP)", "share of the gain"),
        [(name, f"{facts.shap[name]:.3f}", f"{gain[name] / total:.1%}") for name in top],
    )


def _use(facts: Facts) -> Iterator[str]:
    yield "## Intended use"
    yield ""
    budgets = ", ".join(f"{budget:,}" for budget in facts.profile.slates.budgets)
    yield f"Slates of profile {facts.profile.name} (policy `lambdarank`) at budgets of {budgets} tokens, over histories"
    yield "like those it learned from."
    yield ""
    yield "## Limits"
    yield ""
    yield f"- It orders a pool of {facts.profile.recall.pool_size}; what recall did not find it cannot show."
    yield "- Its scores compare candidates of one request, and mean nothing across requests."
    yield "- Other languages, kinds of history and kinds of request than those above are not measured."
    yield "- It takes these features by name, as this profile makes them; a profile that recalls otherwise needs its"
    yield "  own ranker."
    yield "- Labels are taken as they came: evidence that nobody marked counts against a candidate."


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
