"""Token counters: how much of a budget a text takes."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import tiktoken

from models.environment import environment
from models.interfaces import TokenCounter
from models.user_cache import user_cache, write_atomically

# What tiktoken would fetch, and the digest it demands (tiktoken_ext.openai_public.o200k_base): its cache goes by both.
_RANKS_URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
_RANKS_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"

# tiktoken's splitter overflows its stack on a run of a million blanks.
_BLANKS_AT_A_TIME = 100_000
_LONG_BLANK = re.compile(rf"\s{{{_BLANKS_AT_A_TIME}}}")

_LOADING = threading.Lock()


class O200k:
    """Counts o200k_base tokens with tiktoken, offline: the ranks come from the package bpe-openai.

    Counts are exact, with one exception: a run of blanks over 100,000 characters is counted in parts, which may add a
    token a part. Text of special tokens (`<|endoftext|>`) counts as ordinary text; a lone surrogate as U+FFFD.
    A counter holds no state: it pickles as its name, and each process loads the ranks once, on first use (0.5 s).
    """

    name = "o200k_base"

    def count(self, text: str) -> int:
        """Tokens of one text."""
        encode = _o200k().encode_ordinary
        if len(text) < _BLANKS_AT_A_TIME:
            return len(encode(text))
        cuts = [0, *(match.end() for match in _LONG_BLANK.finditer(text)), len(text)]
        return sum(len(encode(text[start:end])) for start, end in pairwise(cuts))

    def count_many(self, texts: Sequence[str]) -> npt.NDArray[np.int32]:
        """Tokens of each text, shape (len(texts),). Each distinct text is counted once."""
        counts = {text: self.count(text) for text in dict.fromkeys(texts)}
        return np.fromiter((counts[text] for text in texts), np.int32, len(texts))


_COUNTERS: dict[str, Callable[[], TokenCounter]] = {O200k.name: O200k}


def token_counter(name: str) -> TokenCounter:
    """The token counter of that name. Raises ValueError, which lists the known names, for another."""
    if name not in _COUNTERS:
        raise ValueError(f"unknown token counter {name!r}; known: {', '.join(sorted(_COUNTERS))}")
    return _COUNTERS[name]()


@cache
def _o200k() -> tiktoken.Encoding:
    with _LOADING, _ranks_folder() as folder, environment("TIKTOKEN_CACHE_DIR", str(folder)):
        return tiktoken.get_encoding(O200k.name)


@contextmanager
def _ranks_folder() -> Iterator[Path]:
    """A folder in which tiktoken finds the ranks: the user's cache, or a passing one where that cannot be written."""
    name = hashlib.sha1(_RANKS_URL.encode()).hexdigest()
    lasting = user_cache() / "tiktoken"
    with tempfile.TemporaryDirectory() as passing:
        yield lasting if _placed(lasting / name) else _place(Path(passing) / name)


def _placed(path: Path) -> bool:
    """Whether the ranks lie at `path`, now if not before."""
    try:
        if not _holds_ranks(path):
            _place(path)
    except OSError:
        return False
    return True


def _place(path: Path) -> Path:
    """Write the ranks to `path`; its folder."""
    write_atomically(path, _packaged_ranks())
    return path.parent


def _holds_ranks(path: Path) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == _RANKS_SHA256


def _packaged_ranks() -> bytes:
    spec = importlib.util.find_spec("bpe_openai")  # found, not imported: the package loads a library of 74 MB
    if spec is None or spec.origin is None:
        raise RuntimeError(
            "the package bpe-openai, which carries the o200k ranks, is missing: install bpe-openai==0.1.4"
        )
    ranks = gzip.decompress((Path(spec.origin).parent / "data" / "o200k_base.tiktoken.gz").read_bytes())
    if hashlib.sha256(ranks).hexdigest() != _RANKS_SHA256:
        raise RuntimeError("bpe-openai carries other o200k ranks than tiktoken expects: install bpe-openai==0.1.4")
    return ranks
