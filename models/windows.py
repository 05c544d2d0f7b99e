"""Texts as padded windows in batches of one shape: what makes a model's output depend on one text alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

SHORTEST_PAD = 32
_OVERLAP = 8  # a window repeats the last eighth of the one before

Dtype = Literal["float32", "bfloat16", "float16"]
"""What a model computes in. Half precision is several times faster on GPUs and on CPUs with AMX, slower on others."""

Ids = npt.NDArray[np.int64]
Mask = npt.NDArray[np.int64]


@dataclass(frozen=True)
class WindowSizes:
    """Word pieces of one window, special ones included, and windows of one batch.

    Raises ValueError for sizes that make no window.
    """

    max_tokens: int = 256
    batch_size: int = 16

    def __post_init__(self) -> None:
        if self.max_tokens < SHORTEST_PAD or self.batch_size < 1:
            raise ValueError(
                f"a model needs max_tokens >= {SHORTEST_PAD} and batch_size >= 1, "
                f"not {self.max_tokens} and {self.batch_size}"
            )

    @property
    def overlap(self) -> int:
        """Word pieces that a window shares with the one before it."""
        return self.max_tokens // _OVERLAP

    @property
    def pad_lengths(self) -> tuple[int, ...]:
        """The lengths to which windows are padded: 32, doubled up to max_tokens, which is the last."""
        doubled = (SHORTEST_PAD << step for step in range(self.max_tokens.bit_length()))
        return (*(length for length in doubled if length < self.max_tokens), self.max_tokens)

    def as_dict(self) -> dict[str, Any]:
        """Plain literals: the part of a model's identity that is decided here."""
        return {
            "max_tokens": self.max_tokens,
            "overlap": self.overlap,
            "pad_lengths": self.pad_lengths,
            "batch_size": self.batch_size,
        }


@dataclass(frozen=True)
class Batch:
    """Windows of one padded length: `members` are their numbers; ids and mask have batch_size rows, dummies last."""

    members: npt.NDArray[np.int64]
    ids: Ids
    mask: Mask


def windows_of(tokenizer: Any, texts: Sequence[str], sizes: WindowSizes, **more: Any) -> Any:
    """The word pieces of every window (`input_ids`) and the text of each (`overflow_to_sample_mapping`).

    A text longer than `max_tokens` word pieces is read in consecutive windows, each of which repeats the last eighth of
    the one before, so that what stands on a border is seen whole once. `more` goes to the tokenizer.
    """
    return tokenizer(
        list(texts),
        truncation=True,
        max_length=sizes.max_tokens,
        stride=sizes.overlap,
        return_overflowing_tokens=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        **more,
    )


def batches(windows: Sequence[Sequence[int]], sizes: WindowSizes, pad_id: int) -> Iterator[Batch]:
    """The windows, padded to a few fixed lengths, in batches of exactly batch_size, filled up with dummies.

    With the shapes of all matrix products fixed, what a model makes of a window is bitwise the same whatever else is
    in the call, and on one thread as on many.
    """
    return batches_by_length([len(window) for window in windows], windows.__getitem__, sizes, pad_id)


def batches_by_length(
    lengths: Sequence[int] | npt.NDArray[np.int64],
    window: Callable[[int], Sequence[int] | Ids],
    sizes: WindowSizes,
    pad_id: int,
) -> Iterator[Batch]:
    """As `batches`, of windows that are made one by one when their batch is: `window(k)` has `lengths[k]` pieces."""
    padded = np.searchsorted(sizes.pad_lengths, lengths)
    for step, length in enumerate(sizes.pad_lengths):
        members = np.flatnonzero(padded == step)
        for start in range(0, len(members), sizes.batch_size):
            chosen = members[start : start + sizes.batch_size]
            ids = np.full((sizes.batch_size, length), pad_id, np.int64)
            mask = np.zeros_like(ids)
            mask[len(chosen) :, 0] = 1  # a dummy must see something, or its mean is that of nothing
            for row, member in enumerate(chosen):
                ids[row, : lengths[member]] = window(member)
                mask[row, : lengths[member]] = 1
            yield Batch(chosen, ids, mask)


def model_inputs(tokenizer: Any, ids: Ids, mask: Mask, device: Any) -> dict[str, Any]:
    """Word pieces as the modules of sentence-transformers take them."""
    import torch  # noqa: PLC0415 - seconds

    inputs: dict[str, Any] = {
        "input_ids": torch.from_numpy(ids).to(device),
        "attention_mask": torch.from_numpy(mask).to(device),
        "modality": "text",
    }
    if "token_type_ids" in tokenizer.model_input_names:
        inputs["token_type_ids"] = torch.zeros_like(inputs["input_ids"])
    return inputs
