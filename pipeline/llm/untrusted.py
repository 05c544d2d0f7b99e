"""Text of histories in a prompt: fenced, so that it is read as what it is and cannot pass for instructions."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"<\|([^|<>\n]{1,40})\|>|<(/?s)>|\[(/?INST|/?SYS)\]|<<(/?SYS)>>")
"""What the templates of common models mark turns with."""


def fenced(name: str, text: str) -> str:
    """A text between `<name>` and `</name>`, in which neither they nor the marks of chat templates occur."""
    return fenced_apart(**{name: text})


def fenced_apart(**texts: str) -> str:
    """Several texts, each so fenced by its name, one below the other; in none of them do the fences of any occur."""
    names = "|".join(map(re.escape, texts))
    tag = re.compile(rf"<(?=\s*/?\s*(?:{names})\b)", re.IGNORECASE)
    return "\n\n".join(f"<{name}>\n{tag.sub('&lt;', defused(text))}\n</{name}>" for name, text in texts.items())


def defused(text: str) -> str:
    """A text without marks of chat templates: `<|im_end|>` becomes `(im_end)`."""
    return _CONTROL.sub(lambda found: f"({next(filter(None, found.groups()))})", text)
