"""o200k counts: exact, offline, and without a trace in the user's settings."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from models.tokens import O200k, token_counter

COUNT_WITHOUT_NETWORK = """
import socket
def refuse(*args, **kwargs):
    raise AssertionError("a network connection was tried")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
from models.tokens import O200k
print(O200k().count("hello world"))
"""


def count_in_new_process(**environment: str) -> str:
    inherited = {name: value for name, value in os.environ.items() if name != "TIKTOKEN_CACHE_DIR"}
    return subprocess.run(
        [sys.executable, "-c", COUNT_WITHOUT_NETWORK],
        env={**inherited, **environment},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout.strip()


@pytest.mark.flash
def test_known_counts() -> None:
    counter = O200k()
    assert [counter.count(text) for text in ["", "hello world", "user: hi!\n", "/usr/bin/env\n"]] == [0, 2, 4, 4]
    assert counter.count("user: hi!\n/usr/bin/env\n") == 9, "o200k merges across a line border"


@pytest.mark.flash
def test_special_token_text_counts_as_ordinary_text() -> None:
    assert O200k().count("<|endoftext|>") > 1


@pytest.mark.flash
def test_a_lone_surrogate_counts_as_the_replacement_character() -> None:
    assert O200k().count("a \ud800 b") == O200k().count("a \ufffd b")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(), max_size=8))
def test_counts_are_those_of_tiktoken(texts: list[str]) -> None:
    counts = O200k().count_many(texts)
    assert counts.dtype == np.int32
    assert counts.tolist() == [len(tiktoken.get_encoding("o200k_base").encode_ordinary(text)) for text in texts]


@pytest.mark.parametrize("letter", ["a", "^", "\n", "日", " "])
def test_a_megabyte_of_one_character_is_counted(letter: str) -> None:
    assert O200k().count(letter * 1_100_000) > 1_000


def test_a_run_of_blanks_in_parts_is_near_the_exact_count() -> None:
    text = "x" + " " * 250_000 + "y"
    exact = len(tiktoken.get_encoding("o200k_base").encode_ordinary(text))
    assert exact <= O200k().count(text) <= exact + 3


@pytest.mark.flash
def test_a_counter_pickles_small_and_counts_after() -> None:
    pickled = pickle.dumps(O200k())
    assert len(pickled) < 200
    assert pickle.loads(pickled).count("hello world") == 2


@pytest.mark.flash
def test_an_unknown_name_is_an_error_that_lists_the_known_ones() -> None:
    assert token_counter("o200k_base").name == "o200k_base"
    with pytest.raises(ValueError, match="'cl99k'; known: o200k_base"):
        token_counter("cl99k")


@pytest.mark.flash
def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from models import tokens

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "/the/user/s")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tokens._o200k.cache_clear()
    assert O200k().count("hello world") == 2
    assert os.environ["TIKTOKEN_CACHE_DIR"] == "/the/user/s"


def test_the_first_count_needs_no_network_and_a_damaged_cache_is_repaired(tmp_path: Path) -> None:
    assert count_in_new_process(XDG_CACHE_HOME=str(tmp_path)) == "2"
    [ranks] = (tmp_path / "slatemill" / "tiktoken").iterdir()
    whole = ranks.read_bytes()
    ranks.write_bytes(whole[:1000])
    assert count_in_new_process(XDG_CACHE_HOME=str(tmp_path)) == "2"
    assert ranks.read_bytes() == whole


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    blocked = tmp_path / "a-file"
    blocked.touch()
    assert count_in_new_process(XDG_CACHE_HOME=str(blocked)) == "2"
