"""Strings of an agent's text that a memory may have to keep: names in code, paths, quoted values, numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

SHORTEST = 3
"""Characters of a string, at least: what is shorter stands anywhere by chance."""

_QUOTED = re.compile(r"'([^'\n]{3,80})'|\"([^\"\n]{3,80})\"")
_WORD = re.compile(r"\w+")
_CHAIN = re.compile(r"\w+(?:[.:@-]+\w+)+")
_CODE = re.compile(r"\w_\w|[^\W\d]\.\w|\w\.[^\W\d]|::|[a-z][A-Z]|[^\W\d].*\d|\d.*[^\W\d]|\d.?\d.?\d")
_PATH = re.compile(r"[\w~.@+-]*(?:/[\w~.@+-]+)+")
_NODE = re.compile(_PATH.pattern + r"(?:::\w+)+")
_FILE = re.compile(r"[\w~.@+/-]+")
_PAIR = re.compile(r"\w\w")
_URL = re.compile(r"\w+://\S+")
_DIFFED = re.compile(r"^(?:\./|[ab]/(?=.))")
_EXTENSION = re.compile(r"[\w@+)-]\.([A-Za-z][A-Za-z0-9]{0,7})$")
_KNOWN = frozenset(
    [
        *("bat", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "diff", "env", "go", "h", "hpp", "html", "ini"),
        *("ipynb", "java", "js", "json", "jsx", "kt", "lock", "log", "md", "patch", "php", "pl", "po", "proto", "py"),
        *("pyi", "pyx", "rb", "rs", "rst", "scss", "sh", "sql", "svg", "swift", "tex", "toml", "ts", "tsx", "txt"),
        *("vue", "xml", "yaml", "yml"),
    ]
)
"""Extensions by which a name without a folder is a file and no attribute."""


def strings(text: str) -> list[str]:
    """The strings of a text, each once: values in quotes (3 to 80 characters of one line), paths (with a slash; and
    with `::name` behind them), and words, alone or joined by `.`, `:`, `@` or `-`, that look like code: with three
    digits, a digit and a letter, an underscore, `.` or `::` inside, or a capital after a small letter. One may stand in
    another. Plain words are none: they are language."""
    quoted = [(one or other).strip() for one, other in _QUOTED.findall(text)]
    words = [word for form in (_CHAIN, _WORD) for word in form.findall(text) if _CODE.search(word)]
    found = dict.fromkeys([*quoted, *_NODE.findall(text), *_PATH.findall(text), *words])
    return [string for string in found if len(string) >= SHORTEST and any(map(str.isalnum, string))]


def files(text: str) -> list[str]:
    """The paths of files in a text, each once: names with an extension, in a folder or of a kind that is known by it.
    `./` before a path is left out, as are `a/` and `b/`, which a diff puts there; URLs are none."""
    candidates = (_DIFFED.sub("", word.rstrip("./")) for word in _FILE.findall(_URL.sub(" ", text)))
    return list(dict.fromkeys(path for path in candidates if _is_file(path)))


def stands_in(string: str, text: str) -> bool:
    """Whether a string stands in a text as whole tokens: no letter, digit or underscore goes on at either end."""
    at = text.find(string)
    while at >= 0:
        end = at + len(string)
        if not _goes_on(text[at - 1 : at] + string[0]) and not _goes_on(string[-1] + text[end : end + 1]):
            return True
        at = text.find(string, at + 1)
    return False


def longest(found: Sequence[str]) -> list[str]:
    """Those strings that stand in no other of them."""
    return [one for one in found if not any(one != other and stands_in(one, other) for other in found)]


def holding(texts: Sequence[str], wanted: Iterable[str]) -> dict[str, list[int]]:
    """The places, ascending, of the texts in which each string stands; no text is searched that lacks a word of it."""
    places: dict[str, set[int]] = {}
    for place, text in enumerate(texts):
        for word in set(_WORD.findall(text)):
            places.setdefault(word, set()).add(place)
    return {
        string: [place for place in _with_words(string, places) if stands_in(string, texts[place])]
        for string in dict.fromkeys(wanted)
    }


def _with_words(string: str, places: dict[str, set[int]]) -> Collection[int]:
    of_words = sorted((places.get(word, set()) for word in _WORD.findall(string)), key=len)
    return sorted(of_words[0].intersection(*of_words[1:])) if of_words else ()


def _goes_on(border: str) -> bool:
    """Whether two characters that stand side by side belong to one word; at the end of a text there is but one."""
    return _PAIR.match(border) is not None


def _is_file(path: str) -> bool:
    found = _EXTENSION.search(path)
    return found is not None and not path.startswith("-") and ("/" in path or found[1] in _KNOWN)
