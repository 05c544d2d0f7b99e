"""Windows of pairs: what a tokenizer would make of request and turn, and all of a long turn."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from cross_encoders import tiny_tokenizer
from hypothesis import given
from hypothesis import strategies as st

from models.pairs import BLOCK, PairWindows, frame_of, pieces_of
from models.windows import WindowSizes

SIZES = WindowSizes(max_tokens=40)
ROOM = 40 - 3  # [CLS] request [SEP] turn [SEP]

words = st.sampled_from(["bees", "piano", "the", "unheard", "?"])
texts = st.lists(words, max_size=120).map(" ".join)


def unigram_tokenizer():
    """As bge's rerankers have it: pieces that know the blank before them, two marks between the texts, no types."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [*special, "▁", "▁bees", "▁keep", "b", "e", "s", "▁bread", "i", "k", "p", "."]
    made = Tokenizer(models.Unigram([(piece, -float(place)) for place, piece in enumerate(pieces)], unk_id=3))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", unk_token="<unk>", model_input_names=["input_ids", "attention_mask"]
    )


@pytest.fixture(scope="module", params=[tiny_tokenizer, unigram_tokenizer])
def tokenizer(request):
    return request.param()


def windows_of(tokenizer, asked: list[str], told: list[str], pairs: list[tuple[int, int]]) -> PairWindows:
    of_asked, of_told = pieces_of(tokenizer, asked), pieces_of(tokenizer, told)
    return PairWindows(of_asked, of_told, np.array(pairs, np.int64), frame_of(tokenizer), SIZES)


@pytest.mark.flash
def test_a_pair_that_fits_is_what_the_tokenizer_makes_of_it(tokenizer) -> None:
    asked, told = ["what about bees ?", ""], ["i keep bees .", "bread", ""]
    pairs = [(1, 2), (0, 0), (0, 1), (0, 2), (1, 0)]
    windows = windows_of(tokenizer, asked, told, pairs)
    assert windows.first.tolist() == [0, 1, 2, 3, 4]
    for number, (request, turn) in enumerate(pairs):
        (expected,) = tokenizer([asked[request]], [told[turn]])["input_ids"]
        (types,) = tokenizer([asked[request]], [told[turn]], return_token_type_ids=True)["token_type_ids"]
        assert windows.ids(number).tolist() == expected
        assert windows.types(number).tolist() == types
        assert windows.lengths[number] == len(expected)


@pytest.mark.flash
@given(texts, texts)
def test_a_long_turn_is_read_whole_in_overlapping_windows_beside_the_head_of_its_request(asked: str, told: str) -> None:
    tokenizer = tiny_tokenizer()
    windows = windows_of(tokenizer, [asked], [told], [(0, 0)])
    head = tokenizer(asked, add_special_tokens=False)["input_ids"][: ROOM // 2]
    prefix = [*tokenizer("")["input_ids"][:1], *head, tokenizer.sep_token_id]
    made = [windows.ids(number).tolist() for number in range(len(windows.lengths))]
    assert [len(window) for window in made] == windows.lengths.tolist()
    assert all(window[: len(prefix)] == prefix and window[-1] == tokenizer.sep_token_id for window in made)
    assert all(len(window) == SIZES.max_tokens for window in made[:-1])
    parts = [window[len(prefix) : -1] for window in made]
    read = parts[0] + [piece for part in parts[1:] for piece in part[SIZES.overlap :]]
    assert read == tokenizer(told, add_special_tokens=False)["input_ids"]
    assert all(before[-SIZES.overlap :] == after[: SIZES.overlap] for before, after in pairwise(parts))


@pytest.mark.flash
def test_texts_beyond_a_block_have_their_own_pieces(tokenizer) -> None:
    many = [" ".join(["bees"] * (number % 3)) for number in range(2 * BLOCK + 5)]
    pieces = pieces_of(tokenizer, many)
    assert pieces.lengths.tolist() == [number % 3 for number in range(len(many))]
    assert pieces.start.tolist() == [0, *np.cumsum(pieces.lengths)[:-1]]
    assert len(pieces.ids) == pieces.lengths.sum()
