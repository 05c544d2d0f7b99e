"""`slatemill features`: every feature that a profile can name, from the registry that computes them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jobs.config import Profile
from pipeline.features.feature import Feature
from pipeline.features.registry import catalogue, feature

_HEADINGS = ("feature", "group", "formula", "unit", "null when")


def features_of(profile: Profile | None) -> list[Feature]:
    """The features of a profile, as it lists them; without one, of all profiles."""
    if profile is None:
        return catalogue()
    return [feature(name, profile.recall.scored) for name in profile.features]


def as_rows(features: Sequence[Feature]) -> list[dict[str, Any]]:
    """Plain literals, for JSON."""
    return [dict(zip(_HEADINGS, _cells(each), strict=True)) for each in features]


def as_markdown(features: Sequence[Feature]) -> str:
    """A table for a page."""
    cells = ([f"`{name}`", *(escape(each, quote=False) for each in rest)] for name, *rest in map(_cells, features))
    return "".join(f"| {' | '.join(row)} |\n" for row in (_HEADINGS, ("---",) * len(_HEADINGS), *cells))


def show_features(features: Sequence[Feature], out: Console) -> None:
    """A table for a terminal."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in _HEADINGS:
        table.add_column(heading, overflow="fold")
    for each in features:
        table.add_row(*map(Text, _cells(each)))
    out.print(table)


def _cells(each: Feature) -> tuple[str, ...]:
    return each.name, each.group, each.formula, each.unit, each.null
