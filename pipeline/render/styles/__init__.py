"""The styles that a profile may name, one file each. Everything that a slate shows besides turns is here."""

from __future__ import annotations

from collections.abc import Callable

from models.interfaces import TokenCounter
from pipeline.render.style import Style
from pipeline.render.styles.dated import dated
from pipeline.render.styles.lean import lean
from pipeline.render.styles.longmemeval import longmemeval

STYLES: dict[str, Callable[[TokenCounter], Style]] = {
    "dated": dated,
    "lean": lean,
    "longmemeval": longmemeval,
}
"""By name, what makes a style. The counter is the one that budgets go by: a style may save its tokens."""
