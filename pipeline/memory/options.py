"""What a profile may choose about units, records and how they are shown (FlexA-Mem, arXiv 2610.33274)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from pipeline.units.cut import CutOptions

WRITERS = ("rule", "llm")
"""Who can write records: a rule, or the language model of the profile."""


class MemoryOptions(BaseModel):
    """How histories are cut, who writes records, and the settings of the paper's section 3.

    `writers` in order of preference: the first writes what arrives, `rule` or `llm` (the profile's `writer`); of what
    arrived before, the records of the first that has written any are read. Further ones may also be ids, as the lake
    has them in its paths.
    `rho_reader` and `rho_agent` are the timeline's share of the allowance (rho), `decay` what a unit counts that is
    reached from another (lambda), `seeds` the units that are looked for (k), `excerpt_tokens` the pieces of an excerpt
    together (E). `relevance` says what a unit is worth to a request: the best of its turns by late interaction, as the
    pool has it, or the cosine of its record. `time_tags` shows behind a turn that says `last week` which date its
    record gives to that, unless it is later than the request. `prompt_tokens` is what the caller's prompt takes of the
    budget; where it is null, the request's text counts, as far as it takes no more than a quarter.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    cut: CutOptions = CutOptions()
    piece_tokens: int = Field(default=96, ge=1)
    writers: tuple[str, ...] = Field(default=("rule",), min_length=1)
    rho_reader: float = Field(default=0.1, ge=0, le=1)
    rho_agent: float = Field(default=0.3, ge=0, le=1)
    decay: float = Field(default=0.5, ge=0, lt=1)
    seeds: int = Field(default=12, ge=1)
    excerpt_tokens: int = Field(default=150, ge=1)
    relevance: Literal["turns", "record"] = "turns"
    time_tags: bool = False
    prompt_tokens: int | None = Field(default=None, ge=0)

    @field_validator("writers")
    @classmethod
    def _first_can_write(cls, writers: tuple[str, ...]) -> tuple[str, ...]:
        if writers[0] not in WRITERS:
            raise ValueError(f"the first of memory.writers is to write: {' or '.join(WRITERS)}, not {writers[0]!r}")
        if len(set(writers)) < len(writers):
            raise ValueError("memory.writers must be distinct")
        return writers

    @property
    def pieces_id(self) -> str:
        """What names the pieces in paths."""
        return f"{self.cut.choice_id}-p{self.piece_tokens}"
