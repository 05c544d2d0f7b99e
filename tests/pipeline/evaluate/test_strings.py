"""Strings that a memory may have to keep, files, and where they stand."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.strings import files, holding, longest, stands_in, strings

pytestmark = pytest.mark.flash
TEXTS = st.lists(st.text(alphabet="ab1_. /", max_size=12), max_size=5)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sed -n '29,55p' src/app/view.py", {"29,55p", "src/app/view.py", "view.py", "55p"}),
        ("pytest tests/test_a.py::test_b -q", {"tests/test_a.py::test_b", "tests/test_a.py", "test_a.py::test_b",
                                               "test_a", "test_b"}),
        ('grep "page size: 20" conf', {"page size: 20"}),
        ("retry with req-341fb5 after 1200 ms", {"req-341fb5", "341fb5", "1200"}),
        ("mail to nils.abara@example.org", {"nils.abara@example.org"}),
        ("maxDepth = load_all()", {"maxDepth", "load_all"}),
        ("pay 39.25 of 75", {"39.25"}),
        ("look for the old settings", set()),
        ("a 12 b2 '' \"no\"", set()),
    ],
)  # fmt: skip
def test_names_of_code_paths_quoted_values_and_numbers_are_strings_and_plain_words_are_none(text, found) -> None:
    assert set(strings(text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cat ./src/a.py README.md", ["src/a.py", "README.md"]),
        ("path=/repo/src/a.py view_range=[1, 20]", ["/repo/src/a.py"]),
        ("diff --git a/src/x.py b/src/x.py", ["src/x.py"]),
        ("see https://example.org/page.html and os.path", []),
        ("src/x.py:12: x", ["src/x.py"]),
        ("ls src/*.py --all.md .gitignore data/out.parquet.", ["data/out.parquet"]),
    ],
)
def test_files_have_an_extension_and_a_folder_or_a_known_kind(text, found) -> None:
    assert files(text) == found


def test_a_string_stands_where_no_letter_digit_or_underscore_goes_on() -> None:
    assert stands_in("load_a", "load_all() then load_a(")
    assert not stands_in("load_a", "load_all() pre_load_a")
    assert stands_in("/tmp/", "ls /tmp/x")
    assert stands_in("a.py", "src/a.py")


def test_of_strings_in_each_other_the_longest_stay() -> None:
    assert longest(["src/a.py", "a.py", "src/a.py::b", "c_d"]) == ["src/a.py::b", "c_d"]


@given(TEXTS, st.lists(st.text(alphabet="ab1_. /", min_size=1, max_size=4), max_size=4))
def test_the_places_are_those_that_looking_into_every_text_finds(texts: list[str], wanted: list[str]) -> None:
    wanted = [string for string in wanted if re.search(r"\w", string)]
    slow = {string: [at for at, text in enumerate(texts) if stands_in(string, text)] for string in wanted}
    assert holding(texts, wanted) == slow


@given(st.text(alphabet="ab_ .", max_size=12), st.text(alphabet="ab_.", min_size=1, max_size=3))
def test_whole_tokens_are_what_a_search_with_borders_finds(text: str, string: str) -> None:
    before = r"(?<!\w)" if re.match(r"\w", string) else ""
    after = r"(?!\w)" if re.match(r"\w", string[-1]) else ""
    assert stands_in(string, text) == bool(re.search(before + re.escape(string) + after, text))
