"""The lake's place: what is there, its token counter, whether files appear in it once, and the room that is left."""

from __future__ import annotations

import shutil
from pathlib import Path

from cluster.batches import committed
from cluster.errors import NotALake
from cluster.hints import command
from cluster.lake import DEFAULT_TOKENIZER, Lake
from cluster.storage import Storage
from jobs.doctor.check import Found
from jobs.doctor.places import nearest_folder
from models.tokens import token_counter

_SENTENCE, _SENTENCE_TOKENS = "Ada moved to Rome in March 2024.", 10
_LITTLE, _TOO_LITTLE = 5e9, 1e8


def opened(url: str) -> Found:
    """The lake itself; a place where none is yet is fine, what is no lake is not."""
    storage = Storage(url)
    if storage.local and Path(storage.url).is_file():
        return Found("fails", f"{url} is a file", "name a folder")
    try:
        lake = Lake.open(url)
    except NotALake:
        if storage.exists("lake.json"):
            raise
        return Found("warning", f"{url} is no lake yet", command("init", url))
    return Found("ok", f"{lake.buckets} buckets, {len(committed(lake))} batch(es), tokens counted in {lake.tokenizer}")


def tokenizer(url: str | None) -> Found:
    """Counts a sentence whose count is known, with the counter of the lake, else with that of a new one."""
    name = _tokenizer_of(url)
    counted = token_counter(name).count(_SENTENCE)
    if counted == _SENTENCE_TOKENS:
        return Found("ok", f"{name} counts as it should")
    said = f"{name} counts {counted} tokens, not {_SENTENCE_TOKENS}"
    return Found("fails", said, "install bpe-openai==0.1.4 and tiktoken again")


def exclusive(url: str) -> Found:
    """Whether of two writers of one file one wins: on a disk that needs hard links, on S3 a conditional PUT."""
    if _nearest(url).one_writer_wins():
        return Found("ok", "of two writers of a file one wins")
    return Found("fails", "a second writer overwrote the first", "keep the lake on a disk, or on S3")


def room(url: str) -> Found:
    """Free space on the disk of the lake."""
    storage = _nearest(url)
    if not storage.local:
        return Found("ok", "no disk of this machine")
    free = shutil.disk_usage(storage.url).free
    said = f"{free / 1e9:,.1f} GB free"
    if free < _TOO_LITTLE:
        return Found("fails", said, "make room, or choose another disk")
    return (
        Found("ok", said) if free >= _LITTLE else Found("warning", said, "a run that fills the disk fails: make room")
    )


def _tokenizer_of(url: str | None) -> str:
    try:
        return Lake.open(url).tokenizer if url is not None else DEFAULT_TOKENIZER
    except Exception:  # what is wrong with the lake is said by its own check
        return DEFAULT_TOKENIZER


def _nearest(url: str) -> Storage:
    """The lake's folder; on a disk, where it is not there yet, the nearest above it."""
    storage = Storage(url)
    return Storage(str(nearest_folder(Path(storage.url)))) if storage.local else storage
