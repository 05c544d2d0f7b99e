"""The instructions that language models are given: one text file each, in this folder, part of what is stamped."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from typing import NamedTuple


class Instructions(NamedTuple):
    """A text of this folder. Equal identities mean equal texts."""

    text: str
    identity: str
    """Its name, and eight hex digits of the text: the version."""


@cache
def instructions(name: str) -> Instructions:
    """The text in `<name>.txt`. Raises FileNotFoundError where there is none."""
    text = (resources.files(__name__) / f"{name}.txt").read_text(encoding="utf-8").strip()
    return Instructions(text, f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}")
