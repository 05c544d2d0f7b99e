"""The model card of a distilled ranker (Markdown): it names no date, so that equal data and code give equal cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jobs.config import Profile
from jobs.distill.judging import Validated
from jobs.distill.ways import TOLD
from models.ranker import LightGBMRanker


@dataclass(frozen=True)
class Facts:
    """What a card tells beside the ranker itself. `origin` says whose scores it learned from."""

    profile: Profile
    way: str
    origin: str
    digest: str
    code: str
    counts: Mapping[str, int]
    validated: Validated


def card(ranker: LightGBMRanker, facts: Facts) -> str:
    """The card of a distilled ranker."""
    parts = (_head(ranker, facts), _numbers(facts), _limits(ranker, facts))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _head(ranker: LightGBMRanker, facts: Facts) -> Iterator[str]:
    counts = facts.counts
    yield f"# Distilled ranker of profile {facts.profile.name}"
    yield ""
    yield "LightGBM over the features of a pool, learned from what a teacher rated:"
    yield f"{TOLD[facts.way]}. No label was read to learn."
    yield ""
    yield f"- identity: `{ranker.identity}`"
    yield f"- code: {facts.code}"
    yield f"- teacher: {facts.origin}"
    yield f"- {ranker.params.trees} trees of {ranker.params.num_leaves} leaves"
    yield ""
    yield "## Learned from"
    yield ""
    yield f"- data digest: `{facts.digest}`"
    yield f"- {counts['groups']:,} requests of {counts['histories']:,} histories, {counts['rows']:,} rated candidates"
    yield f"- left out: {counts['scores_failed']:,} that the teacher could not rate, and {counts['scores_unknown']:,}"
    yield "  scores of what is in no pool"


def _numbers(facts: Facts) -> Iterator[str]:
    yield "## How well it does"
    yield ""
    if not facts.validated.agreements:
        yield "Not known: it was not cross-validated."
        return
    yield "Out of fold, by rankers that have not seen a history; 95% intervals over histories."
    yield ""
    yield "| order | Kendall's tau with the teacher | nDCG at 64 by its grades |"
    yield "|---|---|---|"
    for each in facts.validated.agreements:
        yield f"| {each.name} | {each.kendall_tau.text(interval=True)} | {each.ndcg_64.text(interval=True)} |"
    if not facts.validated.rows:
        return
    yield ""
    yield f"| slates of | requests | order | n | complete | less {facts.validated.against} |"
    yield "|---|---|---|---|---|---|"
    for row in facts.validated.rows:
        cells = (f"{row.budget:,} tokens", row.stratum, row.policy, f"{row.n:,}")
        complete = row.slate_completeness.text(interval=True)
        yield f"| {' | '.join(cells)} | {complete} | {row.difference.text(signed=True, interval=True)} |"


def _limits(ranker: LightGBMRanker, facts: Facts) -> Iterator[str]:
    yield "## Limits"
    yield ""
    yield "- It is as good as its teacher where that was right, and repeats its mistakes."
    yield "- It has no calibration: policy `knapsack` needs a ranker that learned from labels."
    yield f"- It takes {len(ranker.feature_names)} features by name, as profile {facts.profile.name} makes them."
