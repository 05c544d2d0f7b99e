"""Rankers that come with slatemill are whole, small, and told from any that a user trains."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from models import shipped
from models.ranker import ABOUT_FILE, CARD_FILE, MODEL_FILE, RankerError
from models.registry import load_named
from pipeline.synth.histories import history

pytestmark = pytest.mark.flash

MAX_BYTES = 1_000_000


def test_there_is_one_for_the_default_profile():
    assert shipped.names() == ("default",)


@pytest.mark.parametrize("name", shipped.names())
def test_each_is_whole_small_and_called_like_the_profile_it_was_trained_by(name):
    folder = shipped.FOLDER / name
    assert sorted(path.name for path in folder.iterdir()) == sorted([MODEL_FILE, ABOUT_FILE, CARD_FILE])
    assert sum(path.stat().st_size for path in folder.iterdir()) < MAX_BYTES
    ranker, source = load_named(f"{shipped.PREFIX}{name}")
    assert source == f"shipped/{name}"
    assert ranker.profile == name
    assert ranker.identity in ranker.card
    assert "generated histories alone" in ranker.card


@pytest.mark.parametrize("name", shipped.names())
def test_no_path_of_a_machine_is_in_it(name):
    told = "".join(path.read_text(encoding="utf-8") for path in (shipped.FOLDER / name).iterdir())
    assert not re.search(r"(?<![\w.])/(?:home|tmp|root|Users|work|mnt|var)/", told)


@pytest.mark.parametrize("name", shipped.names())
def test_the_histories_it_has_seen_are_none_that_slatemill_generates_unasked(name):
    ranker = shipped.shipped(f"{shipped.PREFIX}{name}")
    seen = set(ranker.seen_histories)
    assert seen
    # The demo, the pages and the pictures take seeds 0 and 1, and one request a history.
    for seed in (0, 1):
        for sessions in (6, 10, 20, 30):
            assert not seen & {history(seed, index, sessions)["question_id"] for index in range(20)}


@pytest.mark.parametrize("spec", ["shipped/nothing", "shipped/", "shipped/../shipped/default", "default", "./shipped"])
def test_what_names_none_of_them_is_none(spec):
    assert shipped.shipped(spec) is None


def test_one_that_was_changed_is_refused(tmp_path, monkeypatch):
    copied = Path(shutil.copytree(shipped.FOLDER / "default", tmp_path / "default"))
    trees = (copied / MODEL_FILE).read_text()
    (copied / MODEL_FILE).write_text(trees.replace("leaf_value=", "leaf_value=1", 1))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    with pytest.raises(RankerError, match="one was changed"):
        shipped.shipped("shipped/default")
