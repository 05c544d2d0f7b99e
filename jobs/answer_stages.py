"""The stages behind `slatemill answer` and `slatemill judge`.

Each set of answers has a choice of its own (who reads which slates, and how), so that another policy, shape or reader
adds a set and makes none stale.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import NamedTuple

from cluster.stage import Choice, Input, Stage
from jobs import shards
from jobs.served import Served
from jobs.staging import stage
from pipeline import schemas
from pipeline.answers.draws import TEMPERATURE
from pipeline.answers.judge import Judging
from pipeline.answers.read import Reading
from pipeline.answers.shapes import SHAPES

SLATES = "slates"
"""What the input of answers is called, of whichever table of slates: footers name it so."""

ANSWERS = "answers"
"""What the input of judgements is called."""


class Cell(NamedTuple):
    """The slates of one policy and budget, and the table that they lie in."""

    policy: str
    budget: int
    table: str


def answer_stage(
    profile: str, cell: Cell, shape: str, repeats: int, reader: Served, limit: tuple[int, str] | None = None
) -> Stage:
    """What a reader says from the slates of a profile.

    `limit` is how many requests are read and the place of the last of them (pipeline.answers.chosen); None reads all.
    """
    drawn = [*([f"x{repeats}"] if repeats > 1 else []), *([f"first{limit[0]}"] if limit else [])]
    answers_id = "-".join([profile, cell.policy, str(cell.budget), shape, reader.model_id, *drawn])
    up_to = None if limit is None else limit[1]
    return stage(
        f"answers-{cell.policy}-{cell.budget}",
        ("reader", answers_id),
        schemas.ANSWERS,
        {
            SLATES: Input(cell.table, ("profile", profile), schemas.SLATES),
            "requests": Input("requests", None, schemas.REQUESTS),
        },
        SLATES,
        partial(
            shards.of_answers,
            policy=cell.policy,
            budget=cell.budget,
            up_to=up_to,
            reading=Reading(reader.model_id, shape, repeats),
        ),
        table=ANSWERS,
        config={
            "policy": cell.policy,
            "budget": cell.budget,
            "up_to": up_to,
            "shape": SHAPES[shape].config,
            "repeats": repeats,
            "temperature": TEMPERATURE if repeats > 1 else 0.0,
        },
        identities=(reader.identity,),
        model=reader.spec,
        costly=True,
    )


def judgement_stage(cell: str, answers: Choice, judgings: int, judge: Served) -> Stage:
    """What a judge says of a set of answers, to slates of the policy and budget that `cell` names."""
    judging = Judging(judge.model_id, judgings)
    judgements_id = "-".join([answers[1], judge.model_id, *([f"x{judgings}"] if judgings > 1 else [])])
    return stage(
        # Sets of a cell differ in shape, reader or limit. The name is part of the stamp: it must not depend on the run.
        f"judgements-{cell}-{hashlib.sha256(answers[1].encode()).hexdigest()[:8]}",
        ("judge", judgements_id),
        schemas.JUDGEMENTS,
        {
            ANSWERS: Input("answers", answers, schemas.ANSWERS),
            "requests": Input("requests", None, schemas.REQUESTS),
        },
        ANSWERS,
        partial(shards.of_judgements, judging=judging),
        table="judgements",
        config={
            **judging.config,
            "judgings": judgings,
            "temperature": TEMPERATURE if judgings > 1 else 0.0,
        },
        identities=(judge.identity,),
        model=judge.spec,
        costly=True,
    )
