"""What language models and GPUs cost, apart for writing the store, for reading it and for answering from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from cluster.report import StageReport
from jobs.config import Profile
from models.llm.options import LlmOptions

Kind = Literal["write", "read", "answer"]

_STAGES: dict[str, tuple[Kind, str]] = {
    "records": ("write", "writer"),
    "merged_records": ("write", "writer"),
    "llm_notes": ("write", "writer"),
    "teacher_scores": ("read", "teacher"),
    "llm_slates": ("read", "reading_model"),
    "answers": ("answer", "reader"),
    "judgements": ("answer", "judge"),
}
"""What a stage asks a model for, and what of the profile names the model."""

COUNTED = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "model_seconds", "gpu_seconds")
"""What is counted of a stage that asks a model: columns of cluster.snapshot.FILES."""

_MILLION = 1_000_000
_HOUR = 3600


def kind_of(stage: str) -> Kind | None:
    """What a stage asks a language model for; None for one that asks none."""
    asks = _asks(stage)
    return None if asks is None else asks[0]


def _asks(stage: str) -> tuple[Kind, str] | None:
    """As _STAGES, also of a stage that is one of several: `answers-oracle-900`."""
    return _STAGES.get(stage.partition("-")[0])


def money(profile: Profile, stage: str, spent: Mapping[str, float]) -> float | None:
    """What a stage's tokens and GPU seconds cost by the prices of its model; None where the profile gives none.

    A price that is left out counts as zero where another is given.
    """
    asks = _asks(stage)
    model: LlmOptions | None = None if asks is None else getattr(profile, asks[1])
    if model is None:
        return None
    prices = (
        (model.price_per_million_prompt_tokens, spent["prompt_tokens"] / _MILLION),
        (model.price_per_million_completion_tokens, spent["completion_tokens"] / _MILLION),
        (model.price_per_gpu_hour, spent["gpu_seconds"] / _HOUR),
    )
    given = [price * amount for price, amount in prices if price is not None]
    return sum(given) if given else None


def costs(profile: Profile, stages: Iterable[StageReport]) -> dict[str, dict[str, Any]]:
    """What a run's stages asked of language models, by kind: COUNTED, and `money` (None: no price is given)."""
    return by_kind(profile, {stage.name: {name: getattr(stage, name) for name in COUNTED} for stage in stages})


def by_kind(profile: Profile, spent: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, Any]]:
    """The same of what each stage spent, by its name: those that asked a model."""
    found: dict[str, dict[str, Any]] = {}
    for stage, cost in spent.items():
        kind = kind_of(stage)
        if kind is not None and cost["calls"]:
            _add(found.setdefault(kind, {}), {**cost, "money": money(profile, stage, cost)})
    return found


def _add(to: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Adds up costs by name. None and a number are the number."""
    for name, value in more.items():
        before = to.get(name)
        to[name] = value if before is None else before if value is None else before + value


def cost_line(spent: Mapping[str, Any]) -> str:
    """A line for people about one kind."""
    cached = spent["cached_tokens"] / spent["prompt_tokens"] if spent["prompt_tokens"] else 0.0
    parts = [
        f"{spent['calls']:,.0f} calls",
        f"{spent['prompt_tokens']:,.0f} tokens read ({cached:.0%} of them cached)",
        f"{spent['completion_tokens']:,.0f} written",
        f"{spent['model_seconds']:,.0f} s of the model",
    ]
    if spent["gpu_seconds"]:
        parts.append(f"{spent['gpu_seconds']:,.0f} GPU s")
    if spent["money"] is not None:
        parts.append(f"{spent['money']:,.4f} by the profile's prices")
    return ", ".join(parts)


def metrics(cost: Mapping[str, Any]) -> dict[str, float]:
    """What a run's snapshot says of its cost, as metrics for MLflow."""
    found = {f"cost.{name}": float(value) for name, value in cost.items() if isinstance(value, int | float)}
    for kind, spent in cost.items():
        if isinstance(spent, Mapping):
            found |= {f"cost.{kind}.{name}": float(value) for name, value in spent.items() if value is not None}
    return found
