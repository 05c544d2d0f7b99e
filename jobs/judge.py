"""`slatemill judge`: how good the answers to a profile's latest slates are, by their words and by a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cluster.lake import Lake
from cluster.report import RunReport
from jobs.answer import work_off
from jobs.answer_sets import (
    AnswerSet,
    NothingAnswered,
    answer_sets,
    batches_of,
    finished_run,
    require_known,
    summarised,
)
from jobs.answer_stages import judgement_stage
from jobs.config import Profile
from jobs.run import Resources
from jobs.served import Served
from pipeline.answers.summary import AnswerRow


@dataclass(frozen=True)
class ToJudge:
    """Which answers are judged (empty: of every policy, budget, shape), and how often each."""

    policies: tuple[str, ...] = ()
    budgets: tuple[int, ...] = ()
    shapes: tuple[str, ...] = ()
    judgings: int = 1


@dataclass(frozen=True)
class JudgedRun:
    """The report of the stages where a judge was at work, and how good the answers are."""

    report: RunReport | None
    run_id: str | None
    rows: tuple[AnswerRow, ...]


def judge(
    lake: Lake,
    profile: Profile,
    wanted: ToJudge,
    judge: Served | None,
    resources: Resources,
    draws: int = 10_000,
    seed: int = 0,
) -> JudgedRun:
    """Judges the answers that are wanted; without a judge their words alone are compared.

    Raises NothingAnswered where there are none, and what jobs.answer_sets.finished_run raises.
    """
    taken = finished_run(lake, profile.name)
    sets = _wanted_sets(answer_sets(lake, taken), wanted, profile.name)
    report, run_id = None, None
    if judge is not None:
        stages = [judgement_stage(f"{one.policy}-{one.budget}", one.choice, wanted.judgings, judge) for one in sets]
        report, run_id = work_off(lake, profile, stages, batches_of(lake, taken), resources)
    rows = summarised(lake, taken, taken.identities.get("ranker", {}).get("seen_histories", []), draws, seed)
    shown = {(one.policy, one.budget, one.shape, one.reader) for one in sets}
    kept = tuple(row for row in rows if (row.policy, row.budget, row.shape, row.reader) in shown)
    return JudgedRun(report, run_id, kept)


def _wanted_sets(sets: Sequence[AnswerSet], wanted: ToJudge, profile: str) -> list[AnswerSet]:
    if not sets:
        raise NothingAnswered(
            f"no answers to the slates of profile {profile} as they are now: `slatemill answer` makes them"
        )
    require_known("answers from slates of policy", wanted.policies, {one.policy for one in sets})
    require_known("answers from slates of budget", wanted.budgets, {one.budget for one in sets})
    require_known("answers in the shape", wanted.shapes, {one.shape for one in sets})
    return [
        one
        for one in sets
        if one.policy in (wanted.policies or (one.policy,))
        and one.budget in (wanted.budgets or (one.budget,))
        and one.shape in (wanted.shapes or (one.shape,))
    ]
