"""Profiles: what a run may choose, with one place for each default. An unknown key is an error."""

from __future__ import annotations

import difflib
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from jobs.names import PROFILE_FILES, profile_names
from models.llm.options import LlmOptions
from models.ranker_params import POSITION, RankerOptions
from models.windowed import WindowedConfig
from models.windows import Dtype
from pipeline.features.registry import AGENTMEMREC, CROSS_ENCODER, default_features, feature
from pipeline.memory.llm_designs.names import LLM_OF_MEMORY, LLM_POLICIES, LLM_WRITTEN
from pipeline.memory.options import MemoryOptions
from pipeline.memory.registry import MEMORY_POLICIES, NAMES_OF_MEMORY, OF_SPANS, RANKED
from pipeline.policies.registry import known_policies, needs_ranker, why_unknown
from pipeline.recall.late.options import Code
from pipeline.recall.options import PoolOptions


class ConfigError(ValueError):
    """A profile that cannot be used; the message says which key and what would do."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelOptions(_Strict):
    """A model that reads text in windows: its name (see models.resolve), pieces of a window, what it computes in."""

    model: str = "all-MiniLM-L6-v2"
    max_tokens: int = Field(default=256, ge=32, le=8192)
    dtype: Dtype = "float32"

    @property
    def windowed(self) -> WindowedConfig:
        """As models take it."""
        return WindowedConfig(self.model, self.max_tokens, dtype=self.dtype)


class EmbedderOptions(ModelOptions):
    """The dense model."""


class LateInteractionOptions(ModelOptions):
    """The encoder of late interaction, and where codes of turns come from.

    `stored`: written once for every turn; `on_the_fly`: made of the turns that pass `recall.prefilter`, in every run.
    `tuned`: the folder or registered name of the fine-tuned encoder that channels `tuned_...` read; by default the
    champion that `slatemill finetune` made for the profile.
    """

    source: Literal["stored", "on_the_fly"] = "stored"
    code: Code = "int8"
    tuned: str | None = None


class CrossEncoderOptions(ModelOptions):
    """The cross-encoder, whose windows hold a request and a turn together, and how many of each pool it scores.

    `top` is the number of candidates from the head of the pool; null scores all.
    """

    model: str = "BAAI/bge-reranker-v2-m3"
    max_tokens: int = Field(default=512, ge=32, le=8192)
    top: int | None = Field(default=None, ge=1)


class SlateChoices(_Strict):
    """Policies, token budgets (o200k tokens of rendered text) and the style of rendering."""

    policies: tuple[str, ...] = Field(default=("recall_order", "lambdarank"), min_length=1)
    budgets: tuple[int, ...] = Field(default=(2700,), min_length=1)
    style: Literal["dated", "lean", "longmemeval"] = "dated"

    @field_validator("budgets")
    @classmethod
    def _positive_and_distinct(cls, budgets: tuple[int, ...]) -> tuple[int, ...]:
        if min(budgets) < 1 or len(set(budgets)) < len(budgets):
            raise ValueError("budgets must be positive and distinct")
        return tuple(sorted(budgets))

    @field_validator("policies")
    @classmethod
    def _distinct(cls, policies: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(policies)) < len(policies):
            raise ValueError("policies must be distinct")
        return policies


class Profile(_Strict):
    """One recipe. Its name is part of the paths of what it makes; everything else is part of the stamps.

    `writer`, `teacher`, `reader` and `judge` are language models: who writes records, scores candidates, answers from
    slates, and judges answers.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9._-]+$")
    embedder: EmbedderOptions | None = EmbedderOptions()
    late_interaction: LateInteractionOptions = LateInteractionOptions()
    recall: PoolOptions = PoolOptions()
    cross_encoder: CrossEncoderOptions | None = None
    features: tuple[str, ...] = Field(default=AGENTMEMREC, min_length=1)
    slates: SlateChoices = SlateChoices()
    memory: MemoryOptions | None = None
    writer: LlmOptions | None = None
    teacher: LlmOptions | None = None
    reader: LlmOptions | None = None
    judge: LlmOptions | None = None
    ranker: RankerOptions = RankerOptions()
    as_of: Literal["arrival", "latest"] = "arrival"

    @model_validator(mode="before")
    @classmethod
    def _features_of_channels(cls, values: Any) -> Any:
        """Where no features are named: AgentMemRec's ten, as far as the profile has their channels."""
        if not isinstance(values, dict) or "features" in values:
            return values
        try:
            scored = PoolOptions.model_validate(values.get("recall", {})).scored
        except ValidationError:
            return values  # it is reported with the rest
        return {**values, "features": default_features(scored)}

    @model_validator(mode="after")
    def _channels_have_models(self) -> Profile:
        if self.recall.needs_vectors and self.embedder is None:
            raise ValueError("recall.channels names dense, but embedder is null: name a model or drop the channel")
        if self.recall.record_cited and self.memory is None:
            raise ValueError("recall.record_cited reads records, and the profile writes none: give it memory: {}")
        if self.memory is not None and "llm" in self.memory.writers and self.writer is None:
            raise ValueError("memory.writers names llm, and the profile has no writer: name its model")
        if len(set(self.features)) < len(self.features):
            raise ValueError("features must be distinct")
        for name in self.features:
            feature(name, self.recall.scored)
        if lacking := [name for name in self.learned_features if name not in self.features]:
            raise ValueError(f"ranker.features names what features does not: {', '.join(lacking)}")
        if len(set(self.learned_features)) < len(self.learned_features):
            raise ValueError("ranker.features must be distinct")
        directed = [*(self.ranker.rising or ()), *(self.ranker.falling or ())]
        if unlearned := [name for name in directed if name not in self.learned_features]:
            raise ValueError(f"ranker.rising and falling name what the ranker does not learn from: {unlearned[0]}")
        if len(set(directed)) < len(directed):
            raise ValueError("a feature stands in ranker.rising or falling once")
        if self.ranker.prior and POSITION not in self.learned_features:
            raise ValueError(
                f"ranker.prior goes by {POSITION}, which the ranker does not learn from: name it, or set 0"
            )
        if self.cross_encoder is not None and CROSS_ENCODER.name not in self.features:
            raise ValueError(
                "cross_encoder is set, but features does not name cross_encoder: name it, or set it to null"
            )
        return self

    @model_validator(mode="after")
    def _policies_are_known(self) -> Profile:
        known = self.own_policies
        for policy in self.slates.policies:
            if policy in NAMES_OF_MEMORY and self.memory is None:
                raise ValueError(
                    f"policy {policy} shows units and records, and the profile has none: give it memory: {{}}"
                )
            if policy not in known and (why := why_unknown(policy, known)) is not None:
                raise ValueError(why)
        by_vectors = [f"policy {policy}" for policy in self.slates.policies if policy in OF_SPANS]
        if self.memory is not None and self.memory.relevance == "record":
            by_vectors.insert(0, "memory.relevance: record")
        if by_vectors and not self.recall.needs_vectors:
            raise ValueError(
                f"{by_vectors[0]} goes by vectors, and the profile makes none of requests: give recall.channels dense"
            )
        return self

    @model_validator(mode="after")
    def _policies_have_models(self) -> Profile:
        for policy in self.llm_policies:
            if policy in LLM_WRITTEN and self.writer is None:
                raise ValueError(
                    f"policy {policy} asks a language model when it writes, and the profile has no writer: name "
                    "its model"
                )
            if self.reading_model is None:
                raise ValueError(
                    f"policy {policy} asks a language model when it reads, and the profile has no teacher or writer: "
                    "name the model of one"
                )
        return self

    @property
    def own_policies(self) -> tuple[str, ...]:
        """The policies that the profile may name without a ranking in the lake."""
        of_pools = known_policies(
            self.recall.scored,
            with_cross_encoder=self.cross_encoder is not None,
            with_teacher=self.teacher is not None,
        )
        asking = [policy for policy in LLM_POLICIES if self.memory is not None or policy not in LLM_OF_MEMORY]
        return (*of_pools, *asking) if self.memory is None else (*of_pools, *MEMORY_POLICIES, *asking)

    @property
    def rankings(self) -> tuple[str, ...]:
        """The policies that are none of ours: rankings that a lake must hold."""
        return tuple(policy for policy in self.slates.policies if policy not in self.own_policies)

    @property
    def learned_features(self) -> tuple[str, ...]:
        """The features that a ranker of this profile learns from."""
        return self.ranker.features or self.features

    @property
    def learned_policies(self) -> tuple[str, ...]:
        """The policies that go by a ranker."""
        return tuple(policy for policy in self.slates.policies if goes_by_ranker(policy))

    @property
    def language_models(self) -> dict[str, LlmOptions]:
        """The language models that the profile names, by what they do."""
        roles = {"writer": self.writer, "teacher": self.teacher, "reader": self.reader, "judge": self.judge}
        return {role: options for role, options in roles.items() if options is not None}

    @property
    def memory_policies(self) -> tuple[str, ...]:
        """The policies that show units, records and pieces, and ask no language model."""
        return tuple(policy for policy in self.slates.policies if policy in MEMORY_POLICIES)

    @property
    def llm_policies(self) -> tuple[str, ...]:
        """The compared designs that ask a language model."""
        return tuple(policy for policy in self.slates.policies if policy in LLM_POLICIES)

    @property
    def reading_model(self) -> LlmOptions | None:
        """The language model that these ask when they read: the teacher, else the writer."""
        return self.teacher or self.writer


def goes_by_ranker(policy: str) -> bool:
    """Whether a policy goes by a ranker, and is left out where there is none."""
    return needs_ranker(policy) or policy in RANKED


def load_profile(name_or_path: str) -> Profile:
    """Reads a profile by name, or from a YAML file.

    Raises ConfigError for an unknown name, unreadable YAML, an unknown key or a value out of range.
    """
    if name_or_path.endswith(PROFILE_FILES):
        path = Path(name_or_path)
        if not path.is_file():
            raise ConfigError(f"no file {name_or_path}")
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ConfigError(f"{name_or_path} is not UTF-8 text: {error}") from error
        return parse_profile(text, name_or_path)
    if name_or_path not in profile_names():
        raise ConfigError(f"no profile {name_or_path!r}; there are {', '.join(profile_names())}, or give a .yaml file")
    text = (resources.files("jobs") / "profiles" / f"{name_or_path}.yaml").read_text(encoding="utf-8")
    return parse_profile(text, name_or_path)


def parse_profile(text: str, origin: str) -> Profile:
    """Reads a profile from YAML text; `origin` is named in errors. Raises ConfigError."""
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{origin} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{origin} must be a mapping of keys to values")
    try:
        return Profile.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n".join(f"{origin}: {_explain(entry)}" for entry in error.errors())) from error


def _explain(entry: Any) -> str:
    place = ".".join(str(part) for part in entry["loc"])
    if entry["type"] != "extra_forbidden":
        return f"{place or 'profile'}: {entry['msg'].removeprefix('Value error, ')}"
    known = sorted(_keys_at(entry["loc"][:-1]))
    near = difflib.get_close_matches(str(entry["loc"][-1]), known, n=1, cutoff=0.0)
    return f"unknown key {place}; did you mean {near[0]}? Known here: {', '.join(known)}"


def _keys_at(place: tuple[Any, ...]) -> set[str]:
    model: type[BaseModel] = Profile
    for part in place:
        annotation = model.model_fields[str(part)].annotation
        inner = [kind for kind in (annotation, *get_args(annotation)) if isinstance(kind, type)]
        model = next(kind for kind in inner if issubclass(kind, BaseModel))
    return set(model.model_fields)
