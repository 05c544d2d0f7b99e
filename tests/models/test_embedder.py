"""The embedder: a text's vectors depend on that text alone, and are those of the model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.embedder import SentenceEmbedder, embedder_identity
from models.resolve import resolve
from models.windowed import WindowedConfig
from models.windows import windows_of
from pipeline.text import sanitise_text

CONFIG = WindowedConfig("all-MiniLM-L6-v2")

LOAD_WITHOUT_NETWORK = """
import socket
def refuse(*args, **kwargs):
    raise AssertionError("a network connection was tried")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
from models.embedder import SentenceEmbedder
from models.windowed import WindowedConfig
rows, vectors = SentenceEmbedder(WindowedConfig("all-MiniLM-L6-v2")).embed_windows(["hello"])
print(vectors.shape)
"""

words = st.sampled_from(
    ["I", "went", "to", "the", "market", "8", "May", "Caroline", "pottery", "日本", "\U0001f600", "naïve"]
)
texts = st.lists(words, max_size=90).map(" ".join)


@pytest.fixture(scope="module")
def embedder() -> SentenceEmbedder:
    return SentenceEmbedder(CONFIG)


def bytes_of(embedder: SentenceEmbedder, texts: list[str]) -> list[bytes]:
    """The bytes of each text's vectors."""
    rows, vectors = embedder.embed_windows(texts)
    return [vectors[rows == row].tobytes() for row in range(len(texts))]


@settings(max_examples=12, deadline=None)
@given(st.lists(texts, min_size=1, max_size=20), st.lists(texts, max_size=20), st.randoms(use_true_random=False))
def test_a_text_s_vectors_are_bitwise_the_same_whatever_else_is_in_the_call(embedder, first, appended, random) -> None:
    alone = bytes_of(embedder, first)
    assert bytes_of(embedder, first + appended)[: len(first)] == alone, "appended"
    order = list(range(len(first)))
    random.shuffle(order)
    assert bytes_of(embedder, [first[place] for place in order]) == [alone[place] for place in order], "shuffled"
    some = order[: max(1, len(order) // 2)]
    assert bytes_of(embedder, [first[place] for place in some]) == [alone[place] for place in some], "a part"


def test_full_windows_beside_padded_ones_and_other_thread_counts_change_no_bit(embedder: SentenceEmbedder) -> None:
    import torch

    mixed = ["market " * length for length in (20, 30, 31, 60, 62, 126, 254, 254, 400, 1)] * 4
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        expected = bytes_of(embedder, mixed)
        for number in (2, 3):
            torch.set_num_threads(number)
            assert bytes_of(embedder, mixed) == expected, f"{number} threads"
    finally:
        torch.set_num_threads(threads)
    assert bytes_of(embedder, ["market " * 254] * 16) == [expected[6]] * 16, "a batch without any padding"


def test_short_texts_get_the_vectors_of_sentence_transformers(embedder: SentenceEmbedder) -> None:
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(str(resolve(CONFIG.name).path), device="cpu")
    short = [
        "hello world",
        "Melanie: I went to a LGBTQ support group yesterday!",
        "日本語のテキスト",
        "",
        "word " * 200,
    ]
    rows, vectors = embedder.embed_windows(short)
    assert rows.tolist() == [0, 1, 2, 3, 4]
    cosines = (vectors * plain.encode(short)).sum(axis=1)
    assert cosines.min() > 0.9999


def test_a_long_text_is_read_whole_in_overlapping_windows(embedder: SentenceEmbedder) -> None:
    long = " ".join(f"{number} apples" for number in range(400))
    encoded = windows_of(embedder._tokenizer, ["short", long, "short"], CONFIG.sizes)
    rows, windows = encoded["overflow_to_sample_mapping"], encoded["input_ids"]
    assert rows == [0, *[1] * (len(windows) - 2), 2]
    pieces = [window[1:-1] for window in windows[1:-1]]
    read = pieces[0] + [piece for window in pieces[1:] for piece in window[CONFIG.sizes.overlap :]]
    assert read == embedder._tokenizer(long, add_special_tokens=False, truncation=False)["input_ids"]
    assert {len(window) for window in windows[1:-2]} == {CONFIG.max_tokens}


def test_what_stands_at_the_end_of_a_long_text_is_found(embedder: SentenceEmbedder) -> None:
    filler = "The weather was fine and we talked about the garden. " * 60
    rows, vectors = embedder.embed_windows(
        ["Where did I leave my passport?", f"{filler} I left my passport in Oslo.", filler]
    )
    best = [float((vectors[rows == row] @ vectors[0]).max()) for row in (1, 2)]
    assert best[0] > best[1] + 0.1


def test_vectors_have_unit_length_and_no_texts_have_none(embedder: SentenceEmbedder) -> None:
    rows, vectors = embedder.embed_windows([])
    assert (rows.shape, vectors.shape) == ((0,), (0, 384))
    _, vectors = embedder.embed_windows(["", "a", "\U0001f600" * 5, "x" * 50_000])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "a lone \ud800",
            "\udfff",
            "a\x00b",
            "\x00",
            "<|endoftext|>",
            "[CLS] [SEP] [PAD] [MASK]",
            "\U0001f469\u200d\U0001f467",
        ),
        *("שלום \u202eمرحبا\u202c", "e\u0301" + "z" + "\u0301" * 500, "\u2028\x0b\x85\ufeff\u200b", "\ufffd" * 600),
    ],
)
def test_a_text_that_crashes_embedders_has_vectors_like_any_other_once_it_is_sanitised(
    embedder: SentenceEmbedder, text: str
) -> None:
    rows, vectors = embedder.embed_windows(["before", sanitise_text(text), "after"])
    assert set(rows) == {0, 1, 2}
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_vector_that_is_not_finite_is_computed_again_alone_and_stays_if_that_fails(
    embedder: SentenceEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from models import embedder as module

    expected = bytes_of(embedder, ["good", "bad"])
    forward, alone = module._forward, []

    def broken(model, tokenizer, ids, mask):
        vectors = forward(model, tokenizer, ids, mask)
        if model.dtype == torch.float64:
            alone.append(ids.shape)
        if model.dtype == torch.float32 or stays:
            vectors[(ids == tokenizer.convert_tokens_to_ids("bad")).any(axis=1)] = np.nan
        return vectors

    monkeypatch.setattr(module, "_forward", broken)
    stays = False
    found = bytes_of(embedder, ["good", "bad"])
    assert found[0] == expected[0]
    np.testing.assert_allclose(np.frombuffer(found[1], np.float32), np.frombuffer(expected[1], np.float32), atol=1e-6)
    assert alone == [(1, 3)]
    stays = True
    _, vectors = embedder.embed_windows(["good", "bad"])
    assert np.isfinite(vectors[0]).all()
    assert np.isnan(vectors[1]).all()


@pytest.mark.flash
def test_the_identity_holds_what_decides_the_vectors_and_no_path(tmp_path: Path) -> None:
    identity = embedder_identity(CONFIG)
    about = json.loads(identity.text)
    assert about["pad_lengths"] == [32, 64, 128, 256]
    assert (about["name"], about["dtype"], about["batch_size"]) == ("all-MiniLM-L6-v2", "float32", 16)
    assert len(about["weights"]) == 64
    assert identity.dim == 384
    assert identity.choice_id.startswith("all-MiniLM-L6-v2-")
    assert embedder_identity(replace(CONFIG, name="sentence-transformers/all-MiniLM-L6-v2")) == identity
    others = {
        embedder_identity(replace(CONFIG, **change)).choice_id for change in ({"max_tokens": 128}, {"batch_size": 8})
    }
    assert len({identity.choice_id, *others}) == 3
    linked = tmp_path / "my model"
    linked.symlink_to(resolve(CONFIG.name).path)
    local = embedder_identity(replace(CONFIG, name=str(linked)))
    assert str(tmp_path) not in local.text
    assert local.choice_id.startswith("my-model-")


@pytest.mark.flash
def test_sizes_that_make_no_window_are_refused_and_the_last_pad_length_is_the_window() -> None:
    assert WindowedConfig("m", max_tokens=100).sizes.pad_lengths == (32, 64, 100)
    assert WindowedConfig("m", max_tokens=32).sizes.pad_lengths == (32,)
    for sizes in ({"max_tokens": 31}, {"batch_size": 0}):
        with pytest.raises(ValueError, match="max_tokens >= 32 and batch_size >= 1"):
            WindowedConfig("m", **sizes)


@pytest.mark.flash
def test_the_identity_needs_no_torch() -> None:
    code = (
        "import sys; from models.embedder import embedder_identity; from models.windowed import WindowedConfig; "
        "embedder_identity(WindowedConfig('all-MiniLM-L6-v2')); print('torch' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60).stdout == b"False\n"
    )


def test_loading_reaches_no_network_and_says_nothing() -> None:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))}
    done = subprocess.run(
        [sys.executable, "-c", LOAD_WITHOUT_NETWORK],
        env=inherited,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == ("(1, 384)\n", "")
