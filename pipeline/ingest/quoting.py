"""What an error or a row of the quarantine may hold of a source: enough to find the place again, and no more."""

from __future__ import annotations

import re

SHOWN = 40
"""Characters of an id, a key or a value."""
_SECRET = re.compile(r"[\w+/=.~-]{24,}")
"""What runs on like this is no time and no list of turns, but may be a key, a token or a password."""
_LOOKED_AT = 200


def shown(name: str) -> str:
    """The beginning of what is an id or a key: by these things are found."""
    return _cut(name, SHOWN)


def quoted(value: str) -> str:
    """The beginning of any other value, up to where it may become a secret."""
    secret = _SECRET.search(value, 0, _LOOKED_AT)
    return _cut(value, min(SHOWN, secret.start()) if secret else SHOWN)


def _cut(text: str, end: int) -> str:
    return text if len(text) <= end else f"{text[:end]}..."
