"""What a model thinks aloud before it answers is no part of the answer."""

from __future__ import annotations

import re

_THOUGHTS = re.compile(r"\s*<think>.*?(?:</think>\s*|\Z)", re.DOTALL)


def without_thoughts(text: str) -> str:
    """A text without the block `<think>...</think>` that it begins with; nothing is left of one that does not end."""
    found = _THOUGHTS.match(text)
    return text[found.end() :] if found else text
