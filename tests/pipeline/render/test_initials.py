from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.render.initials import initials

pytestmark = pytest.mark.flash

KNOWN = ["C", "c", "Ca", "Caroline", "Charlie", "CAROLINE", "John", "John Smith", "Jane", "Jean-Baptiste", "JS", "J S"]
ODD = [
    "user",
    "a,b",
    "a=b",
    "a:b",
    "a\nb",
    "#x",
    "3rd",
    "",
    "\u5c0f\u660e",
    "\u5c0f\u7ea2",
    "Zo\u00eb",
    "\u00df",
    "\U0001f642",
]
NAMES = st.lists(st.sampled_from(KNOWN + ODD) | st.text(max_size=6), max_size=8)


@given(NAMES)
def test_initials_are_distinct_letters_with_which_no_other_name_begins(names):
    found = initials(names)
    assert set(found) <= set(names)
    assert len({short.casefold() for short in found.values()}) == len(found)
    for name, short in found.items():
        assert short.isalpha()
        assert len(short) <= 3
        assert not any(other.casefold().startswith(short.casefold()) for other in names if other != name)


@given(NAMES, st.randoms(use_true_random=False))
def test_the_order_of_names_changes_nothing(names, random):
    shuffled = list(names)
    random.shuffle(shuffled)
    assert initials(shuffled) == initials(names)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Caroline", "Melanie"], {"Caroline": "C", "Melanie": "M"}),
        (["Caroline", "Charlie"], {"Caroline": "Ca", "Charlie": "Ch"}),
        (["Caroline", "C"], {"Caroline": "Ca"}),
        (["John", "John Smith"], {"John Smith": "JS"}),
        (["Ana Lund", "Ana Berg"], {"Ana Berg": "AB", "Ana Lund": "AL"}),
        (["Jean-Baptiste", "Jane"], {"Jane": "Ja", "Jean-Baptiste": "JB"}),
        (["Ana", "ANA"], {}),
        (["\u738b\u5c0f\u660e", "\u674e\u5a1c"], {"\u738b\u5c0f\u660e": "\u738b", "\u674e\u5a1c": "\u674e"}),
        (["\u0418\u0432\u0430\u043d"], {"\u0418\u0432\u0430\u043d": "\u0418"}),
        (["Ana, B = Bob", "Ana:", "A\nB", "", " ", "#1", "3rd"], {}),
    ],
)
def test_the_shortest_that_mean_no_other_are_found(names, expected):
    assert initials(names) == expected
