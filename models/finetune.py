"""Fine-tuning of the late-interaction encoder: its upper layers, on requests and the turns that answer them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from models.token_encoder import load_multi_vector
from models.windows import model_inputs

if TYPE_CHECKING:
    import torch
    from sentence_transformers import MultiVectorEncoder

    Tensors = dict[str, torch.Tensor]


_READ_TOGETHER = 8
"""Texts of like length that are read as one padded block: of 64 turns of LoCoMo, half the time of one block."""


class FinetuneParams(BaseModel):
    """How the encoder is tuned. `layers` of the top are changed, all others stay as they are."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    layers: int = Field(3, ge=1)
    epochs: int = Field(4, ge=1)
    batch_size: int = Field(16, ge=2)
    learning_rate: float = Field(1e-4, gt=0)
    temperature: float = Field(0.05, gt=0)
    pooled_weight: float = Field(0.5, ge=0)
    """What the loss of mean-pooled cosines counts beside that of MaxSim."""
    negatives: int = Field(3, ge=0)
    """Turns of the pool that are no evidence, for each pair: drawn anew in every epoch from those that were mined."""
    max_tokens: int = Field(128, ge=32)
    seed: int = Field(0, ge=0)


@dataclass(frozen=True)
class Example:
    """A request, a turn that is evidence for it, and turns of its pool that are not; `weights` are by request token."""

    request: str
    positive: str
    negatives: tuple[str, ...]
    weights: tuple[float, ...]


def finetune(base: Path, examples: Sequence[Example], params: FinetuneParams) -> Tensors:
    """The tuned tensors, by their names in the encoder, float32 on the CPU.

    The loss is the cross entropy of picking a request's turn among those of the batch and their mined negatives, by
    MaxSim weighted by the idf of the request's tokens and, apart, by the cosine of mean-pooled tokens. Equal examples
    and parameters give equal tensors on one machine with one number of threads. Raises ValueError without examples.
    """
    import torch  # noqa: PLC0415 - seconds

    if not examples:
        raise ValueError("there are no examples to tune on")
    torch.manual_seed(params.seed)
    model = load_multi_vector(base, params.max_tokens)
    model.train()
    tuned = _tuned_parameters(model, params.layers)
    optimizer = torch.optim.AdamW(tuned.values(), lr=params.learning_rate, weight_decay=0.01)
    per_epoch = -(-len(examples) // params.batch_size)
    total = per_epoch * params.epochs
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: share_of_rate(step, total))
    for batch in _batches(examples, params):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = _loss(model, batch, params)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(tuned.values(), 1.0)
        optimizer.step()
        schedule.step()
    return {name: parameter.detach().to("cpu", torch.float32).clone() for name, parameter in tuned.items()}


def share_of_rate(step: int, total: int) -> float:
    """The share of the learning rate at a step from 0: it rises over a tenth of the `total` steps, then falls to 0."""
    rising = max(1, total // 10)
    if step < rising:
        return (step + 1) / rising
    return max(0.0, (total - step) / max(1, total - rising))


def _tuned_parameters(model: MultiVectorEncoder, layers: int) -> Tensors:
    """The parameters of the upper layers, by name; all others are frozen. Raises ValueError for too few layers."""
    numbers = sorted({int(part) for name, _ in model.named_parameters() if (part := _layer(name)) is not None})
    if layers > len(numbers):
        raise ValueError(f"the encoder has {len(numbers)} layers, not {layers}")
    chosen = {str(number) for number in numbers[-layers:]}
    tuned = {}
    for name, parameter in model.named_parameters():
        parameter.requires_grad = _layer(name) in chosen
        if parameter.requires_grad:
            tuned[name] = parameter
    return tuned


def _layer(name: str) -> str | None:
    """The number of the layer that a parameter belongs to: `...encoder.layer.4.output...` is of layer 4."""
    parts = name.split(".")
    for word, number in pairwise(parts):
        if word in ("layer", "layers", "h") and number.isdigit():
            return number
    return None


def _batches(examples: Sequence[Example], params: FinetuneParams) -> Iterator[list[Example]]:
    rng = np.random.default_rng(params.seed)
    for _ in range(params.epochs):
        order = rng.permutation(len(examples))
        for start in range(0, len(order), params.batch_size):
            yield [_drawn(examples[index], params.negatives, rng) for index in order[start : start + params.batch_size]]


def _drawn(example: Example, count: int, rng: np.random.Generator) -> Example:
    """The example with `count` of its negatives."""
    chosen = rng.permutation(len(example.negatives))[:count]
    return replace(example, negatives=tuple(example.negatives[index] for index in chosen))


def _loss(model: MultiVectorEncoder, batch: Sequence[Example], params: FinetuneParams) -> torch.Tensor:
    import torch  # noqa: PLC0415 - seconds

    requests = list(dict.fromkeys(example.request for example in batch))
    turns = list(dict.fromkeys(text for each in batch for text in (each.positive, *each.negatives)))
    asked, asked_mask = token_vectors(model, requests, "query", params.max_tokens)
    said, said_mask = token_vectors(model, turns, "document", params.max_tokens)
    cosines = torch.einsum("qmd,ntd->qnmt", asked, said)
    best = cosines.masked_fill(~said_mask[None, :, None, :], -1.0).amax(-1)
    rows = torch.tensor([requests.index(example.request) for example in batch])
    late = (best[rows] * _weights(batch, asked_mask[rows])[:, None, :]).sum(-1)
    pooled = (_pooled(asked, asked_mask) @ _pooled(said, said_mask).T)[rows]
    wanted = torch.tensor([turns.index(example.positive) for example in batch])
    also = _other_positives(batch, turns)
    loss: torch.Tensor = torch.zeros(())
    for scores, share in ((late, 1.0), (pooled, params.pooled_weight)):
        logits = (scores.float() / params.temperature).masked_fill(also, -1e4)
        loss = loss + share * torch.nn.functional.cross_entropy(logits, wanted)
    return loss


def _other_positives(batch: Sequence[Example], turns: Sequence[str]) -> torch.Tensor:
    """Turns of a batch that are evidence for the same request beside the one to pick: no mistake to find them."""
    import torch  # noqa: PLC0415 - seconds

    of_request: dict[str, set[str]] = {}
    for example in batch:
        of_request.setdefault(example.request, set()).add(example.positive)
    return torch.tensor(
        [[text != example.positive and text in of_request[example.request] for text in turns] for example in batch]
    )


def _weights(batch: Sequence[Example], mask: torch.Tensor) -> torch.Tensor:
    """Weights of each example's request tokens, which add up to 1; tokens without a known weight count 1 before that.

    Shape as `mask`, (examples, places), which says where its tokens are.
    """
    import torch  # noqa: PLC0415 - seconds

    weights = mask.float()
    for row, example in enumerate(batch):
        places = torch.nonzero(mask[row]).flatten()[: len(example.weights)]
        weights[row, places] = torch.tensor(example.weights[: len(places)], dtype=torch.float32)
    return weights * mask / (weights * mask).sum(1, keepdim=True).clamp_min(1e-6)


def token_vectors(
    model: MultiVectorEncoder, texts: Sequence[str], task: str, longest: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Unit vectors, shape (texts, places, dim), and which places count.

    Texts of like length are read together: most of a batch padded to its longest turn would be padding.
    """
    import torch  # noqa: PLC0415 - seconds

    prompt = str((model.prompts or {}).get(task) or "")
    tokenizer: Any = model.tokenizer
    ids = tokenizer([prompt + text for text in texts], truncation=True, max_length=longest)["input_ids"]
    order = np.argsort([len(of_text) for of_text in ids], kind="stable")
    widest = len(ids[order[-1]])
    vectors, masks = [], []
    for start in range(0, len(order), _READ_TOGETHER):
        chosen = order[start : start + _READ_TOGETHER]
        padded = tokenizer.pad({"input_ids": [ids[index] for index in chosen]}, return_tensors="np")
        made = model(model_inputs(tokenizer, padded["input_ids"], padded["attention_mask"], model.device), task=task)
        of_texts, mask = made["token_embeddings"], made["attention_mask"].bool()
        missing = widest - mask.shape[1]
        vectors.append(torch.nn.functional.pad(of_texts, (0, 0, 0, missing)))
        masks.append(torch.nn.functional.pad(mask, (0, missing)))
    back = torch.from_numpy(np.argsort(order))
    return torch.nn.functional.normalize(torch.cat(vectors)[back], dim=-1), torch.cat(masks)[back]


def _pooled(vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    import torch  # noqa: PLC0415 - seconds

    return torch.nn.functional.normalize((vectors * mask[:, :, None]).sum(1), dim=-1)
