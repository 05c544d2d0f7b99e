"""Commands that a message tells a person to give. Imports nothing of ours, so that the command line need not wait."""

from __future__ import annotations

import shlex


def command(*words: str) -> str:
    """A slatemill command, quoted so that a shell takes it as it is copied, whatever a lake is called."""
    return shlex.join(("slatemill", *words))
