"""Every policy of memory by its name: from a call to what it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from models.interfaces import Ranker
from pipeline.memory.call import Call
from pipeline.memory.designs.ablations import no_excerpts, no_links, no_timeline
from pipeline.memory.designs.afm import afm
from pipeline.memory.designs.controls import (
    fixed_excerpts,
    random_candidates,
    raw_first,
    selection_after,
    shuffled_order,
)
from pipeline.memory.designs.fact_graph import fact_graph
from pipeline.memory.designs.masking import masking_with_log, observation_masking
from pipeline.memory.designs.memgas import memgas
from pipeline.memory.designs.note_retrieval import note_retrieval, note_retrieval_degraded
from pipeline.memory.designs.piece_retrieval import piece_retrieval, ranked_retrieval
from pipeline.memory.designs.timeline_only import timeline_only
from pipeline.memory.designs.truncation import truncation
from pipeline.memory.designs.unit_retrieval import unit_retrieval
from pipeline.memory.draft import Draft
from pipeline.memory.llm_designs.names import LLM_OF_MEMORY, SUMMARY_SHARES
from pipeline.memory.piece_orders import ranked_pieces
from pipeline.memory.recovery import piece_recovery, unit_recovery
from pipeline.memory.relevance import of_choice, of_ranker
from pipeline.memory.signals import signals
from pipeline.policies.orders import PolicyError

MemoryPolicy = Callable[[Call], Draft]

AUTO = "auto"
"""The policy that chooses its mode, for which a ranker must have learned to choose."""


def by_units(call: Call) -> Draft:
    """Unit recovery."""
    return unit_recovery(call, of_choice(call))


def by_pieces(call: Call) -> Draft:
    """Piece recovery, by BM25."""
    return piece_recovery(call, call.piece_order, call.bm25(call.query))


def by_mode(call: Call) -> Draft:
    """Units for an agent, pieces for a reader (FlexA-Mem, arXiv 2610.33274, section 3.5)."""
    return by_units(call) if call.is_agent else by_pieces(call)


def by_ranked_units(call: Call) -> Draft:
    """Unit recovery, the relevance of units by the learned ranker."""
    return unit_recovery(call, of_ranker(call))


def by_ranked_pieces(call: Call) -> Draft:
    """Piece recovery in the order of the learned ranker."""
    return piece_recovery(call, *ranked_pieces(call))


def by_learned_mode(call: Call) -> Draft:
    """Units or pieces by the learned ranker, whichever is expected to show more of the evidence: the paper's next step.

    Of a request of a mode that the choice was not learned from, as by_mode.
    """
    choice = call.mode_choice
    if choice is None or call.asked.mode not in choice.modes:
        return by_ranked_units(call) if call.is_agent else by_ranked_pieces(call)
    return by_ranked_units(call) if choice.gain(signals(call)) > 0 else by_ranked_pieces(call)


POLICIES: Mapping[str, MemoryPolicy] = {
    "flexamem": by_mode,
    "unit_recovery": by_units,
    "piece_recovery": by_pieces,
}
"""Policies that need no ranker."""

COMPARED: Mapping[str, MemoryPolicy] = {
    "truncation": truncation,
    "observation_masking": observation_masking,
    "masking_with_log": masking_with_log,
    "unit_retrieval": unit_retrieval,
    "piece_retrieval": piece_retrieval,
    "timeline_only": timeline_only,
    "afm": afm,
    "note_retrieval": note_retrieval,
    "note_retrieval_degraded": note_retrieval_degraded,
    "memgas": memgas,
    "fact_graph": fact_graph,
    "no_timeline": no_timeline,
    "no_links": no_links,
    "no_excerpts": no_excerpts,
    "selection_after": selection_after,
    "fixed_excerpts": fixed_excerpts,
    "raw_first": raw_first,
    "random_candidates": random_candidates,
    "shuffled_order": shuffled_order,
}
"""Designs that these are compared with, and unit recovery with a part left out or done otherwise; no ranker either."""

RANKED: Mapping[str, MemoryPolicy] = {
    "ranked_units": by_ranked_units,
    "ranked_pieces": by_ranked_pieces,
    "ranked_retrieval": ranked_retrieval,
    AUTO: by_learned_mode,
}
"""Policies that go by a ranker."""

MEMORY_POLICIES: Mapping[str, MemoryPolicy] = {**POLICIES, **COMPARED, **RANKED}

NAMES_OF_MEMORY = frozenset((*MEMORY_POLICIES, *LLM_OF_MEMORY))
"""All policies that show units, records and pieces, those that ask a language model too."""

OF_SPANS = frozenset(("unit_retrieval", "afm", "note_retrieval", "note_retrieval_degraded", "memgas", *SUMMARY_SHARES))
"""Policies that read the vectors of spans of units."""


def require_mode_choice(ranker: Ranker | None) -> None:
    """Raises PolicyError for a ranker that has not learned to choose a mode."""
    if ranker is None or ranker.mode_choice is None:
        raise PolicyError(
            f"policy {AUTO} cannot be used: it needs a choice of modes, and this ranker has none. Train one anew "
            f"(`slatemill train`) with {AUTO} among slates.policies, or take {AUTO} out"
        )
