from __future__ import annotations

import numpy as np
import pytest

from pipeline.recall.late.words import words_of_tokens

pytestmark = pytest.mark.flash


def words(text: str, *spans: tuple[int, int]) -> list[str]:
    start, end = np.array(spans, np.int64).reshape(-1, 2).T
    return words_of_tokens([text], np.zeros(len(spans), np.int64), start, end)


@pytest.mark.parametrize(
    ("text", "spans", "found"),
    [
        ("unheard of", [(0, 2), (2, 7), (8, 10)], ["unheard", "unheard", "of"]),
        ("John's, O’Brien", [(0, 4), (4, 5), (5, 6), (6, 7), (8, 15)], ["John's", "John's", "John's", "", "O’Brien"]),
        ("'quoted' 'n", [(0, 1), (1, 7), (7, 8), (10, 11)], ["", "quoted", "", "n"]),
        ("a b", [(0, 1), (1, 3)], ["a", "b"]),
        ("a b", [(1, 2), (0, 0), (3, 3)], ["", "", ""]),
        ("我喜歡 Kyoto", [(0, 1), (1, 3), (4, 9)], ["我", "喜歡", "Kyoto"]),
        ("コーヒー", [(0, 2), (2, 4)], ["コー", "ヒー"]),
        ("cafe\u0301 3.5", [(0, 5), (6, 7), (7, 8), (8, 9)], ["cafe\u0301", "3", "", "5"]),
        ("강아지의", [(0, 3), (3, 4)], ["강아지의", "강아지의"]),
        ("🙂", [(0, 1)], [""]),
    ],
)
def test_a_token_belongs_to_the_word_that_it_starts_in(
    text: str, spans: list[tuple[int, int]], found: list[str]
) -> None:
    assert words(text, *spans) == found


def test_offsets_are_of_each_token_s_own_text() -> None:
    found = words_of_tokens(["ab cd", "", "xy"], np.array([0, 0, 2]), np.array([0, 3, 0]), np.array([2, 5, 2]))
    assert found == ["ab", "cd", "xy"]
