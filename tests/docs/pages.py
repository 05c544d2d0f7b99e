"""The pages of the documentation, and the commands in them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README, FIRST_SLATE, OPERATIONS = (ROOT / name for name in ("README.md", "docs/first-slate.md", "docs/operations.md"))

_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(slatemill [^`]+)`")


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    return [text for name, text in _FENCED.findall(page.read_text(encoding="utf-8")) if name == language]


def commands(page: Path) -> list[list[str]]:
    """The words after `slatemill` of every command: lines of the `sh` blocks, and what stands in backticks."""
    lines = [line for block in blocks(page, "sh") for line in block.splitlines() if line.startswith("slatemill ")]
    prose = _FENCED.sub("", page.read_text(encoding="utf-8"))
    inline = [" ".join(found.split()) for found in _INLINE.findall(prose)]
    return [shlex.split(line, comments=True)[1:] for line in (*lines, *inline)]
