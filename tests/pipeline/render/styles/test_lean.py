from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.tokens import token_counter
from pipeline.render.slate_text import Shown, line_spans, render
from pipeline.render.styles.lean import lean

pytestmark = pytest.mark.flash
COUNTER = token_counter("o200k_base")
LEAN = lean(COUNTER)
TIME = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
LONG = ["Oluwaseun Adeyemi", "Jean-Baptiste Moreau"]
PLAIN = ["Oluwaseun Balogun", "O", "Ana", "user", "\u738b\u5c0f\u660e"]
ODD = ["", " ", "Ana\n# 8 May 2023", "X = Ana, Y = Bob", "Dr: Who", "#"]
NAMES = st.sampled_from(LONG + PLAIN + ODD)


def one_day(names: list[str], texts: list[str] | None = None) -> Shown:
    """A session of these speakers, a line each."""
    n = len(names)
    return Shown([1] * n, list(range(n)), [TIME] * n, names, texts or ["ok"] * n)


def test_the_header_is_the_day_and_of_a_later_session_of_that_day_the_time():
    assert LEAN.header(1, TIME, None) == "# 8 May 2023"
    assert LEAN.header(2, TIME, TIME - timedelta(days=1)) == "# 8 May 2023"
    assert LEAN.header(2, TIME, TIME - timedelta(hours=13)) == "## 13:56"
    assert LEAN.header(2, None, TIME) == "# undated"


TIMES = st.datetimes(timezones=st.just(UTC))


@given(TIMES, TIMES | st.none())
def test_a_header_is_one_line_that_following_another_makes_no_longer(time, before):
    alone, following = (LEAN.header(1, time, other) for other in (None, before))
    assert "\n" not in alone + following
    assert COUNTER.count(following + "\n") <= COUNTER.count(alone + "\n") <= 13


def test_a_session_after_an_undated_one_says_its_day_again():
    shown = Shown([1, 2, 3], [0, 0, 0], [TIME, None, TIME], ["Ana"] * 3, ["a", "b", "c"])
    assert render(shown, [0, 1, 2], LEAN) == "# 8 May 2023\n Ana: a\n# undated\n Ana: b\n# 8 May 2023\n Ana: c"
    assert render(shown, [0, 2], LEAN) == "# 8 May 2023\n Ana: a\n## 13:56\n Ana: c"


def test_few_lines_have_names_and_many_initials_under_a_legend():
    few, many = one_day(LONG), one_day(LONG * 4)
    assert render(few, [0, 1], LEAN) == "# 8 May 2023\n Oluwaseun Adeyemi: ok\n Jean-Baptiste Moreau: ok"
    assert render(many, range(8), LEAN) == (
        "J = Jean-Baptiste Moreau, O = Oluwaseun Adeyemi\n# 8 May 2023" + "\n O: ok\n J: ok" * 4
    )


def test_a_name_of_one_token_and_a_role_are_never_abbreviated():
    names = ["Caroline", "user", "assistant", "Melanie"]
    assert LEAN.names(dict.fromkeys(names, 1000)).legend == ""


def test_of_two_speakers_only_the_one_whose_name_is_long_is_abbreviated():
    names = LEAN.names({"Oluwaseun Adeyemi": 9, "Ana": 9})
    assert (names.called["Ana"], names.called["Oluwaseun Adeyemi"]) == ("Ana", "O")
    assert names.legend == "O = Oluwaseun Adeyemi\n"


@given(st.dictionaries(NAMES, st.integers(1, 30), min_size=1, max_size=8))
def test_a_legend_is_there_if_and_only_if_it_saves_tokens(lines):
    names = LEAN.names(lines)
    full = {name: LEAN.alone(name) for name in lines}

    def cost(called):
        return sum(n * COUNTER.count(LEAN.opening(called[name])) for name, n in lines.items())

    if names.legend:
        assert cost(names.called) + COUNTER.count(names.legend) < cost(full)
    else:
        assert names.called == full


@given(st.lists(NAMES, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_who_spoke_can_be_read_back_from_the_legend_and_the_line_whatever_the_names(said, random):
    shown = one_day(said)
    text = render(shown, range(len(said)), LEAN)
    first, *_ = text.split("\n")
    legend = {} if first.startswith("#") else dict(entry.split(" = ") for entry in first.split(", "))
    for (start, end), name in zip(line_spans(shown, range(len(said)), LEAN), said, strict=True):
        called = text[start:end].removeprefix(" ").removesuffix(": ok")
        assert legend.get(called, called) == (" ".join(name.split()) or "?")
    assert text.count("\n") == len(said) + bool(legend)
    mixed = sorted(said, key=lambda _: random.random())
    assert LEAN.names({name: said.count(name) for name in mixed}).legend == (
        "" if first.startswith("#") else f"{first}\n"
    )


@given(st.lists(st.text(max_size=30), min_size=1, max_size=9), st.sampled_from(LONG))
def test_a_text_stands_verbatim_and_nothing_but_a_legend_stands_before_the_first_header(texts, name):
    shown = one_day([name] * len(texts), texts)
    text = render(shown, range(len(texts)), LEAN)
    spans = line_spans(shown, range(len(texts)), LEAN)
    called = LEAN.names({name: len(texts)})
    assert [text[start:end] for start, end in spans] == [LEAN.line(called.called[name], said) for said in texts]
    assert text.startswith(f"{called.legend}# 8 May 2023\n ")
