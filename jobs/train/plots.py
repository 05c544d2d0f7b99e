"""Pictures of a training: what the ranker goes by, what a group of features brings, and what more histories would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jobs.train.crossval import RANKER
from jobs.train.variants import Outcome
from pipeline.evaluate.bootstrap import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BARS = 30
"""Features beyond these add little, and make the names too small to read."""

_WIDTH, _BAR, _FRAME = 7.0, 0.26, 1.1
"""Inches: of a picture, of one row, and of what stands around the rows."""

_BLUE, _GREY, _RED = "#3b6ea5", "#8a8a8a", "#b0413e"
_LINES = ("#3b6ea5", "#d08a2e", "#5b8c5a", "#8d5a97", "#b0413e")


def importance(values: Mapping[str, float], title: str, label: str, path: Path) -> None:
    """Bars of the features, the greatest on top: at most MOST_BARS, and how many are not shown."""
    ordered = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    kept = ordered[:MOST_BARS]
    more = f" (the first {MOST_BARS} of {len(ordered)})" if len(ordered) > len(kept) else ""
    figure, axes = _rows(len(kept))
    axes.barh([name for name, _ in kept], [value for _, value in kept], color=_BLUE, height=0.7)
    axes.set_xlabel(label)
    axes.set_title(title + more, loc="left", fontsize=11)
    axes.margins(x=0.02)
    _save(figure, path)


def ablation(outcomes: Sequence[Outcome], budget: int, path: Path) -> None:
    """What each variant loses or wins in slate completeness against the ranker, with intervals, the worst on top."""
    variants = [outcome for outcome in outcomes if outcome.name != RANKER]
    rows = sorted((_numbers(outcome.at(budget, "all").difference), outcome.name) for outcome in variants)
    figure, axes = _rows(len(rows))
    for place, ((value, low, high), _) in enumerate(rows):
        worse = high < 0
        axes.plot([low, high], [place, place], color=_RED if worse else _GREY, linewidth=2, solid_capstyle="round")
        axes.plot([value], [place], "o", color=_RED if worse else _BLUE, markersize=6)
    axes.set_yticks(range(len(rows)), [name for _, name in rows])
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("difference in slate completeness (95% interval over histories)")
    title = f"Ablation, slates of {budget:,} tokens, out of fold (red: worse beyond doubt)"
    axes.set_title(title, loc="left", fontsize=11)
    _save(figure, path)


def learning_curve(points: Sequence[Outcome], recall: Mapping[int, float], path: Path) -> None:
    """Slate completeness by the histories that a fold learned from, a line a budget; recall order's is dashed."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - a second
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - a second

    figure = Figure(figsize=(_WIDTH, 4.6), layout="constrained")
    axes = figure.subplots()
    histories = [point.n_histories for point in points]
    for color, budget in zip(_LINES * len(recall), recall, strict=False):
        cells = [_numbers(point.at(budget, "all").slate_completeness) for point in points]
        values, low, high = zip(*cells, strict=True)
        axes.fill_between(histories, low, high, color=color, alpha=0.12)
        axes.plot(histories, values, "o-", color=color, label=f"{budget:,} tokens")
        axes.axhline(recall[budget], color=color, linestyle="--", linewidth=1)
    axes.plot([], [], "--", color=_GREY, linewidth=1, label="recall order")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("histories learned from (mean over the folds)")
    axes.set_ylabel("slate completeness, out of fold")
    axes.set_title("Learning curve (95% intervals over histories)", loc="left", fontsize=11)
    figure.legend(frameon=False, loc="outside lower center", ncols=len(recall) + 1, fontsize=9)
    _plain(axes)
    _save(figure, path)


def _numbers(estimate: Estimate) -> tuple[float, float, float]:
    """Value and interval; nothing is drawn of what there is none of."""
    value, low, high = (
        np.nan if number is None else number for number in (estimate.value, estimate.low, estimate.high)
    )
    return value, low, high


def _rows(count: int) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure  # noqa: PLC0415 - a second

    figure = Figure(figsize=(_WIDTH, _FRAME + _BAR * max(count, 3)), layout="constrained")
    axes = figure.subplots()
    axes.set_ylim(count - 0.4, -0.6)
    _plain(axes)
    return figure, axes


def _plain(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=9)


def _save(figure: Figure, path: Path) -> None:
    # No software version and no date in the file: equal numbers give equal bytes.
    figure.savefig(path, dpi=150, metadata={"Software": None})
