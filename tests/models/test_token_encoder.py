"""Token vectors depend on their text alone, are those of the model, and know which characters they stand for."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_bert import WIDTH, tiny_bert, tiny_colbert

from models.interfaces import TokenVectors
from models.resolve import resolve
from models.token_encoder import LateInteractionEncoder, token_encoder_identity
from models.windowed import WindowedConfig

CONFIG = WindowedConfig("all-MiniLM-L6-v2")
WORDS = st.sampled_from(
    ["I", "went", "to", "the", "market", "8", "May", "Caroline", "日本", "\U0001f600", "naïve", "?"]
)
TEXTS = st.lists(WORDS, max_size=90).map(" ".join)


@pytest.fixture(scope="module")
def encoder() -> LateInteractionEncoder:
    return LateInteractionEncoder(CONFIG)


@pytest.fixture(scope="module")
def colbert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_colbert(tmp_path_factory.mktemp("models") / "colbert")


def by_text(made: TokenVectors, n: int) -> list[tuple[bytes, list[tuple[int, int]]]]:
    """Of each text the bytes of its vectors and the characters that they stand for."""
    return [
        (
            made.vectors[made.text == row].tobytes(),
            list(zip(made.start[made.text == row].tolist(), made.end[made.text == row].tolist(), strict=True)),
        )
        for row in range(n)
    ]


def encoded(encoder: LateInteractionEncoder, texts: list[str]) -> list[tuple[bytes, list[tuple[int, int]]]]:
    return by_text(encoder.encode(texts, "document"), len(texts))


@settings(max_examples=6)
@given(st.lists(TEXTS, min_size=1, max_size=6), st.lists(TEXTS, max_size=20), st.randoms(use_true_random=False))
def test_the_vectors_of_a_text_are_bitwise_the_same_whatever_else_is_in_the_call(
    encoder: LateInteractionEncoder, first: list[str], appended: list[str], random
) -> None:
    alone = encoded(encoder, first)
    assert encoded(encoder, first + appended)[: len(first)] == alone, "appended"
    order = list(range(len(first)))
    random.shuffle(order)
    assert encoded(encoder, [first[place] for place in order]) == [alone[place] for place in order], "shuffled"


def test_they_are_the_last_hidden_states_of_the_model_without_those_of_special_tokens(
    encoder: LateInteractionEncoder,
) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    path = str(resolve(CONFIG.name).path)
    model, tokenizer = AutoModel.from_pretrained(path, dtype=torch.float32).eval(), AutoTokenizer.from_pretrained(path)
    texts = ["Melanie: I went to a LGBTQ support group yesterday!", "日本語のテキスト", "x"]
    made = encoder.encode(texts, "query")
    for row, text in enumerate(texts):
        with torch.inference_mode():
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, 1:-1]
        expected = torch.nn.functional.normalize(states, dim=-1).numpy()
        np.testing.assert_allclose(made.vectors[made.text == row], expected, atol=1e-5)


def test_tokens_stand_for_their_characters_and_a_long_text_is_read_to_its_end(encoder: LateInteractionEncoder) -> None:
    long = " ".join(f"{number} apples" for number in range(400))
    made = encoder.encode(["Kyoto trip!", "", long], "document")
    short = made.text == 0
    spans = list(zip(made.start[short].tolist(), made.end[short].tolist(), strict=True))
    assert "".join("Kyoto trip!"[start:end] for start, end in spans) == "Kyototrip!"
    assert not (made.text == 1).any()
    of_long = made.text == 2
    covered = np.zeros(len(long), np.bool_)
    for start, end in zip(made.start[of_long].tolist(), made.end[of_long].tolist(), strict=True):
        covered[start:end] = True
    assert {long[place] for place in np.flatnonzero(~covered)} == {" "}
    np.testing.assert_allclose(np.linalg.norm(made.vectors, axis=1), 1, atol=1e-6)


def test_no_texts_have_no_vectors(encoder: LateInteractionEncoder) -> None:
    made = encoder.encode([], "query")
    assert (made.text.shape, made.vectors.shape) == ((0,), (0, 384))


def test_a_colbert_model_is_taken_with_its_projection_prompts_and_skip_list(colbert: Path) -> None:
    from sentence_transformers import MultiVectorEncoder

    encoder = LateInteractionEncoder(WindowedConfig(str(colbert), max_tokens=64))
    assert (encoder.dim, encoder.identity.dim) == (8, 8)
    plain = MultiVectorEncoder(str(colbert))
    text = "where is the red kite?"
    for task, expected in (("query", plain.encode_query([text])[0]), ("document", plain.encode_document([text])[0])):
        np.testing.assert_allclose(encoder.encode([text], task).vectors, np.asarray(expected), atol=1e-5)
    asked, said = encoder.encode([text], "query"), encoder.encode([text], "document")
    assert text.index("?") in asked.start
    assert text.index("?") not in said.start, "the skip list holds for turns alone"
    of_prompt = (asked.end == 0) & (asked.start == 0)
    assert asked.start[~of_prompt].tolist() == [0, 6, 9, 13, 17, 21]


def test_a_multi_vector_head_beside_the_encoder_is_applied_as_in_bge_m3(tmp_path: Path) -> None:
    import torch

    folder = tiny_bert(tmp_path / "m3")
    plain = LateInteractionEncoder(WindowedConfig(str(tiny_bert(tmp_path / "plain")), max_tokens=64))
    head = torch.nn.Linear(WIDTH, WIDTH)
    torch.save(head.state_dict(), folder / "colbert_linear.pt")
    encoder = LateInteractionEncoder(WindowedConfig(str(folder), max_tokens=64))
    made, states = encoder.encode(["the red kite"], "document"), plain._model.transformers_model
    tokens = plain._tokenizer("the red kite", return_tensors="pt")
    with torch.inference_mode():
        projected = head(states(**tokens).last_hidden_state[0, 1:-1])
    np.testing.assert_allclose(made.vectors, torch.nn.functional.normalize(projected, dim=-1).numpy(), atol=1e-5)
    assert (encoder.dim, len(made.text)) == (WIDTH, 3)


def test_a_head_of_another_width_than_the_files_say_is_refused(tmp_path: Path) -> None:
    import torch

    folder = tiny_bert(tmp_path / "narrow")
    torch.save(torch.nn.Linear(WIDTH, 4).state_dict(), folder / "colbert_linear.pt")
    with pytest.raises(ValueError, match="makes vectors of 4 values, and its files say 32"):
        LateInteractionEncoder(WindowedConfig(str(folder)))


def test_the_identity_holds_what_decides_the_vectors_and_no_path(colbert: Path, tmp_path: Path) -> None:
    identity = token_encoder_identity(WindowedConfig(str(colbert)))
    assert str(colbert.parent) not in identity.text
    assert json.loads(identity.text)["late_interaction"]["dim"] == 8
    others = {token_encoder_identity(replace(CONFIG, **change)).choice_id for change in ({}, {"max_tokens": 128})}
    assert len({identity.choice_id, *others}) == 3
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "config.json").write_text("{}")
    (empty / "model.safetensors").write_text("")
    with pytest.raises(ValueError, match="does not say how long its vectors are"):
        token_encoder_identity(WindowedConfig(str(empty)))


@pytest.mark.flash
def test_the_identity_needs_no_torch() -> None:
    code = (
        "import sys; from models.token_encoder import token_encoder_identity; "
        "from models.windowed import WindowedConfig; "
        "token_encoder_identity(WindowedConfig('all-MiniLM-L6-v2')); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)
    assert done.stdout == b"False\n"
