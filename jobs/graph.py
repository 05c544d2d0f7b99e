"""The whole path of the data: every stage of a run, in order, with what it reads and what it writes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from cluster.stage import Choice, Input, ModelSpec, ShardOutput, Span, Stage
from jobs.config import Profile
from models.embedder import EmbedderConfig, SentenceEmbedder, embedder_identity
from models.interfaces import Embedder
from models.ranker import LightGBMRanker
from models.tokens import token_counter
from pipeline import schemas
from pipeline.features.ten import features
from pipeline.policies.slates import SlateOptions, oracle_slates, slates
from pipeline.recall.analyzer import ANALYZER_ID
from pipeline.recall.options import PoolOptions
from pipeline.recall.pools import pools
from pipeline.terms import terms
from pipeline.vectors import request_vectors, turn_vectors

Tables = Mapping[str, pa.Table]


def stages(profile: Profile, tokenizer: str, ranker: LightGBMRanker | None = None) -> list[Stage]:
    """The stages of a run, in order. Without a ranker, `lambdarank` is left out of the policies."""
    return [*stages_to_features(profile), *slate_stages(profile, tokenizer, ranker)]


def stages_to_features(profile: Profile) -> list[Stage]:
    """What training needs: terms, vectors, pools, features."""
    analyzed: Choice = ("analyzer", ANALYZER_ID)
    by_profile: Choice = ("profile", profile.name)
    span: Span = "all" if profile.as_of == "latest" else "prefix"
    seen_turns = Input("turns", None, schemas.TURNS, span, of_primary=True)
    requests = Input("requests", None, schemas.REQUESTS)

    path = [
        _stage("terms", analyzed, schemas.TERMS, {"turns": Input("turns", None, schemas.TURNS)}, "turns", _terms),
    ]
    pool_inputs = {
        "requests": requests,
        "turns": seen_turns,
        "terms": Input("terms", analyzed, schemas.TERMS, span, of_primary=True),
    }
    if profile.embedder is not None:
        config = EmbedderConfig(name=profile.embedder.model, max_tokens=profile.embedder.max_tokens)
        identity = embedder_identity(config)
        embedded: Choice = ("model", identity.choice_id)
        model = ModelSpec(identity.choice_id, partial(SentenceEmbedder, config))
        turn_schema, request_schema = schemas.turn_vectors(identity.dim), schemas.request_vectors(identity.dim)
        common: dict[str, Any] = {"identities": (identity.text,), "model": model}
        path += [
            _stage(
                "turn_vectors",
                embedded,
                turn_schema,
                {"turns": Input("turns", None, schemas.TURNS)},
                "turns",
                _turn_vectors,
                costly=True,
                **common,
            ),
            _stage(
                "request_vectors",
                embedded,
                request_schema,
                {"requests": requests},
                "requests",
                _request_vectors,
                **common,
            ),
        ]
        pool_inputs["turn_vectors"] = Input("turn_vectors", embedded, turn_schema, span, of_primary=True)
        pool_inputs["request_vectors"] = Input("request_vectors", embedded, request_schema)
    path += [
        _stage(
            "pools",
            by_profile,
            schemas.POOLS,
            pool_inputs,
            "requests",
            partial(_pools, options=profile.recall),
            config={
                "recall": profile.recall.model_dump(mode="json"),
                "as_of": profile.as_of,
                "analyzer": ANALYZER_ID,  # of requests: their terms are no table
            },
            version=2,
        ),
        _stage(
            "features",
            by_profile,
            schemas.FEATURES,
            {"pools": Input("pools", by_profile, schemas.POOLS), "turns": seen_turns},
            "pools",
            _features,
        ),
    ]
    return path


def slate_stages(profile: Profile, tokenizer: str, ranker: LightGBMRanker | None) -> list[Stage]:
    """Slates of every policy, and apart from them the oracle's, the only stage that reads labels."""
    by_profile: Choice = ("profile", profile.name)
    span: Span = "all" if profile.as_of == "latest" else "prefix"
    inputs = {
        "requests": Input("requests", None, schemas.REQUESTS),
        "features": Input("features", by_profile, schemas.FEATURES),
        "turns": Input("turns", None, schemas.TURNS, span, of_primary=True),
    }
    policies = policies_of(profile, ranker)
    rendered = {"budgets": list(profile.slates.budgets), "style": profile.slates.style, "tokenizer": tokenizer}
    path = []
    if policies:
        options = SlateOptions(policies=policies, budgets=profile.slates.budgets, style=profile.slates.style)
        path.append(
            _stage(
                "slates",
                by_profile,
                schemas.SLATES,
                inputs,
                "requests",
                partial(_slates, options=options, tokenizer=tokenizer, ranker=ranker),
                config={"policies": list(policies), **rendered},
                identities=(ranker.identity,) if ranker is not None and "lambdarank" in policies else (),
            )
        )
    if "oracle" in profile.slates.policies:
        options = SlateOptions(policies=("oracle",), budgets=profile.slates.budgets, style=profile.slates.style)
        path.append(
            _stage(
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
                partial(_oracle_slates, options=options, tokenizer=tokenizer),
                config=rendered,
            )
        )
    return path


def policies_of(profile: Profile, ranker: LightGBMRanker | None) -> tuple[str, ...]:
    """The policies of the stage `slates`: all but the oracle, and lambdarank only with a ranker."""
    left_out = {"oracle"} if ranker is not None else {"oracle", "lambdarank"}
    return tuple(policy for policy in profile.slates.policies if policy not in left_out)


def _stage(
    name: str,
    choice: Choice,
    schema: pa.Schema,
    inputs: Mapping[str, Input],
    primary: str,
    compute: Any,
    version: int = 1,
    **more: Any,
) -> Stage:
    unit = schemas.TURN_KEY if primary == "turns" else schemas.REQUEST_KEY
    return Stage(
        name=name,
        version=version,
        table=name,
        choice=choice,
        schema=schema,
        inputs=inputs,
        primary=primary,
        unit=unit,
        compute=compute,
        quarantine_schema=schemas.QUARANTINE,
        **more,
    )


def _terms(tables: Tables, _: None) -> ShardOutput:
    return ShardOutput(terms(tables["turns"]))


def _turn_vectors(tables: Tables, embedder: Embedder) -> ShardOutput:
    return ShardOutput(*turn_vectors(tables["turns"], embedder))


def _request_vectors(tables: Tables, embedder: Embedder) -> ShardOutput:
    return ShardOutput(*request_vectors(tables["requests"], embedder))


def _pools(tables: Tables, _: None, *, options: PoolOptions) -> ShardOutput:
    return ShardOutput(
        pools(
            tables["requests"],
            tables["turns"],
            tables["terms"],
            tables.get("turn_vectors"),
            tables.get("request_vectors"),
            options,
        )
    )


def _features(tables: Tables, _: None) -> ShardOutput:
    return ShardOutput(features(tables["pools"], tables["turns"]))


def _slates(
    tables: Tables, _: None, *, options: SlateOptions, tokenizer: str, ranker: LightGBMRanker | None
) -> ShardOutput:
    counter = token_counter(tokenizer)
    return ShardOutput(slates(tables["requests"], tables["features"], tables["turns"], options, counter, ranker))


def _oracle_slates(tables: Tables, _: None, *, options: SlateOptions, tokenizer: str) -> ShardOutput:
    counter = token_counter(tokenizer)
    return ShardOutput(
        oracle_slates(tables["requests"], tables["features"], tables["turns"], tables["labels"], options, counter)
    )
