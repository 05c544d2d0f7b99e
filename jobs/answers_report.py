"""What a person sees of answers: their words against the gold answers, what judges say, and how far repeats agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from jobs.answer import Answered
from jobs.by_budget import pair, show_by_budget
from pipeline.answers.agreement import Agreement
from pipeline.answers.summary import AnswerRow, Judged


def show_answers(rows: Sequence[AnswerRow], out: Console) -> None:
    """Tables of answers, by who read and how; nothing where there are none."""
    for (reader, shape, sampled), group in groupby(rows, lambda row: (row.reader, row.shape, row.sampled)):
        of_group = list(group)
        how = f"{reader}, {shape}{f', {of_group[0].repeats} drawn' if sampled else ''}"
        _show_overlap(how, of_group, out)
        for judge in sorted({judged.judge for row in of_group for judged in row.judged}):
            _show_judged(how, judge, of_group, out)


def show_answered(answered: Answered, out: Console) -> None:
    """How many answers there are, and that some failed."""
    out.print(f"{answered.answers:,} answers", highlight=False)
    if answered.failed:
        said = f"{answered.failed:,} of them failed: column reason of the table answers says why"
        out.print(Text(said, style="yellow"))


def _show_overlap(how: str, rows: Sequence[AnswerRow], out: Console) -> None:
    """Overlap with the gold answers, what failed, and what was read."""
    headings = ("n", "F1", "95%", "exact", "contains", "failed", "tokens")
    cells = [
        (
            row.budget,
            row.policy,
            f"{row.n:,}",
            *pair(row.f1),
            _share(row.exact),
            _share(row.contains),
            f"{row.failed:,}",
            f"{row.prompt_tokens:,.0f}",
        )
        for row in rows
    ]
    show_by_budget(f"answers: {how}", headings, cells, out)


def _show_judged(how: str, judge: str, rows: Sequence[AnswerRow], out: Console) -> None:
    """What one judge says, and how far what was repeated agrees."""
    headings = ("n", "right", "95%", "by type", "n abst.", "abst.", "no label")
    found = [(row, judged) for row in rows for judged in row.judged if judged.judge == judge]
    cells = [
        (
            row.budget,
            row.policy,
            f"{judged.n:,}",
            *pair(judged.accuracy),
            _share(judged.by_type),
            f"{judged.n_abstention:,}",
            _share(judged.abstention),
            f"{judged.unparsed + judged.failed:,}",
        )
        for row, judged in found
    ]
    show_by_budget(f"answers: {how}, judged by {judge}", headings, cells, out)
    _show_agreement(f"labels of {judge} over repeated answers", found, lambda judged: judged.over_repeats, out)
    _show_agreement(f"labels of {judge} over repeated judgings", found, lambda judged: judged.over_judgings, out)


def _show_agreement(
    title: str, found: Sequence[tuple[AnswerRow, Judged]], of: Callable[[Judged], Agreement], out: Console
) -> None:
    """Agreement, where something was repeated."""
    headings = ("n", "unanimous", "pairwise", "kappa", "sd")
    show_by_budget(title, headings, [*_agreements(found, of)], out)


def _agreements(
    found: Sequence[tuple[AnswerRow, Judged]], of: Callable[[Judged], Agreement]
) -> Iterator[tuple[int | str, ...]]:
    for row, judged in found:
        agreed = of(judged)
        if agreed.n:
            shares = (agreed.unanimous, agreed.pairwise, agreed.kappa, agreed.accuracy_sd)
            yield row.budget, row.policy, f"{agreed.n:,}", *map(_share, shares)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
