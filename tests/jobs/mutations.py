"""Mutated copies of a source: one change each, in its values or in its bytes, made by a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tiny_sources import Path, Tiny

BIG = 5_000_000
_MARK = "\uf8ff the changed value \uf8ff"
"""Stands in a value for what is put there as JSON text."""

RAW = (
    *("null", "true", "0", "-1", "1.5", "NaN", "1e400", "1" + "0" * 400, '""', '" "', '"\\u0000"', '"\\ud800"'),
    *('"word"', '"zz:9"', "[]", "{}", "[null]", "[[]]", "[{}]", '{"":null}', '["word",5]', '{"text":"word"}'),
)
EMPTY = ("null", '""', "[]", "{}")
BAD_DATES = (
    *('"soon"', '"2023/02/31 (Fri) 10:00"', '"99:99 pm on 40 Foo, 2023"', '"31.02.2023, 10:00:00"', '"0000-00-00"'),
    *(
        '"2023-05-20T02:21:00+99:00"',
        '"2023年13月40日"',
        '"٢٠٢٣-٠٥-٢٠"',
        "1e30",
        "-1e30",
        "NaN",
        '"9999-12-31T23:59:59-23:59"',
    ),
)
_TIMES = ("time", "date", "created", "timestamp", "asked_at")


@dataclass(frozen=True)
class Mutation:
    """A mutated copy: the bytes of its files, and what of the clean source is other than it was.

    `changed` are paths in `file`; `gone` are those of them that are no longer there, which no reader can miss. A
    `broken` document can be parsed by no one. An `extreme` value is one that no parser need take. With `moved` there
    are other positions in a list. Bytes (`of_bytes`) may be moved from one history to another.
    """

    what: str
    files: dict[str, bytes]
    file: str
    changed: list[Path] = field(default_factory=list)
    gone: list[Path] = field(default_factory=list)
    broken: bool = False
    extreme: bool = False
    moved: bool = False
    of_bytes: bool = False


def mutated(tiny: Tiny, seed: str) -> Mutation:
    """One mutated copy of a source; the same seed makes the same copy."""
    dice = random.Random(seed)
    files = {name: tiny.payload(name) for name in tiny.files}
    name = dice.choice(sorted(files))
    kind = dice.choice((_bytes, _bytes, _value, _value, _value, _date, _dropped, _dropped, _doubled, _deeper, _grown))
    changed = kind(tiny, name, files[name], dice)
    return Mutation(files={**files, name: changed.pop("payload")}, file=name, of_bytes=kind is _bytes, **changed)


def places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Each value within a value, and where it stands."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield (*path, key), below
        yield from places(below, (*path, key))


def _value(tiny: Tiny, name: str, _: bytes, dice: random.Random) -> dict[str, Any]:
    path, _ = _somewhere(tiny.files[name], dice)
    raw = dice.choice(RAW)
    replaced = _replaced(tiny, name, path, raw, extreme=len(raw) > 100)
    # What is empty holds no message; a message that is empty must be missed.
    return {**replaced, "gone": [path]} if raw in EMPTY and tiny.message_of(path) is None else replaced


def _date(tiny: Tiny, name: str, payload: bytes, dice: random.Random) -> dict[str, Any]:
    dated = [
        path
        for path, value in places(tiny.files[name])
        if isinstance(value, str | int | float) and any(mark in str(key) for key in path[-2:] for mark in _TIMES)
    ]
    if not dated:
        return _value(tiny, name, payload, dice)
    return _replaced(tiny, name, dice.choice(dated), dice.choice(BAD_DATES))


def _deeper(tiny: Tiny, name: str, _: bytes, dice: random.Random) -> dict[str, Any]:
    path, value = _somewhere(tiny.files[name], dice)
    depth = dice.choice((1, 2, 60, 900, 100_000))
    opening, closing = dice.choice((("[", "]"), ('{"a":', "}"), ('{"content":[', "]}")))
    raw = opening * depth + json.dumps(value) + closing * depth
    return _replaced(tiny, name, path, raw, extreme=depth > 60)


def _grown(tiny: Tiny, name: str, _: bytes, dice: random.Random) -> dict[str, Any]:
    texts = [path for path, value in places(tiny.files[name]) if isinstance(value, str | int)]
    path = dice.choice(texts)
    filler = dice.choice(("x", "word ", "[", "```bash\\n", "D1:1 ", "\\ud83d\\ude00", "\\ud800", "(", "9", " ", "- "))
    said = json.dumps(str(_at(tiny.files[name], path)))[:-1]
    return _replaced(tiny, name, path, said + filler * (BIG // len(filler)) + '"')


def _dropped(tiny: Tiny, name: str, _: bytes, dice: random.Random) -> dict[str, Any]:
    path, _ = _somewhere(tiny.files[name], dice)
    value = json.loads(json.dumps(tiny.files[name]))
    del _at(value, path[:-1])[path[-1]]
    what = f"{name}: {path} dropped"
    return {"what": what, "payload": _written(tiny, name, value), "changed": [path], "gone": [path], "moved": True}


def _doubled(tiny: Tiny, name: str, payload: bytes, dice: random.Random) -> dict[str, Any]:
    elements = [path for path, _ in places(tiny.files[name]) if isinstance(path[-1], int)]
    if not elements:
        return _dropped(tiny, name, payload, dice)
    path = dice.choice(elements)
    value = json.loads(json.dumps(tiny.files[name]))
    within = _at(value, path[:-1])
    within.insert(path[-1], within[path[-1]])
    return {"what": f"{name}: {path} doubled", "payload": _written(tiny, name, value), "changed": [path], "moved": True}


def _replaced(tiny: Tiny, name: str, path: Path, raw: str, extreme: bool = False) -> dict[str, Any]:
    value = json.loads(json.dumps(tiny.files[name]))
    _at(value, path[:-1])[path[-1]] = _MARK
    payload = _written(tiny, name, value).replace(json.dumps(_MARK, ensure_ascii=False).encode(), raw.encode())
    what = f"{name}: {path} = {raw[:60]}{'...' if len(raw) > 60 else ''}"
    return {"what": what, "payload": payload, "changed": [path], "extreme": extreme}


def _written(tiny: Tiny, name: str, value: Any) -> bytes:
    return Tiny(tiny.source_format, {name: value}, tiny.unit, tiny.messages, tiny.lines).payload(name)


def _somewhere(value: Any, dice: random.Random) -> tuple[Path, Any]:
    """Any value of a document; one near its top as often as one of the many at its leaves."""
    every = list(places(value))
    depth = dice.choice(sorted({len(path) for path, _ in every}))
    return dice.choice([place for place in every if len(place[0]) == depth])


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _bytes(tiny: Tiny, name: str, payload: bytes, dice: random.Random) -> dict[str, Any]:
    """Bytes cut, flipped, lost, doubled or put in."""
    at, length = dice.randrange(len(payload)), dice.choice((1, 2, 8, 200))
    ways: dict[str, Callable[[], bytes]] = {
        "cut": lambda: payload[:at],
        "flipped": lambda: payload[:at] + bytes([payload[at] ^ (1 << dice.randrange(8))]) + payload[at + 1 :],
        "lost": lambda: payload[:at] + payload[at + length :],
        "doubled": lambda: payload[: at + length] + payload[at:],
        "put in": lambda: payload[:at] + dice.randbytes(length) + payload[at:],
        "quoted": lambda: payload[:at] + dice.choice((b'"', b"\n", b"{", b"]", b",", b"\\", b"\x00")) + payload[at:],
    }
    way = dice.choice(sorted(ways))
    new = ways[way]()
    what = f"{name}: {length} bytes at {at} {way}"
    if tiny.lines:
        changed, gone = _lines_changed(payload, new)
        return {"what": what, "payload": new, "changed": changed, "gone": gone}
    try:
        value = parsed(new)
    except (ValueError, RecursionError):
        return {"what": what, "payload": new, "changed": [()], "broken": True}
    changed, gone = _differences(tiny.files[name], value)
    return {"what": what, "payload": new, "changed": changed, "gone": gone}


def parsed(payload: bytes) -> Any:
    """The JSON value of a document or line. Raises ValueError or RecursionError."""
    return json.loads(payload.decode("utf-8-sig", "surrogateescape"), strict=False)


def _lines_changed(payload: bytes, new: bytes) -> tuple[list[Path], list[Path]]:
    """The lines that no longer stand there as they were, and what within them is other or gone."""
    changed: list[Path] = []
    gone: list[Path] = []
    standing = new.split(b"\n")
    others = [line for line in standing if line not in payload.split(b"\n")]
    for number, line in enumerate(payload.splitlines()):
        if line in standing:
            continue
        if not others:
            changed, gone = [*changed, (number,)], [*gone, (number,)]
            continue
        try:
            differing, missing = _differences(parsed(line), parsed(others.pop(0)), (number,))
        except (ValueError, RecursionError):
            changed.append((number,))
            continue
        changed, gone = changed + differing, gone + missing
    return changed, gone


def _differences(clean: Any, other: Any, path: Path = ()) -> tuple[list[Path], list[Path]]:
    """The paths that lead to another value than before, or to none any more."""
    if isinstance(clean, dict) and isinstance(other, dict):
        added = [path] if other.keys() - clean.keys() else []
        gone: list[Path] = [(*path, key) for key in clean if key not in other]
        changed = [*added, *gone]
        for key in clean.keys() & other.keys():
            differing, missing = _differences(clean[key], other[key], (*path, key))
            changed, gone = changed + differing, gone + missing
        return changed, gone
    if isinstance(clean, list) and isinstance(other, list) and len(clean) == len(other):
        changed, gone = [], []
        for at, (one, two) in enumerate(zip(clean, other, strict=True)):
            differing, missing = _differences(one, two, (*path, at))
            changed, gone = changed + differing, gone + missing
        return changed, gone
    same = type(clean) is type(other) and clean == other
    return ([] if same else [path]), ([path] if not same and isinstance(clean, list) else [])
