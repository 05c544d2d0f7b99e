"""The cross-encoder: a score of a request and a turn read together, which depends on that pair alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from models.digests import weights_digest
from models.embedder import quiet
from models.pairs import PairWindows, frame_of, pieces_of
from models.resolve import ModelNotFound, resolve
from models.windowed import ModelIdentity, WindowedConfig, choice_id
from models.windows import Batch, Dtype, Ids, batches_by_length, model_inputs

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

SCHEME = 1
"""Version of how pairs are cut, padded and batched: part of the identity, to be raised with any change of scores."""

_CLASSIFIER = "ForSequenceClassification"
_NUMBER_FROM_PAD = ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "roberta-prelayernorm", "xmod", "mpnet")
"""Models whose positions begin after that of the padding."""
_LABELS_UNSAID = 2  # transformers, where a config names no labels


class NoCrossEncoder(ModelNotFound):
    """A model that is there and is no cross-encoder; the message says why."""


def cross_encoder_identity(config: WindowedConfig) -> ModelIdentity:
    """The identity of a cross-encoder, read from its files; loads no torch.

    Raises ModelNotFound, NoCrossEncoder for a model without a trained head of one score, or one of shorter windows.
    """
    path = resolve(config.name).path
    _check(path, config)
    about = {"scheme": SCHEME, "name": config.short_name, "weights": weights_digest(path), "dtype": config.dtype}
    text = json.dumps({"cross_encoder": about, **config.sizes.as_dict()}, sort_keys=True)
    return ModelIdentity(text, choice_id(config.short_name, text))


class CrossEncoderScorer:
    """Scores pairs by sentence-transformers' CrossEncoder: models.interfaces.PairScorer; the plain logit.

    A request longer than half of what `max_tokens` leaves beside the special tokens is cut to its first half; a turn
    longer than the rest is read in overlapping windows and scored by its best. All windows of a call are sorted by
    padded length into batches of one shape, as models.windows says: a pair's score is bitwise the same whatever else
    is in the call. What the model saved as its activation or its prompt is not used.

    Loading takes seconds (torch) and reaches no network once models.resolve has found the model. Raises as
    cross_encoder_identity.
    """

    def __init__(self, config: WindowedConfig) -> None:
        self.config = config
        self.name = config.short_name
        self.identity = cross_encoder_identity(config)
        self._model = _load(resolve(config.name).path, config.dtype)
        self._tokenizer = self._model.tokenizer
        self._frame = frame_of(self._tokenizer)

    def score(
        self, requests: Sequence[str], turns: Sequence[str], pairs: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float32]:
        """As models.interfaces.PairScorer. A pair with a window whose score is not finite gets NaN."""
        if not len(pairs):
            return np.zeros(0, np.float32)
        asked, told = pieces_of(self._tokenizer, requests), pieces_of(self._tokenizer, turns)
        windows = PairWindows(asked, told, pairs, self._frame, self.config.sizes)
        scores = np.empty(len(windows.lengths), np.float32)
        for batch in batches_by_length(windows.lengths, windows.ids, self.config.sizes, self._tokenizer.pad_token_id):
            scores[batch.members] = _forward(self._model, self._tokenizer, batch, windows)[: len(batch.members)]
        scores[~np.isfinite(scores)] = np.nan
        return np.asarray(np.maximum.reduceat(scores, windows.first))


def _forward(model: CrossEncoder, tokenizer: Any, batch: Batch, windows: PairWindows) -> npt.NDArray[np.float32]:
    """The logit of every row of a batch."""
    import torch  # noqa: PLC0415 - seconds

    features = model_inputs(tokenizer, batch.ids, batch.mask, model.device)
    if "token_type_ids" in features:
        features["token_type_ids"] = torch.from_numpy(_types(batch, windows)).to(model.device)
    with torch.inference_mode():
        scores = model(features)["scores"].squeeze(-1)
    return np.asarray(scores.to("cpu", torch.float32).numpy())


def _types(batch: Batch, windows: PairWindows) -> Ids:
    """The token types of a batch: they tell the request from the turn, where a model has them."""
    types = np.zeros_like(batch.ids)
    for row, member in enumerate(batch.members):
        types[row, : windows.lengths[member]] = windows.types(member)
    return types


def _load(path: Path, dtype: Dtype) -> CrossEncoder:
    with quiet():
        import torch  # noqa: PLC0415 - seconds
        from sentence_transformers import CrossEncoder  # noqa: PLC0415 - seconds

        model = CrossEncoder(str(path), local_files_only=True, model_kwargs={"dtype": getattr(torch, dtype)})
    return model.eval()


def _check(path: Path, config: WindowedConfig) -> None:
    """Raises NoCrossEncoder for what transformers would load and give a head that nobody trained, or fail on later."""
    about = json.loads((path / "config.json").read_text(encoding="utf-8"))
    architecture = (about.get("architectures") or ["none that it names"])[0]
    labels = len(about.get("id2label") or ()) or about.get("num_labels", _LABELS_UNSAID)
    if not architecture.endswith(_CLASSIFIER) or labels != 1:
        raise NoCrossEncoder(
            f"model {config.name!r} is no cross-encoder: its config.json has the architecture {architecture} with "
            f"{labels} labels, and one takes ...{_CLASSIFIER} with 1"
        )
    longest = about.get("max_position_embeddings", config.max_tokens)
    if about.get("model_type") in _NUMBER_FROM_PAD:
        pad = about.get("pad_token_id")
        longest -= (1 if pad is None else pad) + 1
    if config.max_tokens > longest:
        raise NoCrossEncoder(
            f"cross-encoder {config.name!r} reads {longest} word pieces at most: lower cross_encoder.max_tokens to that"
        )
