"""The stage of a teacher: a language model rates the head of each pool, for policy `llm_order` and to distil from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from cluster.stage import Choice, Input, ModelSpec, ShardOutput, Span, Stage
from jobs.config import Profile
from jobs.llm_stages import served
from jobs.shards import Tables, usage_since
from jobs.staging import stage
from models.interfaces import LanguageModel
from pipeline import schemas
from pipeline.policies.orders import LLM_TOP, PolicyError
from pipeline.policies.registry import LLM_ORDER
from pipeline.teacher import teacher_instructions, teacher_scores

STAGE = "teacher_scores"


@dataclass(frozen=True)
class Teacher:
    """A language model that rates candidates. `model_id` names it in paths; `identity` says all of it that decides a
    score (name, digest of the weights, what it computes in) and is part of the stamp; `spec` is what an actor holds;
    `top` is how many of each pool it rates, None all."""

    model_id: str
    identity: str
    spec: ModelSpec
    top: int | None = LLM_TOP


def teacher_of(profile: Profile, top: int = LLM_TOP) -> Teacher | None:
    """The teacher that a profile names; None where it names none. Raises ModelNotFound."""
    if profile.teacher is None:
        return None
    identity, spec = served(profile.teacher, "")
    return Teacher(identity.choice_id, identity.text, spec, top)


def teacher_of_run(profile: Profile) -> Teacher | None:
    """The teacher of a run: nothing is rated for slates that do not go by it."""
    return teacher_of(profile) if LLM_ORDER in profile.slates.policies else None


def teacher_choice(teacher: Teacher, profile: Profile) -> Choice:
    """What names the scores: the teacher, the profile whose pools it rates, and how many of them where that is not
    what `llm_order` reads."""
    rated = "" if teacher.top == LLM_TOP else f"-top{teacher.top or 'all'}"
    return ("teacher", f"{teacher.model_id}-{profile.name}{rated}")


def teacher_input(teacher: Teacher, profile: Profile) -> Input:
    """The scores, as others read them."""
    return Input(STAGE, teacher_choice(teacher, profile), schemas.TEACHER_SCORES)


def teacher_stages(profile: Profile, teacher: Teacher | None) -> list[Stage]:
    """The stage that rates a profile's pools, where there is a teacher.

    Costly, and nothing costs more: what is stale, and what another teacher has rated or this one for another profile,
    is rated only when the stage is named. Bisection takes out requests.
    """
    if teacher is None:
        return []
    span: Span = "all" if profile.as_of == "latest" else "prefix"
    return [
        stage(
            STAGE,
            teacher_choice(teacher, profile),
            schemas.TEACHER_SCORES,
            {
                "pools": Input("pools", ("profile", profile.name), schemas.pools(profile.recall.scored)),
                "turns": Input("turns", None, schemas.TURNS, span, of_primary=True),
                "requests": Input("requests", None, schemas.REQUESTS),
            },
            "pools",
            partial(of_teacher_scores, top=teacher.top),
            config={"top": teacher.top},
            identities=(teacher.identity, teacher_instructions().identity),
            model=teacher.spec,
            costly=True,
        )
    ]


def of_teacher_scores(tables: Tables, model: LanguageModel, *, top: int | None) -> Iterator[ShardOutput]:
    """Stage `teacher_scores`."""
    before = model.spent
    for part in teacher_scores(tables["pools"], tables["requests"], tables["turns"], model, top):
        yield ShardOutput(part.table, part.quarantine, usage_since(model, before))
        before = model.spent


def require_teacher(profile: Profile, teacher: Teacher | None) -> None:
    """Raises PolicyError for a profile that names `llm_order` where nothing is rated."""
    if LLM_ORDER in profile.slates.policies and teacher is None:
        raise PolicyError(
            f"policy {LLM_ORDER} cannot be used: it goes by the scores of a teacher, and profile {profile.name} has "
            f"none. Name one, or take {LLM_ORDER} out of slates.policies"
        )
