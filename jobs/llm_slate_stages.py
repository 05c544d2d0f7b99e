"""The part of the path that asks language models for slates: compared designs, what they write and what they show.

What they ask is counted apart, for writing and for reading (jobs.costs). A design that writes reads a history once for
all requests of a batch that see the same of it; the next batch begins anew, for a shard is made of its inputs alone.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from cluster.stage import Choice, Input, Span, Stage
from jobs import shards
from jobs.config import Profile
from jobs.llm_stages import served
from jobs.note_stages import note_inputs
from jobs.staging import stage
from pipeline import schemas
from pipeline.memory.llm_designs.names import LLM_OF_MEMORY, LLM_READ, LLM_WRITTEN
from pipeline.memory.llm_designs.read import read_scheme
from pipeline.memory.llm_designs.write import write_scheme
from pipeline.policies.slates import SlateOptions

_WRITTEN_OF = ("units", "pieces", "records", "merged_records", "unit_vectors")
"""What a design that writes reads of notes; the rest belongs to a request."""


def llm_slate_stages(profile: Profile, tokenizer: str) -> list[Stage]:
    """`llm_notes` where a design of the profile writes, and `llm_slates` where it has any; else none."""
    if not profile.llm_policies:
        return []
    span: Span = "all" if profile.as_of == "latest" else "prefix"
    inputs = {
        "requests": Input("requests", None, schemas.REQUESTS),
        "turns": Input("turns", None, schemas.TURNS, span, of_primary=True),
    }
    of_memory = any(policy in LLM_OF_MEMORY for policy in profile.llm_policies)
    noted = note_inputs(profile, span) if of_memory else {}
    path = []
    if any(policy in LLM_WRITTEN for policy in profile.llm_policies):
        path.append(_notes(profile, tokenizer, inputs | {name: noted[name] for name in _WRITTEN_OF if name in noted}))
        inputs["llm_notes"] = Input("llm_notes", _by_profile(profile), schemas.LLM_NOTES)
    inputs["pools"] = Input("pools", _by_profile(profile), schemas.pools(profile.recall.scored))
    return [*path, _slates(profile, tokenizer, inputs | noted)]


def _notes(profile: Profile, tokenizer: str, inputs: dict[str, Input]) -> Stage:
    assert profile.writer is not None
    assert profile.memory is not None
    identity, spec = served(profile.writer, write_scheme())
    options = _options(profile, LLM_WRITTEN)
    return stage(
        "llm_notes",
        _by_profile(profile),
        schemas.LLM_NOTES,
        inputs,
        "requests",
        partial(shards.of_llm_notes, options=options, memory=profile.memory, tokenizer=tokenizer),
        config=_config(profile, options, tokenizer),
        identities=(identity.text,),
        model=spec,
        costly=True,
    )


def _slates(profile: Profile, tokenizer: str, inputs: dict[str, Input]) -> Stage:
    """Costs nothing, and needs no model, where no design asks when it reads."""
    options = _options(profile, profile.llm_policies)
    asking: dict[str, Any] = {}
    if any(policy in LLM_READ for policy in profile.llm_policies):
        assert profile.reading_model is not None
        identity, spec = served(profile.reading_model, read_scheme())
        asking = {"identities": (identity.text,), "model": spec, "costly": True}
    return stage(
        "llm_slates",
        _by_profile(profile),
        schemas.SLATES,
        inputs,
        "requests",
        partial(shards.of_llm_slates, options=options, memory=profile.memory, tokenizer=tokenizer),
        config=_config(profile, options, tokenizer),
        **asking,
    )


def _options(profile: Profile, policies: tuple[str, ...]) -> SlateOptions:
    own = tuple(policy for policy in profile.llm_policies if policy in policies)
    return SlateOptions(own, profile.slates.budgets, profile.slates.style)


def _config(profile: Profile, options: SlateOptions, tokenizer: str) -> dict[str, Any]:
    return {
        "policies": list(options.policies),
        "budgets": list(options.budgets),
        "style": options.style,
        "tokenizer": tokenizer,
        "memory": None if profile.memory is None else profile.memory.model_dump(mode="json"),
        "as_of": profile.as_of,
    }


def _by_profile(profile: Profile) -> Choice:
    return ("profile", profile.name)
