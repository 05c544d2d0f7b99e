"""The whole path of the data: every stage of a run, in order, with what it reads and what it writes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from cluster.stage import Choice, Input, ModelSpec, Span, Stage
from jobs import shards
from jobs.config import Profile, goes_by_ranker
from jobs.llm_slate_stages import llm_slate_stages
from jobs.note_stages import cited_inputs, note_inputs, text_stages, vector_stages
from jobs.ranker_suits import require_own_features
from jobs.staging import stage
from jobs.teacher_stages import STAGE as TEACHER_SCORES
from jobs.teacher_stages import Teacher, require_teacher, teacher_input, teacher_stages
from models.cross_encoder import CrossEncoderScorer, cross_encoder_identity
from models.embedder import SentenceEmbedder, embedder_identity
from models.encoder_registry import find_tuned, load_tuned
from models.ranker import LightGBMRanker
from models.token_encoder import (
    LateInteractionEncoder,
    token_encoder_identity,
)
from models.windowed import VectorIdentity
from pipeline import schemas
from pipeline.memory.registry import AUTO
from pipeline.policies.candidates import reading_pools
from pipeline.policies.registry import LLM_ORDER, ORACLE, policies_of
from pipeline.policies.slates import SlateOptions
from pipeline.recall.analyzer import ANALYZER_ID

TURNS_OF_A_GROUP = 256
"""Turns of a row group of turn_tokens: 4 MB at 40 tokens of 384 dimensions."""


def stages(
    profile: Profile, tokenizer: str, ranker: LightGBMRanker | None = None, teacher: Teacher | None = None
) -> list[Stage]:
    """The stages of a run, in order. Without a ranker, the policies that go by one are left out.

    Raises PolicyError for a policy that needs what the ranker lacks or a teacher where there is none, RankerError for
    a ranker of other features.
    """
    require_teacher(profile, teacher)
    return [
        *text_stages(profile, tokenizer),
        *stages_to_features(profile),
        *vector_stages(profile),
        *teacher_stages(profile, teacher),
        *slate_stages(profile, tokenizer, ranker, teacher),
        *llm_slate_stages(profile, tokenizer),
    ]


def stages_to_features(profile: Profile) -> list[Stage]:
    """What training needs: terms, vectors, pools, features. Where pools read records, text_stages come before."""
    analyzed: Choice = ("analyzer", ANALYZER_ID)
    by_profile: Choice = ("profile", profile.name)
    span: Span = "all" if profile.as_of == "latest" else "prefix"
    seen_turns = Input("turns", None, schemas.TURNS, span, of_primary=True)
    requests = Input("requests", None, schemas.REQUESTS)

    path = [
        stage(
            "terms", analyzed, schemas.TERMS, {"turns": Input("turns", None, schemas.TURNS)}, "turns", shards.of_terms
        ),
    ]
    pool_inputs = {
        "requests": requests,
        "turns": seen_turns,
        "terms": Input("terms", analyzed, schemas.TERMS, span, of_primary=True),
    }
    if profile.recall.needs_vectors:
        path += _vector_stages(profile, pool_inputs, seen_turns)
    pool_inputs |= cited_inputs(profile, span)
    pool_models: dict[str, Any] = {}
    pool_config: dict[str, Any] = {}
    if profile.recall.encoders:
        path += _token_stages(profile, pool_inputs, pool_models)
        pool_config["code"] = profile.late_interaction.code
    feature_inputs = {
        "pools": Input("pools", by_profile, schemas.pools(profile.recall.scored)),
        "turns": seen_turns,
        "requests": requests,
    }
    cross_stages = _cross_stages(profile, feature_inputs)
    path += [
        stage(
            "pools",
            by_profile,
            schemas.pools(profile.recall.scored),
            pool_inputs,
            "requests",
            partial(shards.of_pools, options=profile.recall, code=profile.late_interaction.code),
            config={
                "recall": profile.recall.model_dump(mode="json"),
                "as_of": profile.as_of,
                "analyzer": ANALYZER_ID,  # of requests: their terms are no table
                **pool_config,
            },
            version=6,
            **pool_models,
        ),
        *cross_stages,
        stage(
            "features",
            by_profile,
            schemas.features(profile.features),
            feature_inputs,
            "pools",
            partial(shards.of_features, names=profile.features, channels=profile.recall.scored),
            config={"features": list(profile.features)},
            version=2,
        ),
    ]
    return path


def _vector_stages(profile: Profile, pool_inputs: dict[str, Input], seen_turns: Input) -> list[Stage]:
    """Vectors of turns and requests, and what pools read of them, put into `pool_inputs`."""
    assert profile.embedder is not None, "a profile with a dense channel has an embedder"
    config = profile.embedder.windowed
    identity = embedder_identity(config)
    embedded: Choice = ("model", identity.choice_id)
    turn_schema, request_schema = schemas.turn_vectors(identity.dim), schemas.request_vectors(identity.dim)
    pool_inputs["turn_vectors"] = Input("turn_vectors", embedded, turn_schema, seen_turns.span, of_primary=True)
    pool_inputs["request_vectors"] = Input("request_vectors", embedded, request_schema)
    model: dict[str, Any] = {
        "identities": (identity.text,),
        "model": ModelSpec(identity.choice_id, partial(SentenceEmbedder, config)),
    }
    turns, requests = Input("turns", None, schemas.TURNS), Input("requests", None, schemas.REQUESTS)
    return [
        stage(
            "turn_vectors",
            embedded,
            turn_schema,
            {"turns": turns},
            "turns",
            shards.of_turn_vectors,
            costly=True,
            **model,
        ),
        stage(
            "request_vectors",
            embedded,
            request_schema,
            {"requests": requests},
            "requests",
            shards.of_request_vectors,
            **model,
        ),
    ]


def _token_stages(profile: Profile, pool_inputs: dict[str, Input], pool_models: dict[str, Any]) -> list[Stage]:
    """Tokens of requests and, where they are stored, codes of turns; what pools read of them is put into its inputs.

    Codes that are not stored are made where pools are: then its stage holds the models.
    """
    late = profile.late_interaction
    encoders = {name: _token_encoder(name, profile) for name in profile.recall.encoders}
    stages = []
    for name, (identity, spec) in encoders.items():
        model: dict[str, Any] = {"identities": (identity.text,), "model": spec}
        span = pool_inputs["turns"].span
        if late.source == "stored":
            of_turns: Choice = ("model", f"{identity.choice_id}-{late.code}")
            schema = schemas.TURN_TOKENS
            turns = {"turns": Input("turns", None, schemas.TURNS)}
            compute = partial(shards.of_turn_tokens, code=late.code)
            more: dict[str, Any] = {
                "table": "turn_tokens",
                "config": {"code": late.code},
                "costly": True,
                "version": 2,
                "group_rows": TURNS_OF_A_GROUP,
                **model,
            }
            stages.append(stage(token_stage(name, "turn_tokens"), of_turns, schema, turns, "turns", compute, **more))
            pool_inputs[f"{name}_turn_tokens"] = Input("turn_tokens", of_turns, schema, span, in_groups=True)
        of_requests: Choice = ("model", identity.choice_id)
        schema = schemas.request_tokens(identity.dim)
        requests = {"requests": Input("requests", None, schemas.REQUESTS)}
        more = {"table": "request_tokens", "config": {"analyzer": ANALYZER_ID}, "version": 2, **model}
        of_stage = token_stage(name, "request_tokens")
        stages.append(stage(of_stage, of_requests, schema, requests, "requests", shards.of_request_tokens, **more))
        pool_inputs[f"{name}_request_tokens"] = Input("request_tokens", of_requests, schema)
    if late.source == "on_the_fly":
        pool_models["identities"] = tuple(identity.text for identity, _ in encoders.values())
        loads = {name: spec.load for name, (_, spec) in encoders.items()}
        key = "+".join(spec.key for _, spec in encoders.values())
        pool_models["model"] = ModelSpec(key, partial(shards.load_all, loads))
    return stages


def token_stage(encoder: str, table: str) -> str:
    """The stage that writes a table of tokens by an encoder: a run has a stage's name once."""
    return table if encoder == "late" else f"{encoder}_{table}"


def _token_encoder(name: str, profile: Profile) -> tuple[VectorIdentity, ModelSpec]:
    """The frozen encoder of a profile, or the one that was tuned for it."""
    late = profile.late_interaction
    if name == "tuned":
        tuned = find_tuned(late.tuned, profile.name)
        return tuned.identity, ModelSpec(f"tokens-{tuned.identity.choice_id}", partial(load_tuned, tuned))
    config = late.windowed
    identity = token_encoder_identity(config)
    return identity, ModelSpec(f"tokens-{identity.choice_id}", partial(LateInteractionEncoder, config))


def _cross_stages(profile: Profile, feature_inputs: dict[str, Input]) -> list[Stage]:
    """Scores of a profile's pools by its cross-encoder, where it has one; what features read of them is put in theirs.

    Costly: what is stale is scored anew only when the stage is named. The pools of another profile are other rows, so
    that a batch which was scored for one profile is new to the next.
    """
    if profile.cross_encoder is None:
        return []
    options = profile.cross_encoder
    config = options.windowed
    identity = cross_encoder_identity(config)
    by_profile: Choice = ("profile", profile.name)
    scored = stage(
        "cross_scores",
        by_profile,
        schemas.CROSS_SCORES,
        dict(feature_inputs),
        "pools",
        partial(shards.of_cross_scores, top=options.top),
        config={"top": options.top},
        identities=(identity.text,),
        model=ModelSpec(f"cross-{identity.choice_id}", partial(CrossEncoderScorer, config)),
        costly=True,
    )
    feature_inputs["cross_scores"] = Input("cross_scores", by_profile, schemas.CROSS_SCORES)
    return [scored]


def slate_stages(
    profile: Profile, tokenizer: str, ranker: LightGBMRanker | None, teacher: Teacher | None = None
) -> list[Stage]:
    """Slates of every policy, and apart from them the oracle's, the only stage that reads labels."""
    by_profile: Choice = ("profile", profile.name)
    span: Span = "all" if profile.as_of == "latest" else "prefix"
    inputs = {
        "requests": Input("requests", None, schemas.REQUESTS),
        "features": Input("features", by_profile, schemas.features(profile.features)),
        "turns": Input("turns", None, schemas.TURNS, span, of_primary=True),
    }
    policies = policies_made(profile, ranker)
    # What cannot be used is said before anything runs.
    if ranker is not None and any(map(goes_by_ranker, policies)):
        require_own_features(ranker, profile)
    of_memory = tuple(policy for policy in policies if policy in profile.memory_policies)
    of_pools = tuple(policy for policy in policies if policy not in of_memory)
    policies_of(of_pools, ranker, inputs["features"].schema.names, profile.rankings)
    pools = {"pools": Input("pools", by_profile, schemas.pools(profile.recall.scored))}
    read_too = pools if of_memory or reading_pools(of_pools, profile.features) else {}
    read_too |= note_inputs(profile, span) if of_memory else {}
    if teacher is not None and LLM_ORDER in of_pools:
        read_too[TEACHER_SCORES] = teacher_input(teacher, profile)
    read_too |= {
        shards.ranking_input(name): Input("rankings", ("policy", name), schemas.RANKINGS) for name in profile.rankings
    }
    rendered = {"budgets": list(profile.slates.budgets), "style": profile.slates.style, "tokenizer": tokenizer}
    path = []
    if policies:
        shown = SlateOptions(policies=of_pools, budgets=profile.slates.budgets, style=profile.slates.style)
        remembered = replace(shown, policies=of_memory) if of_memory else None
        noting = {"memory": profile.memory.model_dump(mode="json")} if profile.memory and of_memory else {}
        path.append(
            stage(
                "slates",
                by_profile,
                schemas.SLATES,
                inputs | read_too,
                "requests",
                partial(
                    shards.of_slates,
                    options=shown,
                    tokenizer=tokenizer,
                    ranker=ranker,
                    remembered=remembered,
                    memory=profile.memory,
                ),
                config={"policies": list(policies), **rendered, **noting},
                identities=(ranker.identity,) if ranker is not None and any(map(goes_by_ranker, policies)) else (),
            )
        )
    if ORACLE in profile.slates.policies:
        options = SlateOptions(policies=(ORACLE,), budgets=profile.slates.budgets, style=profile.slates.style)
        path.append(
            stage(
                "oracle_slates",
                by_profile,
                schemas.SLATES,
                {
                    **inputs,
                    "labels": Input(
                        "labels", None, schemas.LABELS, "all" if span == "all" else "batch", of_primary=True
                    ),
                },
                "requests",
                partial(shards.of_oracle_slates, options=options, tokenizer=tokenizer),
                config=rendered,
            )
        )
    return path


def policies_made(profile: Profile, ranker: LightGBMRanker | None) -> tuple[str, ...]:
    """The policies of the stage `slates`: all but the oracle and those that ask a language model, and those that go by
    a ranker only with one that has learned what they need."""
    usable = [policy for policy in profile.slates.policies if ranker is not None or not goes_by_ranker(policy)]
    learned = ranker is not None and ranker.mode_choice is not None
    apart = (ORACLE, *profile.llm_policies)
    return tuple(policy for policy in usable if policy not in apart and (policy != AUTO or learned))
