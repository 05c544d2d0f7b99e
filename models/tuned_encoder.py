"""A fine-tuned late-interaction encoder: what was changed of a base model, for each fold of histories and for all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from models.digests import weights_digest
from models.finetune import FinetuneParams
from models.interfaces import TokenEncoder, TokenVectors
from models.resolve import resolve
from models.token_encoder import (
    encode_tokens,
    load_multi_vector,
    take_tensors,
    token_encoder_identity,
)
from models.windowed import VectorIdentity, WindowedConfig, choice_id
from models.windows import Dtype

if TYPE_CHECKING:
    import torch

    Tensors = Mapping[str, torch.Tensor]

FORMAT_VERSION = 1
ABOUT_FILE = "encoder.json"
OF_ALL = "all"
"""The variant that learned from every history: for histories that none was tuned on."""


def tensors_file(variant: str) -> str:
    """The file that holds a variant's tensors."""
    return f"{variant}.safetensors"


class TunedEncoderError(ValueError):
    """A folder holds no tuned encoder, or not one of this base model; the message says what to do."""


@dataclass(frozen=True)
class Origin:
    """From where another machine fetches a tuned encoder: MLflow's address, and the artifact there."""

    store: str
    artifact: str


@dataclass(frozen=True)
class TunedEncoder:
    """What a folder of `slatemill finetune` says of itself.

    `fold_of` names for each history that was learned from the variant that did not see it: with that one its turns and
    requests are read, so that a ranker which is trained on the scores learns what they are worth on new histories.
    `digest` is that of encoder.json, which names those of all its files. `origin` is None where the folder is all that
    is known.
    """

    folder: Path
    base: str
    base_weights: str
    max_tokens: int
    dtype: Dtype
    params: FinetuneParams
    fold_of: Mapping[str, str]
    files: Mapping[str, str]
    metrics: Mapping[str, float]
    digest: str
    origin: Origin | None = field(default=None, compare=False)

    @cached_property
    def identity(self) -> VectorIdentity:
        """As of any token encoder: base model, tuned tensors, and which history is read by which variant."""
        base = token_encoder_identity(self.config)
        about = {"tuned": dict(self.files), "fold_of": dict(self.fold_of), "base": json.loads(base.text)}
        text = json.dumps(about, sort_keys=True)
        return VectorIdentity(text, choice_id("tuned", text), base.dim)

    @property
    def config(self) -> WindowedConfig:
        """The base model and its windows."""
        return WindowedConfig(self.base, self.max_tokens, dtype=self.dtype)


def save_tuned(
    folder: Path,
    base: WindowedConfig,
    params: FinetuneParams,
    variants: Mapping[str, Tensors],
    fold_of: Mapping[str, str],
    metrics: Mapping[str, float],
) -> TunedEncoder:
    """Writes the variants' tensors and encoder.json to a folder."""
    from safetensors.torch import save_file  # noqa: PLC0415 - seconds

    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, tensors in variants.items():
        path = folder / tensors_file(name)
        save_file(dict(tensors), path)
        files[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    about = {
        "format_version": FORMAT_VERSION,
        "base": base.name,
        "base_weights": weights_digest(resolve(base.name).path),
        "max_tokens": base.max_tokens,
        "dtype": base.dtype,
        "params": params.model_dump(),
        "fold_of": dict(sorted(fold_of.items())),
        "files": files,
        "metrics": dict(metrics),
    }
    (folder / ABOUT_FILE).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return open_tuned(folder)


def open_tuned(folder: Path) -> TunedEncoder:
    """Reads what a folder says of its encoder; loads no torch.

    Raises TunedEncoderError when it holds none or the base model here has other weights, ModelNotFound without one.
    """
    path = folder / ABOUT_FILE
    if not path.is_file():
        raise TunedEncoderError(f"{folder} holds no tuned encoder ({ABOUT_FILE}): `slatemill finetune LAKE` makes one")
    said = path.read_bytes()
    about: dict[str, Any] = json.loads(said)
    if about.pop("format_version", None) != FORMAT_VERSION:
        raise TunedEncoderError(f"{folder} was written by another slatemill: run `slatemill finetune` again")
    found = weights_digest(resolve(about["base"]).path)
    if found != about["base_weights"]:
        raise TunedEncoderError(
            f"{folder} was tuned on another {about['base']}: {about['base_weights'][:12]}, here {found[:12]}"
        )
    about["params"] = FinetuneParams.model_validate(about["params"])
    return TunedEncoder(folder=folder, digest=hashlib.sha256(said).hexdigest(), **about)


class TunedTokenEncoder:
    """models.interfaces.TokenEncoder of a tuned encoder. Raises TunedEncoderError for a file that was changed."""

    def __init__(self, tuned: TunedEncoder) -> None:
        self.name = tuned.identity.choice_id
        self.dim = tuned.identity.dim
        self._tuned = tuned
        self._model = load_multi_vector(resolve(tuned.base).path, tuned.max_tokens, tuned.dtype)
        self._states = {name: self._read(name) for name in tuned.files}
        self._loaded: str | None = None
        self._variants = {name: _Variant(self, name) for name in tuned.files}

    def of_history(self, history_id: str) -> TokenEncoder:
        """The variant that did not learn from this history."""
        return self._variants[self._tuned.fold_of.get(history_id, OF_ALL)]

    def encode(self, texts: Sequence[str], task: Literal["query", "document"]) -> TokenVectors:
        """By the variant that learned from all."""
        return self.encode_by(OF_ALL, texts, task)

    def encode_by(self, variant: str, texts: Sequence[str], task: Literal["query", "document"]) -> TokenVectors:
        """By one of the variants."""
        if self._loaded != variant:
            take_tensors(self._model, self._states[variant])
            self._loaded = variant
        return encode_tokens(self._model, self._model.tokenizer, texts, task, self._tuned.config.sizes, self.dim)

    def _read(self, name: str) -> Tensors:
        from safetensors.torch import load  # noqa: PLC0415 - seconds

        data = (self._tuned.folder / tensors_file(name)).read_bytes()
        if hashlib.sha256(data).hexdigest() != self._tuned.files[name]:
            raise TunedEncoderError(f"{self._tuned.folder}/{name}.safetensors was changed since it was tuned")
        return load(data)


class _Variant:
    """One variant of a tuned encoder as a TokenEncoder."""

    def __init__(self, whole: TunedTokenEncoder, name: str) -> None:
        self.name = f"{whole.name}-{name}"
        self.dim = whole.dim
        self._whole = whole
        self._name = name

    def of_history(self, _: str) -> TokenEncoder:
        """Itself."""
        return self

    def encode(self, texts: Sequence[str], task: Literal["query", "document"]) -> TokenVectors:
        """As models.interfaces.TokenEncoder."""
        return self._whole.encode_by(self._name, texts, task)
