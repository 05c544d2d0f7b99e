"""What models that read text in windows have in common: how they are chosen, and who made what they give."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from models.windows import Dtype, WindowSizes


@dataclass(frozen=True)
class WindowedConfig:
    """What, with a model's weights, decides what it gives. Raises ValueError for sizes that make no window."""

    name: str
    """A model's name or folder, as models.resolve takes it."""
    max_tokens: int = 256
    """Word pieces of one window, special ones included."""
    batch_size: int = 16
    """Windows of one batch; every batch has exactly this many."""
    dtype: Dtype = "float32"

    def __post_init__(self) -> None:
        _ = self.sizes

    @property
    def sizes(self) -> WindowSizes:
        """How texts are cut, padded and batched."""
        return WindowSizes(self.max_tokens, self.batch_size)

    @property
    def short_name(self) -> str:
        """The model's name without owner or folder."""
        return Path(self.name).name


@dataclass(frozen=True)
class ModelIdentity:
    """Who made a vector or score: equal identities mean equal ones (on like hardware). Holds no path."""

    text: str
    """Canonical JSON of all that decides them: for stamps."""
    choice_id: str
    """Short name and eight hex digits of `text`: the `<id>` of a table's `model=<id>`."""


@dataclass(frozen=True)
class VectorIdentity(ModelIdentity):
    """Who made a vector."""

    dim: int
    """Length of a vector."""


def choice_id(name: str, text: str) -> str:
    """The short name of an identity: letters, digits and `-._` of the model's name, and eight hex digits of `text`."""
    safe = "".join(letter if letter.isalnum() or letter in "-._" else "-" for letter in name)
    return f"{safe}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
