"""The dense embedder: a sentence-transformers model whose vectors depend on one text alone, to the last bit."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from models.digests import weights_digest
from models.resolve import resolve
from models.windowed import VectorIdentity, WindowedConfig, choice_id
from models.windows import Dtype, batches, model_inputs, windows_of

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

SCHEME = 1
"""Version of how texts are cut, padded and batched: part of the identity, to be raised with any change of vectors."""

Windows = list[list[int]]
Vectors = npt.NDArray[np.float32]


def embedder_identity(config: WindowedConfig) -> VectorIdentity:
    """The identity of an embedder, read from its files; loads no torch.

    Raises ModelNotFound, or ValueError when the folder does not say how long its vectors are.
    """
    path = resolve(config.name).path
    dim = _dim(path)
    text = json.dumps(
        {
            "scheme": SCHEME,
            "name": config.short_name,
            "weights": weights_digest(path),
            "dim": dim,
            **config.sizes.as_dict(),
            "dtype": config.dtype,
        },
        sort_keys=True,
    )
    return VectorIdentity(text, choice_id(config.short_name, text), dim)


class SentenceEmbedder:
    """Embeds text with a sentence-transformers model: its own tokenizer and modules, float32, unit length.

    A text longer than `max_tokens` word pieces is read in windows, and windows run in batches of one shape, as
    models.windows says: a window's vector is bitwise the same whatever else is in the call.

    Loading takes seconds (torch) and reaches no network once `models.resolve` has found the model. Threads: as torch
    takes them from OMP_NUM_THREADS. Raises ModelNotFound or ValueError, as embedder_identity does.
    """

    def __init__(self, config: WindowedConfig) -> None:
        self.config = config
        self.name = config.short_name
        self.identity = embedder_identity(config)
        self.dim = self.identity.dim
        self._model = _load(resolve(config.name).path, config.dtype)
        self._tokenizer = self._model.tokenizer
        loaded_dim = self._model.get_embedding_dimension()
        if loaded_dim != self.dim:
            raise ValueError(f"model {config.name}: its files say {self.dim} dimensions, the loaded model {loaded_dim}")

    def embed_windows(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.int64], Vectors]:
        """As models.interfaces.Embedder: (rows, vectors); every text, an empty one too, has a window at least.

        A vector that is not finite is computed once more, alone and in float64; it stays as it is if that fails too.
        """
        if not texts:
            return np.zeros(0, np.int64), np.zeros((0, self.dim), np.float32)
        encoded = windows_of(self._tokenizer, texts, self.config.sizes)
        rows, windows = np.asarray(encoded["overflow_to_sample_mapping"], np.int64), encoded["input_ids"]
        vectors = np.empty((len(windows), self.dim), np.float32)
        for batch in batches(windows, self.config.sizes, self._tokenizer.pad_token_id):
            made = _forward(self._model, self._tokenizer, batch.ids, batch.mask)
            vectors[batch.members] = made[: len(batch.members)]
        self._mend(windows, vectors)
        return rows, vectors

    def _mend(self, windows: Windows, vectors: Vectors) -> None:
        broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if not len(broken):
            return
        exact = copy.deepcopy(self._model).double()
        for row in broken:
            ids = np.asarray([windows[row]], np.int64)
            vectors[row] = _forward(exact, self._tokenizer, ids, np.ones_like(ids))[0]


def _forward(
    model: SentenceTransformer, tokenizer: Any, ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]
) -> Vectors:
    """Unit vectors of padded windows, through all of the model's modules."""
    import torch  # noqa: PLC0415 - seconds

    features = model_inputs(tokenizer, ids, mask, model.device)
    with torch.inference_mode():
        made = model(features)["sentence_embedding"]
        # The length is taken in float32 at least: half precision would leave vectors of about unit length.
        wide = made if made.dtype == torch.float64 else made.float()
        vectors = torch.nn.functional.normalize(wide, dim=1)
    return np.asarray(vectors.to("cpu", torch.float32).numpy())


def _load(path: Path, dtype: Dtype) -> SentenceTransformer:
    with quiet():
        import torch  # noqa: PLC0415 - seconds
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - seconds

        model = SentenceTransformer(str(path), local_files_only=True, model_kwargs={"dtype": getattr(torch, dtype)})
    return model.eval()


@contextmanager
def quiet() -> Iterator[None]:
    """No bar and no chatter of transformers while a model loads: a worker's output is read by people."""
    from transformers.utils import logging  # noqa: PLC0415 - seconds

    verbosity, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()


def _dim(path: Path) -> int:
    """The length of a model's vectors, from its files: the last module that sets it, else the encoder's width."""
    dim = _read(path / "config.json").get("hidden_size")
    modules = json.loads((path / "modules.json").read_text()) if (path / "modules.json").is_file() else []
    for module in modules:
        config = _read(path / module["path"] / "config.json")
        for key in ("word_embedding_dimension", "embedding_dimension", "out_features"):
            dim = config.get(key, dim)
    if not isinstance(dim, int):
        raise ValueError(f"model folder {path} does not say how long its vectors are (hidden_size in config.json)")
    return dim


def _read(path: Path) -> Mapping[str, Any]:
    return json.loads(path.read_text()) if path.is_file() else {}
