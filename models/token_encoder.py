"""The late-interaction encoder: a vector for every token of a text, which depends on that text alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from models.digests import weights_digest
from models.embedder import quiet
from models.interfaces import TokenEncoder, TokenVectors
from models.resolve import resolve
from models.windowed import VectorIdentity, WindowedConfig, choice_id
from models.windows import Dtype, WindowSizes, batches, model_inputs, windows_of

if TYPE_CHECKING:
    import torch
    from sentence_transformers import MultiVectorEncoder

SCHEME = 1
"""Version of how texts become token vectors: part of the identity, to be raised with any change of vectors."""

MULTI_VECTOR_HEAD = "colbert_linear.pt"
"""bge-m3's multi-vector head, beside its encoder."""

Task = Literal["query", "document"]


def token_encoder_identity(config: WindowedConfig) -> VectorIdentity:
    """The identity of a token encoder, read from its files; loads no torch.

    Raises ModelNotFound, or ValueError when the folder does not say how long its vectors are.
    """
    path = resolve(config.name).path
    dim = _dim(path)
    about = {
        "scheme": SCHEME,
        "name": config.short_name,
        "weights": weights_digest(path),
        "dim": dim,
        "dtype": config.dtype,
    }
    text = json.dumps({"late_interaction": about, **config.sizes.as_dict()}, sort_keys=True)
    return VectorIdentity(text, choice_id(config.short_name, text), dim)


class LateInteractionEncoder:
    """Token vectors by sentence-transformers' MultiVectorEncoder: models.interfaces.TokenEncoder.

    A model saved as one (ColBERT-style, with its own projection, skip list and prompts) is taken as it is. Of bge-m3
    the encoder is joined with its multi-vector head. Any other encoder gives its last hidden states, without those of
    special tokens. Texts are cut and batched as models.windows says, so a text's vectors are bitwise the same whatever
    else is in the call. Query expansion of ColBERT is not used: a mask token has no idf. Raises ModelNotFound, or
    ValueError when the vectors are not as long as the files say.
    """

    def __init__(self, config: WindowedConfig) -> None:
        self.config = config
        self.name = config.short_name
        self.identity = token_encoder_identity(config)
        self.dim = self.identity.dim
        self._model = load_multi_vector(resolve(config.name).path, config.max_tokens, config.dtype)
        made = self._model.get_embedding_dimension()
        if made != self.dim:
            raise ValueError(f"{config.name} makes vectors of {made} values, and its files say {self.dim}")
        self._tokenizer = self._model.tokenizer

    def of_history(self, _: str) -> TokenEncoder:
        """Itself: it was not tuned on any."""
        return self

    def encode(self, texts: Sequence[str], task: Task) -> TokenVectors:
        """As models.interfaces.TokenEncoder.

        Where the model has a prompt for the task, it stands before each text and its tokens are part of the result,
        at characters 0 to 0.
        """
        return encode_tokens(self._model, self._tokenizer, texts, task, self.config.sizes, self.dim)


def encode_tokens(
    model: MultiVectorEncoder, tokenizer: Any, texts: Sequence[str], task: Task, sizes: WindowSizes, dim: int
) -> TokenVectors:
    """Token vectors of texts by a loaded model, as LateInteractionEncoder.encode says."""
    if not texts:
        none = np.zeros(0, np.int64)
        return TokenVectors(none, none, none, np.zeros((0, dim), np.float32))
    prompt = str((model.prompts or {}).get(task) or "")
    encoded = windows_of(tokenizer, [prompt + text for text in texts], sizes, return_offsets_mapping=True)
    windows = encoded["input_ids"]
    kept: list[npt.NDArray[np.bool_]] = [np.zeros(0, np.bool_)] * len(windows)
    vectors: list[npt.NDArray[np.float32]] = [np.zeros((0, dim), np.float32)] * len(windows)
    for batch in batches(windows, sizes, tokenizer.pad_token_id):
        made, mask = _forward(model, tokenizer, batch.ids, batch.mask, task)
        for row, member in enumerate(batch.members):
            scored = mask[row, : len(windows[member])]
            kept[member], vectors[member] = scored, made[row, : len(scored)][scored]
    of_token = np.concatenate(kept)
    offsets = np.concatenate([np.asarray(pairs, np.int64).reshape(-1, 2) for pairs in encoded["offset_mapping"]])
    text = np.repeat(encoded["overflow_to_sample_mapping"], [len(window) for window in windows]).astype(np.int64)
    start, end = np.maximum(offsets[of_token] - len(prompt), 0).T
    return TokenVectors(text[of_token], start, end, np.concatenate(vectors))


def _forward(
    model: MultiVectorEncoder, tokenizer: Any, ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64], task: Task
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """Unit vectors of every place of padded windows, and which places count."""
    import torch  # noqa: PLC0415 - seconds

    with torch.inference_mode():
        made = model(model_inputs(tokenizer, ids, mask, model.device), task=task)
        vectors = torch.nn.functional.normalize(made["token_embeddings"].to("cpu", torch.float32), dim=-1)
    return vectors.numpy(), made["attention_mask"].to("cpu", torch.bool).numpy()


def load_multi_vector(path: Path, max_tokens: int, dtype: Dtype = "float32") -> MultiVectorEncoder:
    """The model in a folder as a MultiVectorEncoder, in evaluation mode; loads torch (seconds)."""
    with quiet():
        import torch  # noqa: PLC0415 - seconds
        from sentence_transformers import MultiVectorEncoder  # noqa: PLC0415 - seconds
        from sentence_transformers.base.modules import Dense, Transformer  # noqa: PLC0415 - seconds
        from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask  # noqa: PLC0415 - seconds
        from sentence_transformers.sentence_transformer.modules import Normalize  # noqa: PLC0415 - seconds

        kwargs = {"dtype": getattr(torch, dtype)}
        if _is_multi_vector(path):
            return MultiVectorEncoder(str(path), local_files_only=True, model_kwargs=kwargs).eval()
        transformer = Transformer(str(path), max_seq_length=max_tokens, model_kwargs=kwargs)
        modules: list[torch.nn.Module] = [transformer]
        if (path / MULTI_VECTOR_HEAD).is_file():
            head = torch.load(path / MULTI_VECTOR_HEAD, map_location="cpu", weights_only=True)
            wide, narrow = head["weight"].shape[1], head["weight"].shape[0]
            dense = Dense(
                wide,
                narrow,
                activation_function=torch.nn.Identity(),
                module_input_name="token_embeddings",
                module_output_name="token_embeddings",
            )
            dense.linear.load_state_dict(head)
            modules.append(dense)
        special = [
            token for token in transformer.tokenizer.all_special_tokens if token != transformer.tokenizer.unk_token
        ]
        modules += [
            MultiVectorMask(skiplist_words=special, skiplist_tasks=["query", "document"]),
            Normalize(module_input_name="token_embeddings"),
        ]
        return MultiVectorEncoder(modules=modules).eval()


def take_tensors(model: MultiVectorEncoder, tensors: Mapping[str, torch.Tensor]) -> None:
    """Puts tensors in the place of a model's own. Raises ValueError for one that the model does not have."""
    unknown = model.load_state_dict(dict(tensors), strict=False).unexpected_keys
    if unknown:
        raise ValueError(f"the model has no {unknown[0]}: its tensors were made with another version of its library")


def _is_multi_vector(path: Path) -> bool:
    """Whether a folder was saved as a multi-vector model: its modules hold a mask, or PyLate or ColBERT made it."""
    modules = path / "modules.json"
    if modules.is_file() and any(
        word in modules.read_text(encoding="utf-8") for word in ("MultiVectorMask", "pylate.models")
    ):
        return True
    return (path / "artifact.metadata").is_file()


def _dim(path: Path) -> int:
    """The length of a token vector, from the files: of the last projection, else the encoder's width."""
    dim = _read(path / "config.json").get("hidden_size")
    if _is_multi_vector(path):
        modules = path / "modules.json"
        for module in json.loads(modules.read_text(encoding="utf-8")) if modules.is_file() else []:
            said = _read(path / module["path"] / "config.json")
            dim = said.get("out_features", said.get("hidden_size", dim))
        dim = _read(path / "artifact.metadata").get("dim", dim)
    if not isinstance(dim, int):
        raise ValueError(f"model folder {path} does not say how long its vectors are (hidden_size in config.json)")
    return dim


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}
