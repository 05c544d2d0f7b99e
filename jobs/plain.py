"""Text of a source on a terminal."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """Text of a source without what would steer a terminal; line breaks stay."""
    return re.sub(r"[^\S\n]|[\x00-\x09\x0b-\x1f\x7f-\x9f]", " ", text)
