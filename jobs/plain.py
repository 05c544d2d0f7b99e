"""Text of a source on a terminal."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """Text of a source without what would steer a terminal, its direction of writing included; line breaks stay.

    Each such character becomes a space, so that places in the text stay what they were.
    """
    return re.sub(r"[^\S\n]|[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", " ", text)


def first_line(text: str) -> str:
    """The first line of a text, plain, and a sign where more follow."""
    first, _, more = plain(text).strip().partition("\n")
    return f"{first} ..." if more else first
