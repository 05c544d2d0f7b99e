"""Tuning changes the upper layers alone, towards the evidence, and comes out the same each time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiny_bert import tiny_bert

from models.finetune import Example, FinetuneParams, finetune, share_of_rate, token_vectors
from models.finetune_check import mean_reciprocal_rank
from models.resolve import resolve
from models.token_encoder import load_multi_vector
from models.windows import WindowSizes

PARAMS = FinetuneParams(layers=1, epochs=2, batch_size=4, learning_rate=3e-3, negatives=1, max_tokens=32)
EXAMPLES = [
    Example("where is the kite?", "red kite", ("blue lamp", "a moss"), (0.1, 0.1, 0.1, 2.0)),
    Example("where is my lamp?", "the lamp . is blue", ("red drum",), (0.1, 0.1, 0.1, 2.0, 0.1)),
    Example("where is the moss?", "moss fern", ("my kite",), ()),
    Example("where is the moss?", "a red moss", ("my kite",), ()),
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("models") / "base", layers=3)


def test_only_the_upper_layers_change_and_equal_examples_give_equal_tensors(base: Path) -> None:
    before = load_multi_vector(base, PARAMS.max_tokens).state_dict()
    tuned, again = finetune(base, EXAMPLES, PARAMS), finetune(base, EXAMPLES, PARAMS)
    assert {name.split("encoder.layer.")[1].split(".")[0] for name in tuned} == {"2"}
    assert all(name in before and not tensor.equal(before[name]) for name, tensor in tuned.items())
    assert all(tensor.equal(again[name]) for name, tensor in tuned.items())
    other = finetune(base, EXAMPLES, PARAMS.model_copy(update={"seed": 1}))
    assert not all(tensor.equal(other[name]) for name, tensor in tuned.items())


def test_evidence_comes_to_stand_before_its_negatives() -> None:
    # The words of the negatives are those of the request: nothing but learning puts the evidence first.
    hard = [
        Example("where is the kite?", "a blue drum", ("where is the kite ?", "the kite is here"), ()),
        Example("where is my lamp?", "red fern", ("where is my lamp ?", "my lamp is mine"), ()),
    ]
    model = resolve("all-MiniLM-L6-v2").path
    tensors = finetune(model, hard, FinetuneParams(epochs=10, batch_size=2, learning_rate=5e-4, negatives=2))
    before, after = (mean_reciprocal_rank(model, state, hard, WindowSizes(32)) for state in ({}, tensors))
    assert before == pytest.approx(1 / 3)
    assert after >= 0.5


def test_texts_are_read_as_each_alone_whatever_their_lengths(base: Path) -> None:
    model = load_multi_vector(base, PARAMS.max_tokens)
    texts = ["red kite " * repeated for repeated in (5, 1, 9, 2, 7, 3, 8, 4, 6, 12)]
    together, mask = token_vectors(model, texts, "document", PARAMS.max_tokens)
    assert mask.sum(1).tolist() == [10, 2, 18, 4, 14, 6, 16, 8, 12, 24]
    for row, text in enumerate(texts):
        alone, places = token_vectors(model, [text], "document", PARAMS.max_tokens)
        assert together[row][mask[row]].allclose(alone[0][places[0]], atol=1e-5)


@pytest.mark.flash
@pytest.mark.parametrize("total", range(1, 21))
def test_the_rate_rises_at_first_and_falls_to_the_end_however_few_the_steps(total: int) -> None:
    shares = [share_of_rate(step, total) for step in range(total)]
    top = shares.index(max(shares))
    assert all(0 < share <= 1 for share in shares)
    assert shares == sorted(shares[: top + 1]) + sorted(shares[top + 1 :], reverse=True)
    assert share_of_rate(total, total) == 0


def test_the_rank_of_evidence_counts_ties_against_it(base: Path) -> None:
    same = Example("where is the kite?", "red kite", ("red kite", "red kite"), ())
    assert mean_reciprocal_rank(base, {}, [same], WindowSizes(32)) == pytest.approx(1 / 3)
    alone = Example("where is the kite?", "red kite", (), ())
    assert mean_reciprocal_rank(base, {}, [same, alone], WindowSizes(32)) == pytest.approx((1 / 3 + 1) / 2)
    assert np.isnan(mean_reciprocal_rank(base, {}, [], WindowSizes(32)))


def test_what_cannot_be_tuned_is_refused(base: Path) -> None:
    with pytest.raises(ValueError, match="no examples"):
        finetune(base, [], PARAMS)
    with pytest.raises(ValueError, match="has 3 layers, not 4"):
        finetune(base, EXAMPLES, PARAMS.model_copy(update={"layers": 4}))
