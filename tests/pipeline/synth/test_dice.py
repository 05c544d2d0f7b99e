import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.synth.dice import Dice

pytestmark = pytest.mark.flash
GOLDEN_DRAWS = [811, 486, 268, 85, 374]


def test_the_same_seed_draws_the_same_for_ever():
    dice = Dice("golden")
    assert [dice.below(1000) for _ in range(5)] == GOLDEN_DRAWS


@given(st.text(max_size=8), st.lists(st.integers(), max_size=12), st.integers(0, 15))
def test_a_sample_has_no_item_twice_and_is_as_large_as_it_can_be(seed, items, n):
    drawn = Dice(seed).sample(list(enumerate(items)), n)
    assert len(drawn) == len(set(drawn)) == min(n, len(items))
    assert set(drawn) <= set(enumerate(items))


@given(st.text(max_size=8), st.integers(-5, 5), st.integers(0, 9))
def test_between_includes_both_ends_and_nothing_beyond(seed, low, width):
    dice = Dice(seed)
    drawn = {dice.between(low, low + width) for _ in range(200)}
    assert drawn <= set(range(low, low + width + 1))
    if width <= 2:
        assert drawn == set(range(low, low + width + 1))


def test_weighted_never_draws_a_weight_of_zero_and_follows_the_others():
    dice = Dice("weights")
    drawn = [dice.weighted((("never", 0), ("often", 3), ("seldom", 1))) for _ in range(2000)]
    assert drawn.count("never") == 0
    assert 0.7 < drawn.count("often") / 2000 < 0.8
