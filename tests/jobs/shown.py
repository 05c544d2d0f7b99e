"""What the tests of `slatemill show` share: pools of a size, a lake's own tables, and what stands beside a slate."""

from __future__ import annotations

import re

import polars as pl
from inside import LEXICAL

from cluster.lake import Lake
from jobs.config import Profile


def named(name: str, pool_size: int) -> Profile:
    return LEXICAL.model_copy(
        update={"name": name, "recall": LEXICAL.recall.model_copy(update={"pool_size": pool_size})}
    )


def table(lake: Lake, name: str, profile: str | None = None) -> pl.DataFrame:
    choice = "" if profile is None else f"profile={profile}/"
    return pl.read_parquet(f"{lake.url}/{name}/{choice}*/*.parquet", hive_partitioning=False)


def beside(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The text in the panel of a page so wide that no line of it is broken, and the marks beside its lines."""
    lines = [line[2:-2] for line in text.splitlines() if line.startswith("│")]
    at = min(len(re.match(r"(★\d+)? *(\d+)? *", line)[0]) for line in lines)
    marks = [re.match(r"(★\d+)? *(\d+)?", line[:at]).groups(default="") for line in lines]
    return "\n".join(line[at:].rstrip() for line in lines), [pair for pair in marks if pair[1]]
