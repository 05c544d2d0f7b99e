"""How well an encoder tells evidence from other turns: what tuning is judged by on histories that it did not see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from models.finetune import Example
from models.token_encoder import encode_tokens, load_multi_vector, take_tensors
from models.windows import WindowSizes

if TYPE_CHECKING:
    import torch


def mean_reciprocal_rank(
    base: Path, tensors: Mapping[str, torch.Tensor], examples: Sequence[Example], sizes: WindowSizes
) -> float:
    """Mean of 1 / rank of each example's evidence among its negatives, by weighted MaxSim; NaN without examples.

    `tensors` take the place of the base model's own. Ties count against the evidence.
    """
    if not examples:
        return float("nan")
    model = load_multi_vector(base, sizes.max_tokens)
    take_tensors(model, tensors)
    requests = list(dict.fromkeys(example.request for example in examples))
    turns = list(dict.fromkeys(text for each in examples for text in (each.positive, *each.negatives)))
    dim = int(model.get_embedding_dimension() or 0)
    asked = encode_tokens(model, model.tokenizer, requests, "query", sizes, dim)
    said = encode_tokens(model, model.tokenizer, turns, "document", sizes, dim)
    of_request = dict(
        zip(requests, np.split(asked.vectors, np.searchsorted(asked.text, np.arange(1, len(requests)))), strict=True)
    )
    of_turn = dict(
        zip(turns, np.split(said.vectors, np.searchsorted(said.text, np.arange(1, len(turns)))), strict=True)
    )
    found = []
    for example in examples:
        request = of_request[example.request]
        weights = np.asarray([*example.weights, *[1.0] * len(request)][: len(request)])
        scores = [
            float(weights @ (request @ of_turn[text].T).max(axis=1, initial=-1.0))
            for text in (example.positive, *example.negatives)
        ]
        found.append(1.0 / sum(score >= scores[0] for score in scores))
    return float(np.mean(found))
