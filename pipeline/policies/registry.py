"""Every policy by its name: an order of a request's candidates, and the fill that goes through them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from models.interfaces import Ranker
from pipeline.policies.adaptive_k import adaptive_k
from pipeline.policies.fill import Fill, greedy
from pipeline.policies.knapsack import knapsack_fill
from pipeline.policies.orders import (
    Order,
    PolicyError,
    channel_order,
    cross_encoder_order,
    lambdarank_order,
    llm_order,
    oracle_order,
    ranking_order,
    recall_order,
)

ORACLE = "oracle"
CROSS_ENCODER = "cross_encoder_order"
LLM_ORDER = "llm_order"
_CHANNEL = "_order"
"""What the policy of a channel ends with."""
_NEAR = 0.8
"""From which likeness on (difflib's ratio) a name is taken for a slip of a policy's."""


@dataclass(frozen=True)
class Policy:
    """What makes a slate: candidates are taken in an order, by a fill."""

    order: Order
    fill: Fill = greedy


def _knapsack(ranker: Ranker) -> Fill:
    if ranker.calibration is None:
        raise PolicyError(
            "policy knapsack cannot be used: it needs probabilities, and this ranker has no calibration of its scores. "
            "Train one anew (`slatemill train`), or take knapsack out of slates.policies"
        )
    return knapsack_fill(ranker.calibration)


PLAIN: Mapping[str, Policy] = {
    "recall_order": Policy(recall_order),
    CROSS_ENCODER: Policy(cross_encoder_order),
    LLM_ORDER: Policy(llm_order),
    ORACLE: Policy(oracle_order),
}
"""Policies that need nothing but features; the oracle, which needs their column `gold`; and that of a teacher, which
has candidates of its own (pipeline.policies.candidates)."""

LEARNED: Mapping[str, Callable[[Ranker], Fill]] = {
    "lambdarank": lambda _: greedy,
    "adaptive_k": lambda _: adaptive_k,
    "knapsack": _knapsack,
}
"""Policies in the order of a ranker: what fills them."""


def needs_ranker(name: str) -> bool:
    """Whether a policy goes by a ranker, and is left out where there is none."""
    return name in LEARNED


def channel_of(name: str) -> str | None:
    """The channel or view whose ranking a policy goes by; None where it goes by none."""
    return name.removesuffix(_CHANNEL) if name.endswith(_CHANNEL) and name not in PLAIN else None


def known_policies(channels: Sequence[str], with_cross_encoder: bool, with_teacher: bool = False) -> tuple[str, ...]:
    """The policies that a profile with these channels and views may name."""
    has = {CROSS_ENCODER: with_cross_encoder, LLM_ORDER: with_teacher}
    plain = [name for name in PLAIN if has.get(name, True)]
    return (*[f"{channel}{_CHANNEL}" for channel in channels], *plain, *LEARNED)


def why_unknown(name: str, known: Sequence[str]) -> str | None:
    """What to say of a name that is none of the policies `known` to a profile; None where it may be a ranking's.

    No ranking is called like a policy of ours, known here or not: in `_order` at the end, or but for a slip.
    """
    there = f"Known here: {', '.join(known)}"
    if name == CROSS_ENCODER:
        return f"policy {name} needs a cross-encoder, and the profile has none. {there}"
    if name == LLM_ORDER:
        return f"policy {name} needs a teacher, and the profile has none. {there}"
    near = difflib.get_close_matches(name, known, n=1, cutoff=_NEAR)
    hint = f"; did you mean {near[0]}? {there}" if near else f". {there}"
    if name.endswith(_CHANNEL):
        return f"policy {name} needs the channel {name.removesuffix(_CHANNEL)} in recall.channels{hint}"
    return f"unknown policy {name}{hint}" if near else None


def policies_of(
    names: Sequence[str], ranker: Ranker | None, features: Sequence[str], rankings: Collection[str] = ()
) -> dict[str, Policy]:
    """The policies of these names, in their order; those of the ranker share one order.

    `features` are the columns that orders can read, `rankings` the names of imported ones. Raises PolicyError for a
    policy that there is none of, and one that needs what is lacking.
    """
    learned = None if ranker is None else lambdarank_order(ranker)
    found: dict[str, Policy] = {}
    for name in names:
        if name in rankings:
            found[name] = Policy(ranking_order)
        elif name in LEARNED:
            if ranker is None or learned is None:
                raise PolicyError(f"policy {name} cannot be used: it needs a ranker (`slatemill train` makes one)")
            _require_features(ranker, features)
            found[name] = Policy(learned, LEARNED[name](ranker))
        elif name in PLAIN:
            found[name] = PLAIN[name]
        elif (channel := channel_of(name)) is not None:
            found[name] = Policy(channel_order(channel))
        else:
            known = (f"CHANNEL{_CHANNEL}", *PLAIN, *LEARNED)
            raise PolicyError(f"policy {name} cannot be used: there are {', '.join(known)}")
    return found


def _require_features(ranker: Ranker, features: Sequence[str]) -> None:
    lacking = [name for name in ranker.feature_names if name not in features]
    if lacking:
        raise PolicyError(
            f"the ranker was fitted on features that this profile does not have: {', '.join(lacking)}. Train one for "
            "it (`slatemill train`)"
        )
