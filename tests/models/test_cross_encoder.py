"""The cross-encoder: a pair's score depends on that pair alone, and is the model's."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cross_encoders import TOPICS, tiny_cross_encoder, trained_cross_encoder
from hypothesis import given, settings
from hypothesis import strategies as st

from models.cross_encoder import CrossEncoderScorer, NoCrossEncoder, cross_encoder_identity
from models.windowed import WindowedConfig

MAX_TOKENS = 64
ROOM = MAX_TOKENS - 3  # [CLS] request [SEP] turn [SEP]

words = st.sampled_from([*TOPICS, "what", "about", "the", "i", "keep", "my", "?", "unheard"])
texts = st.lists(words, max_size=150).map(" ".join)
some_texts = st.lists(texts, min_size=1, max_size=6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return trained_cross_encoder(tmp_path_factory.mktemp("trained") / "tiny")


@pytest.fixture(scope="module")
def scorer(folder: Path) -> CrossEncoderScorer:
    return CrossEncoderScorer(WindowedConfig(str(folder), MAX_TOKENS))


def scores_of(scorer: CrossEncoderScorer, pairs: list[tuple[str, str]]) -> list[float]:
    numbers = np.arange(len(pairs))
    return scorer.score(
        [asked for asked, _ in pairs], [told for _, told in pairs], np.stack([numbers, numbers], axis=1)
    ).tolist()


@settings(max_examples=15, deadline=None)
@given(some_texts, some_texts, st.data())
def test_a_score_is_bitwise_the_same_whatever_else_is_in_the_call_and_in_any_order(scorer, asked, told, data) -> None:
    every = np.array([(request, turn) for request in range(len(asked)) for turn in range(len(told))])
    expected = scorer.score(asked, told, every)
    chosen = data.draw(st.lists(st.integers(0, len(every) - 1), min_size=1, max_size=len(every), unique=True))
    assert scorer.score(asked, told, every[chosen]).tobytes() == expected[chosen].tobytes(), "some, shuffled"
    alone = every[chosen[0]]
    found = scorer.score([asked[alone[0]]], [told[alone[1]]], np.zeros((1, 2), np.int64))
    assert found.tobytes() == expected[chosen[:1]].tobytes(), "alone"


def test_other_thread_counts_change_no_bit(scorer) -> None:
    import torch

    pairs = [(f"what about the {topic} ?", "i keep my bees " * length) for topic in TOPICS for length in (1, 5, 9, 40)]
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        expected = scores_of(scorer, pairs)
        torch.set_num_threads(3)
        assert scores_of(scorer, pairs) == expected
    finally:
        torch.set_num_threads(threads)


def test_scores_are_the_logits_of_sentence_transformers(scorer, folder: Path) -> None:
    import torch
    from sentence_transformers import CrossEncoder

    pairs = [(f"what about the {asked} ?", f"{told} unheard of .") for asked in TOPICS for told in (*TOPICS, "")]
    plain = CrossEncoder(str(folder), device="cpu").predict(pairs, activation_fn=torch.nn.Identity())
    np.testing.assert_allclose(scores_of(scorer, pairs), plain, atol=1e-4)


def test_a_trained_one_puts_the_turn_that_shares_its_topic_first(scorer) -> None:
    for asked in TOPICS:
        scores = scores_of(scorer, [(f"what did i say about the {asked} ?", f"i keep my {told} .") for told in TOPICS])
        assert TOPICS[int(np.argmax(scores))] == asked
        assert sorted(scores)[-1] > 0 > sorted(scores)[-2]


def test_a_long_turn_has_the_score_of_its_best_window(scorer) -> None:
    asked, told = "what about the bees ?", ["the"] * 40 + ["bees"] + ["my"] * 80 + ["piano"] * 3
    size = ROOM - len(asked.split())
    step = size - MAX_TOKENS // 8
    windows = [" ".join(told[start : start + size]) for start in range(0, len(told) - MAX_TOKENS // 8, step)]
    assert len(windows) == 3
    of_windows = scores_of(scorer, [(asked, window) for window in windows])
    assert len(set(of_windows)) == 3
    assert scores_of(scorer, [(asked, " ".join(told))]) == [max(of_windows)]


def test_a_request_longer_than_half_the_room_is_cut_to_its_first_half_of_it(scorer) -> None:
    asked, told = ["bees", "the", "piano", "?"] * 30, "i keep my bees ."
    long, cut, shorter = scores_of(scorer, [(" ".join(asked[:length]), told) for length in (120, ROOM // 2, ROOM // 3)])
    assert long == cut != shorter


def test_half_precision_gives_about_the_same_scores_alike_in_any_company(folder: Path, scorer) -> None:
    half = CrossEncoderScorer(replace(scorer.config, dtype="bfloat16"))
    pairs = [(f"what about the {asked} ?", f"{told} unheard of .") for asked in TOPICS for told in TOPICS]
    scores = scores_of(half, pairs)
    np.testing.assert_allclose(scores, scores_of(scorer, pairs), atol=0.5)
    assert scores_of(half, pairs[::-1]) == scores[::-1]


def test_no_pairs_have_no_scores(scorer) -> None:
    found = scorer.score([], [], np.zeros((0, 2), np.int64))
    assert (found.shape, found.dtype) == ((0,), np.float32)


def test_a_window_that_is_not_finite_leaves_its_pair_without_a_score_and_no_other(folder: Path) -> None:
    scorer = CrossEncoderScorer(WindowedConfig(str(folder), MAX_TOKENS))
    pairs = [("what about the bees ?", told) for told in ("my bees", "bread", "my " * 100 + "piano", "the piano")]
    before = scores_of(scorer, pairs)
    embedding = scorer._model[0].model.bert.embeddings.word_embeddings.weight
    embedding.data[scorer._tokenizer.convert_tokens_to_ids("piano")] = np.inf
    after = scores_of(scorer, pairs)
    assert after[:2] == before[:2]
    assert np.isfinite(before).all()
    assert np.isnan(after[2:]).all()


@pytest.mark.flash
def test_the_identity_holds_what_decides_the_scores_and_no_path(tmp_path: Path) -> None:
    folder = tiny_cross_encoder(tmp_path / "my model")
    config = WindowedConfig(str(folder), MAX_TOKENS)
    identity = cross_encoder_identity(config)
    about = json.loads(identity.text)
    assert (about["pad_lengths"], about["batch_size"]) == ([32, 64], 16)
    assert (about["cross_encoder"]["name"], about["cross_encoder"]["dtype"]) == ("my model", "float32")
    assert str(tmp_path) not in identity.text
    assert identity.choice_id.startswith("my-model-")
    trained = trained_cross_encoder(tmp_path / "other" / "my model")
    changes = ({"max_tokens": 32}, {"batch_size": 8}, {"dtype": "bfloat16"}, {"name": str(trained)})
    others = {cross_encoder_identity(replace(config, **change)).text for change in changes}
    assert len({identity.text, *others}) == 5


@pytest.mark.flash
def test_the_identity_needs_no_torch(tmp_path: Path) -> None:
    folder = tiny_cross_encoder(tmp_path / "tiny")
    code = (
        "import sys; from models.cross_encoder import cross_encoder_identity; "
        "from models.windowed import WindowedConfig; "
        f"cross_encoder_identity(WindowedConfig({str(folder)!r}, 64)); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)
    assert done.stdout == b"False\n"


@pytest.mark.flash
def test_a_model_whose_head_nobody_trained_or_of_several_labels_or_shorter_windows_is_refused(tmp_path: Path) -> None:
    folder = tiny_cross_encoder(tmp_path / "tiny")
    three = tiny_cross_encoder(tmp_path / "three", labels=3)
    for config, message in (
        (WindowedConfig("all-MiniLM-L6-v2", 256), "no cross-encoder: .* BertModel"),
        (WindowedConfig(str(three), 64), "no cross-encoder: .* 3 labels"),
        (WindowedConfig(str(folder), 512), "128 word pieces at most"),
    ):
        with pytest.raises(NoCrossEncoder, match=message):
            cross_encoder_identity(config)
