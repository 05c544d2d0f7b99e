"""The pictures in docs/img are whole, show nothing of the machine they were made on, and ask nothing of another."""

from __future__ import annotations

import re
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import screenshots

PICTURES = {"evaluate", "plan", "run", "show", "show-pieces", "show-units", "status"}
PRIVATE = re.compile(
    "|".join(
        re.escape(path)
        for path in (tempfile.gettempdir(), str(Path.home()), str(Path(__file__).parents[2]), "/home/", "/Users/")
    )
)
ELSEWHERE = re.compile(r"@font-face|@import|url\((?!#)|href=")


def text_of(picture: str) -> str:
    """What can be read in a picture. Raises ParseError where it is not whole."""
    words = [element.text or "" for element in ET.fromstring(picture).iter() if element.tag.endswith("}text")]
    return " ".join(words).replace("\xa0", " ")


def check(folder: Path) -> None:
    found = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.svg")}
    assert set(found) == PICTURES
    for name, picture in found.items():
        assert f"slatemill {name.partition('-')[0]} lake" in text_of(picture)
        assert PRIVATE.findall(text_of(picture)) == []
        assert ELSEWHERE.findall(picture) == []
    assert re.search(r"★\d", text_of(found["show"]))


@pytest.mark.flash
def test_the_pictures_in_the_docs_show_nothing_of_a_machine() -> None:
    check(screenshots.IMAGES)


@pytest.mark.cluster
def test_they_can_be_made_anew(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    screenshots.main(tmp_path / "img")
    check(tmp_path / "img")
