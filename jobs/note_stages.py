"""The part of the path that notes what happened: units, pieces, records, their vectors and links, merged records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from cluster.stage import Choice, Input, ModelSpec, Span, Stage
from jobs import shards
from jobs.config import Profile
from jobs.llm_stages import served
from jobs.staging import stage
from models.embedder import SentenceEmbedder, embedder_identity
from models.llm.load import llm_identity
from pipeline import schemas
from pipeline.ingest.formats import AGENT_FORMATS
from pipeline.memory.registry import OF_SPANS
from pipeline.records.llm import scheme as writer_scheme
from pipeline.records.rule import RuleWriter

_OF_SESSION = ("history_id", "session_index")
"""What bisection takes out of units and records: those of a session."""


def text_stages(profile: Profile, tokenizer: str) -> list[Stage]:
    """What a profile with `memory` writes of each unit, once; none where it has no memory. Recall may read it."""
    memory = profile.memory
    if memory is None:
        return []
    cut: Choice = ("cut", memory.cut.choice_id)
    turns = Input("turns", None, schemas.TURNS)
    prefix_turns = Input("turns", None, schemas.TURNS, "prefix", of_primary=True)
    units = Input("units", cut, schemas.UNITS)
    by = _writing(profile)
    written: Choice = ("writer", writer_id(profile))
    records = Input("records", written, schemas.RECORDS)
    counted: dict[str, Any] = {"tokenizer": tokenizer, "cut": memory.cut.model_dump()}
    return [
        stage(
            "units",
            cut,
            schemas.UNITS,
            {
                "turns": turns,
                "sources": Input("sources", None, schemas.SOURCES),
                "requests": Input("requests", None, schemas.REQUESTS, "prefix", of_primary=True),
            },
            "turns",
            partial(shards.of_units, options=memory.cut, tokenizer=tokenizer, formats=AGENT_FORMATS),
            config={**counted, "agent_formats": list(AGENT_FORMATS)},
        ),
        stage(
            "pieces",
            ("cut", memory.pieces_id),
            schemas.PIECES,
            {"units": units, "turns": turns},
            "units",
            partial(shards.of_pieces, limit=memory.piece_tokens, tokenizer=tokenizer),
            config={"tokenizer": tokenizer, "piece_tokens": memory.piece_tokens},
            unit=_OF_SESSION,
        ),
        stage(
            "records",
            written,
            schemas.RECORDS,
            {
                "units": units,
                "all_units": Input("units", cut, schemas.UNITS, "prefix", of_primary=True),
                "turns": prefix_turns,
            },
            "units",
            partial(shards.of_records, writer=by.make, options=memory.cut, tokenizer=tokenizer),
            config={**counted, **by.config},
            version=2,
            unit=_OF_SESSION,
            **by.more,
        ),
        stage(
            "merged_records",
            written,
            schemas.MERGED_RECORDS,
            {
                "records": records,
                "all_records": Input("records", written, schemas.RECORDS, "prefix", of_primary=True),
            },
            "records",
            partial(shards.of_merged_records, writer=by.make, tokenizer=tokenizer),
            config={"tokenizer": tokenizer, **by.config},
            version=2,
            unit=_OF_SESSION,
            **by.more,
        ),
    ]


@dataclass(frozen=True)
class _Writing:
    """Who writes records: made of the stage's model; what of it goes into stamps; and what else the stages need."""

    make: shards.MakeWriter
    config: Mapping[str, Any]
    more: Mapping[str, Any]


def _writing(profile: Profile) -> _Writing:
    assert profile.memory is not None
    if profile.memory.writers[0] == "rule":
        return _Writing(shards.rule_writer, {"writer": RuleWriter.identity}, {"instead": _older_writers(profile)})
    assert profile.writer is not None
    identity, spec = served(profile.writer, writer_scheme())
    more = {"identities": (identity.text,), "model": spec, "costly": True, "instead": _older_writers(profile)}
    return _Writing(partial(shards.llm_writer, identity=identity.text), {"fallback": RuleWriter.identity}, more)


def _older_writers(profile: Profile) -> tuple[Choice, ...]:
    """Whose records stand for those that the first writer has not written."""
    assert profile.memory is not None
    return tuple(("writer", _written_by(name, profile)) for name in profile.memory.writers[1:])


def _written_by(name: str, profile: Profile) -> str:
    """What names the records of a writer in paths: the writer, and the cut of what they are written of."""
    assert profile.memory is not None
    if name == "rule":
        return f"{RuleWriter.identity}-{profile.memory.cut.choice_id}"
    if name == "llm":
        assert profile.writer is not None
        return f"{llm_identity(profile.writer, writer_scheme()).choice_id}-{profile.memory.cut.choice_id}"
    return name


def vector_stages(profile: Profile) -> list[Stage]:
    """Vectors of records, links between them and vectors of spans, of a profile with `memory` and an embedder."""
    if profile.memory is None or profile.embedder is None:
        return []
    embedded = embedded_choice(profile)
    schema = schemas.unit_vectors(embedder_identity(profile.embedder.windowed).dim)
    vectors = Input("unit_vectors", embedded, schema)
    records = Input("records", ("writer", writer_id(profile)), schemas.RECORDS)
    return [
        stage(
            "unit_vectors",
            embedded,
            schema,
            {"records": records},
            "records",
            shards.of_unit_vectors,
            unit=_OF_SESSION,
            # What stood for records that are written after all is embedded anew: there is little of it.
            **{**_embedding(profile), "costly": len(profile.memory.writers) == 1},
        ),
        stage(
            "links",
            embedded,
            schemas.LINKS,
            {"vectors": vectors, "all_vectors": Input("unit_vectors", embedded, schema, "prefix", of_primary=True)},
            "vectors",
            shards.of_links,
            unit=_OF_SESSION,
        ),
        *_span_stages(profile),
    ]


def _span_stages(profile: Profile) -> list[Stage]:
    """What only compared designs read."""
    if not reads_spans(profile):
        return []
    assert profile.embedder is not None
    assert profile.memory is not None
    return [
        stage(
            "span_vectors",
            spans_choice(profile),
            schemas.span_vectors(embedder_identity(profile.embedder.windowed).dim),
            {
                "pieces": Input("pieces", ("cut", profile.memory.pieces_id), schemas.PIECES),
                "turns": Input("turns", None, schemas.TURNS),
            },
            "pieces",
            shards.of_span_vectors,
            unit=_OF_SESSION,
            **_embedding(profile),
        )
    ]


def _embedding(profile: Profile) -> dict[str, Any]:
    """What stages that embed have in common."""
    assert profile.embedder is not None
    config = profile.embedder.windowed
    identity = embedder_identity(config)
    model = ModelSpec(identity.choice_id, partial(SentenceEmbedder, config))
    return {"identities": (identity.text,), "model": model, "costly": True}


def reads_spans(profile: Profile) -> bool:
    """Whether a policy of the profile goes by spans of units."""
    return profile.embedder is not None and any(policy in OF_SPANS for policy in profile.slates.policies)


def spans_choice(profile: Profile) -> Choice:
    """What names the vectors of a profile's spans: the model, and the pieces that they are made of."""
    assert profile.embedder is not None
    assert profile.memory is not None
    return ("model", f"{embedder_identity(profile.embedder.windowed).choice_id}-{profile.memory.pieces_id}")


def writer_id(profile: Profile) -> str:
    """What names the records in paths that a profile writes."""
    assert profile.memory is not None
    return _written_by(profile.memory.writers[0], profile)


def embedded_choice(profile: Profile) -> Choice:
    """What names the vectors of a profile's records: the model, and whose records they are."""
    assert profile.embedder is not None
    writers = "-or-".join([writer_id(profile), *(older for _, older in _older_writers(profile))])
    return ("model", f"{embedder_identity(profile.embedder.windowed).choice_id}-{writers}")


def cited_inputs(profile: Profile, span: Span) -> dict[str, Input]:
    """What recall reads of records, where it adds what they cite."""
    if not profile.recall.record_cited:
        return {}
    noted = note_inputs(profile, span)
    return {name: noted[name] for name in ("units", "records")}


def note_inputs(profile: Profile, span: Span) -> dict[str, Input]:
    """What slates of memory read of all this."""
    memory = profile.memory
    assert memory is not None
    written: Choice = ("writer", writer_id(profile))
    read: dict[str, Input] = {
        "units": Input("units", ("cut", memory.cut.choice_id), schemas.UNITS, span, of_primary=True),
        "pieces": Input("pieces", ("cut", memory.pieces_id), schemas.PIECES, span, of_primary=True),
        "records": Input("records", written, schemas.RECORDS, span, of_primary=True),
        "merged_records": Input("merged_records", written, schemas.MERGED_RECORDS, span, of_primary=True),
    }
    if profile.embedder is not None:
        identity = embedder_identity(profile.embedder.windowed)
        embedded = embedded_choice(profile)
        read["unit_vectors"] = Input(
            "unit_vectors", embedded, schemas.unit_vectors(identity.dim), span, of_primary=True
        )
        read["links"] = Input("links", embedded, schemas.LINKS, span, of_primary=True)
        if reads_spans(profile):
            schema = schemas.span_vectors(identity.dim)
            read["span_vectors"] = Input("span_vectors", spans_choice(profile), schema, span, of_primary=True)
        if profile.recall.needs_vectors:
            of_requests: Choice = ("model", identity.choice_id)
            read["request_vectors"] = Input("request_vectors", of_requests, schemas.request_vectors(identity.dim))
    return read
