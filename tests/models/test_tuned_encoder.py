"""A tuned encoder comes back as it was saved, and reads each history by the variant that did not learn from it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_bert import tiny_bert

from models.finetune import FinetuneParams
from models.token_encoder import LateInteractionEncoder, load_multi_vector
from models.tuned_encoder import (
    ABOUT_FILE,
    OF_ALL,
    TunedEncoder,
    TunedEncoderError,
    TunedTokenEncoder,
    open_tuned,
    save_tuned,
)
from models.windowed import WindowedConfig

LAYER = "encoder.layer.1."
TEXTS = ["red kite", "where is the moss?"]
FOLDS = {"ann": "fold-0", "bob": "fold-1"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> WindowedConfig:
    return WindowedConfig(str(tiny_bert(tmp_path_factory.mktemp("models") / "base")), max_tokens=32)


def tensors_of(base: WindowedConfig, shift: float) -> dict[str, torch.Tensor]:
    state = load_multi_vector(Path(base.name), 32).state_dict()
    return {name: tensor + shift * torch.sign(tensor) for name, tensor in state.items() if LAYER in name}


@pytest.fixture
def tuned(base: WindowedConfig, tmp_path: Path) -> TunedEncoder:
    variants = {name: tensors_of(base, shift) for name, shift in ((OF_ALL, 0.3), ("fold-0", 0.1), ("fold-1", -0.1))}
    return save_tuned(tmp_path / "tuned", base, FinetuneParams(), variants, FOLDS, {"gain": 0.5})


def test_what_was_saved_is_opened_again(tuned: TunedEncoder) -> None:
    assert open_tuned(tuned.folder) == tuned
    assert (tuned.fold_of, tuned.metrics, tuned.params) == (FOLDS, {"gain": 0.5}, FinetuneParams())
    assert (tuned.identity.dim, set(tuned.files)) == (32, {OF_ALL, "fold-0", "fold-1"})
    assert str(tuned.folder) not in tuned.identity.text


def test_the_identity_changes_with_the_tensors_and_with_who_is_read_by_which(
    tuned: TunedEncoder, base: WindowedConfig, tmp_path: Path
) -> None:
    variants = {name: tensors_of(base, 0.2) for name in (OF_ALL, "fold-0", "fold-1")}
    other = save_tuned(tmp_path / "other", base, FinetuneParams(), variants, FOLDS, {})
    moved = replace(tuned, fold_of={"ann": "fold-1", "bob": "fold-0"})
    assert len({each.identity.choice_id for each in (tuned, other, moved)}) == 3
    assert replace(tuned, metrics={}).identity == tuned.identity


def test_a_history_is_read_by_the_variant_that_left_it_out_and_a_new_one_by_that_of_all(
    tuned: TunedEncoder, base: WindowedConfig
) -> None:
    encoder = TunedTokenEncoder(tuned)
    plain = LateInteractionEncoder(base)
    expected = {}
    for variant, shift in ((OF_ALL, 0.3), ("fold-0", 0.1), ("fold-1", -0.1)):
        plain._model.load_state_dict(tensors_of(base, shift), strict=False)
        expected[variant] = plain.encode(TEXTS, "document").vectors
    for history, variant in (("ann", "fold-0"), ("bob", "fold-1"), ("new", OF_ALL), ("ann", "fold-0")):
        reader = encoder.of_history(history)
        assert reader is encoder.of_history(history)
        assert reader.of_history("anybody") is reader
        assert reader.encode(TEXTS, "document").vectors.tobytes() == expected[variant].tobytes()
    assert np.array_equal(encoder.encode(TEXTS, "document").vectors, expected[OF_ALL])


def test_a_tensor_file_that_was_changed_is_refused(tuned: TunedEncoder) -> None:
    file = tuned.folder / "fold-0.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"\x00")
    with pytest.raises(TunedEncoderError, match=r"fold-0\.safetensors was changed"):
        TunedTokenEncoder(tuned)


def test_a_folder_of_something_else_is_refused_with_what_to_do(
    tuned: TunedEncoder, base: WindowedConfig, tmp_path: Path
) -> None:
    with pytest.raises(TunedEncoderError, match="finetune LAKE` makes one"):
        open_tuned(tmp_path)
    about = tuned.folder / ABOUT_FILE
    told = json.loads(about.read_text())
    for change, said in (
        ({"format_version": 0}, "another slatemill"),
        ({"base_weights": "0" * 64}, "tuned on another"),
    ):
        about.write_text(json.dumps({**told, **change}))
        with pytest.raises(TunedEncoderError, match=said):
            open_tuned(tuned.folder)
