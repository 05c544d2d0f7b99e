"""What the stages of jobs.graph compute: tables of a shard and the loaded model, handed to functions of pipeline."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from cluster.stage import ShardOutput, Usage
from models.interfaces import NO_TOKENS, Embedder, LanguageModel, PairScorer, Spent, TokenEncoder
from models.ranker import LightGBMRanker
from models.tokens import token_counter
from pipeline import schemas
from pipeline.answers.chosen import chosen
from pipeline.answers.judge import Judging, judgements
from pipeline.answers.read import Reading, answers
from pipeline.cross_scores import cross_scores
from pipeline.features.candidates import features
from pipeline.memory.llm_designs.read import llm_slates
from pipeline.memory.llm_designs.write import llm_notes
from pipeline.memory.notes import NoteTables
from pipeline.memory.options import MemoryOptions
from pipeline.memory.slates import AskedTables, memory_slates
from pipeline.policies.slates import SlateOptions, oracle_slates, slates
from pipeline.recall.cited import Citations
from pipeline.recall.gather import LateTables
from pipeline.recall.late.options import Code
from pipeline.recall.options import PoolOptions
from pipeline.recall.pools import pools
from pipeline.records.links import links
from pipeline.records.llm import LlmRecordWriter
from pipeline.records.record import RecordWriter
from pipeline.records.rule import RuleWriter
from pipeline.records.write import merged_records, records
from pipeline.terms import terms
from pipeline.tokens import request_tokens, turn_tokens
from pipeline.units.agents import agent_histories
from pipeline.units.cut import CutOptions, units
from pipeline.units.pieces import pieces
from pipeline.vectors import request_vectors, span_vectors, turn_vectors, unit_vectors

Tables = Mapping[str, pa.Table]
MakeWriter = Callable[[Any], RecordWriter]
"""Makes the writer of records of the stage's model."""


def load_all(loads: Mapping[str, Callable[[], TokenEncoder]]) -> dict[str, TokenEncoder]:
    """The encoders of a run that makes codes on the fly, by name."""
    return {name: load() for name, load in loads.items()}


def ranking_input(name: str) -> str:
    """What the input is called that is the imported ranking of this name."""
    return f"ranking {name}"


def of_terms(tables: Tables, _: None) -> ShardOutput:
    """Stage `terms`."""
    return ShardOutput(terms(tables["turns"]))


def of_turn_vectors(tables: Tables, embedder: Embedder) -> ShardOutput:
    """Stage `turn_vectors`."""
    return ShardOutput(*turn_vectors(tables["turns"], embedder))


def of_request_vectors(tables: Tables, embedder: Embedder) -> ShardOutput:
    """Stage `request_vectors`."""
    return ShardOutput(*request_vectors(tables["requests"], embedder))


def of_turn_tokens(tables: Tables, encoder: TokenEncoder, *, code: Code) -> Iterator[ShardOutput]:
    """Stages `turn_tokens`, of each encoder."""
    return (ShardOutput(*part) for part in turn_tokens(tables["turns"], encoder, code))


def of_request_tokens(tables: Tables, encoder: TokenEncoder) -> ShardOutput:
    """Stages `request_tokens`, of each encoder."""
    return ShardOutput(*request_tokens(tables["requests"], encoder))


def of_pools(
    tables: Tables, encoders: Mapping[str, TokenEncoder] | None, *, options: PoolOptions, code: Code
) -> ShardOutput:
    """Stage `pools`; `encoders` are there where codes of turns are made on the fly."""
    made = encoders or {}
    late = {
        name: LateTables(tables[f"{name}_request_tokens"], tables.get(f"{name}_turn_tokens"), made.get(name), code)
        for name in options.encoders
    }
    return ShardOutput(
        *pools(
            tables["requests"],
            tables["turns"],
            tables["terms"],
            tables.get("turn_vectors"),
            tables.get("request_vectors"),
            options,
            late,
            Citations(tables["requests"], tables["units"], tables["records"]) if options.record_cited else None,
        )
    )


def of_cross_scores(tables: Tables, scorer: PairScorer, *, top: int | None) -> ShardOutput:
    """Stage `cross_scores`."""
    return ShardOutput(*cross_scores(tables["pools"], tables["requests"], tables["turns"], scorer, top))


def of_features(tables: Tables, _: None, *, names: Sequence[str], channels: Sequence[str]) -> ShardOutput:
    """Stage `features`."""
    inputs = (tables["pools"], tables["turns"], tables["requests"])
    return ShardOutput(features(*inputs, names, channels, tables.get("cross_scores")))


def of_units(tables: Tables, _: None, *, options: CutOptions, tokenizer: str, formats: Collection[str]) -> ShardOutput:
    """Stage `units`."""
    agents = agent_histories(tables["sources"], tables["requests"], formats)
    return ShardOutput(units(tables["turns"], agents, options, token_counter(tokenizer)))


def of_pieces(tables: Tables, _: None, *, limit: int, tokenizer: str) -> ShardOutput:
    """Stage `pieces`."""
    return ShardOutput(pieces(tables["units"], tables["turns"], limit, token_counter(tokenizer)))


def rule_writer(_: None) -> RecordWriter:
    """The writer of records that needs no model."""
    return RuleWriter()


def llm_writer(model: LanguageModel, identity: str) -> RecordWriter:
    """The writer of records that asks a model, and the rule where that fails."""
    return LlmRecordWriter(model, RuleWriter(), identity)


def of_records(
    tables: Tables, model: LanguageModel | None, *, writer: MakeWriter, options: CutOptions, tokenizer: str
) -> ShardOutput:
    """Stage `records`."""
    read = (tables["units"], tables["all_units"], tables["turns"])
    before = _spent(model)
    made = records(*read, writer(model), options, token_counter(tokenizer))
    return ShardOutput(made, usage=usage_since(model, before))


def of_merged_records(
    tables: Tables, model: LanguageModel | None, *, writer: MakeWriter, tokenizer: str
) -> ShardOutput:
    """Stage `merged_records`."""
    read = (tables["records"], tables["all_records"])
    before = _spent(model)
    made = merged_records(*read, writer(model), token_counter(tokenizer))
    return ShardOutput(made, usage=usage_since(model, before))


def _spent(model: LanguageModel | None) -> Spent:
    return NO_TOKENS if model is None else model.spent


def usage_since(model: LanguageModel | None, before: Spent) -> Usage:
    """What a model was asked since."""
    return Usage(*_spent(model).since(before))


def of_unit_vectors(tables: Tables, embedder: Embedder) -> ShardOutput:
    """Stage `unit_vectors`."""
    return ShardOutput(*unit_vectors(tables["records"], embedder))


def of_span_vectors(tables: Tables, embedder: Embedder) -> ShardOutput:
    """Stage `span_vectors`."""
    return ShardOutput(*span_vectors(tables["pieces"], tables["turns"], embedder))


def of_links(tables: Tables, _: None) -> ShardOutput:
    """Stage `links`."""
    return ShardOutput(links(tables["vectors"], tables["all_vectors"]))


def of_slates(
    tables: Tables,
    _: None,
    *,
    options: SlateOptions,
    tokenizer: str,
    ranker: LightGBMRanker | None,
    remembered: SlateOptions | None = None,
    memory: MemoryOptions | None = None,
) -> ShardOutput:
    """Stage `slates`: by `options` those filled from pools, by `remembered` those of memory."""
    counter = token_counter(tokenizer)
    rankings = {name: tables[of] for name in options.policies if (of := ranking_input(name)) in tables}
    read = (tables["requests"], tables["features"], tables["turns"])
    made = []
    if options.policies:
        made.append(
            slates(*read, options, counter, ranker, rankings, tables.get("pools"), tables.get("teacher_scores"))
        )
    if remembered is not None and memory is not None:
        asked = AskedTables(tables["requests"], tables["pools"], tables["features"], tables.get("request_vectors"))
        made.append(memory_slates(asked, _noted(tables), remembered, memory, counter, ranker))
    return ShardOutput(made[0] if len(made) == 1 else _by_request(pa.concat_tables(made)))


def _noted(tables: Tables) -> NoteTables:
    """What there is of notes."""
    return NoteTables(**{name: tables[name] for name in NoteTables.__annotations__ if name in tables})


def of_llm_notes(
    tables: Tables, model: LanguageModel, *, options: SlateOptions, memory: MemoryOptions, tokenizer: str
) -> ShardOutput:
    """Stage `llm_notes`."""
    before = _spent(model)
    made = llm_notes(tables["requests"], _noted(tables), options, memory, token_counter(tokenizer), model)
    return ShardOutput(made, usage=usage_since(model, before))


def of_llm_slates(
    tables: Tables, model: LanguageModel | None, *, options: SlateOptions, memory: MemoryOptions | None, tokenizer: str
) -> ShardOutput:
    """Stage `llm_slates`."""
    before = _spent(model)
    asked = AskedTables(
        tables["requests"],
        tables["pools"],
        schemas.features(()).empty_table(),  # no policy here goes by a ranker
        tables.get("request_vectors"),
    )
    noted = _noted(tables) if "units" in tables else None
    made, notes = llm_slates(
        asked, tables["turns"], noted, tables.get("llm_notes"), options, memory, token_counter(tokenizer), model
    )
    return ShardOutput(made, notes, usage_since(model, before))


def of_oracle_slates(tables: Tables, _: None, *, options: SlateOptions, tokenizer: str) -> ShardOutput:
    """Stage `oracle_slates`."""
    counter = token_counter(tokenizer)
    return ShardOutput(
        oracle_slates(tables["requests"], tables["features"], tables["turns"], tables["labels"], options, counter)
    )


def _by_request(slates: pa.Table) -> pa.Table:
    """Slates sorted by history and request, in their order within one."""
    frame = pl.DataFrame(pl.from_arrow(slates)).with_row_index("row").sort(*schemas.REQUEST_KEY, "row")
    return slates.take(pa.array(frame["row"].to_numpy()))


def of_answers(
    tables: Tables, model: LanguageModel, *, policy: str, budget: int, up_to: str | None, reading: Reading
) -> ShardOutput:
    """Stages `answers-...`, of each policy and budget."""
    before = _spent(model)
    chosen_slates = chosen(tables["slates"], tables["requests"], policy, budget, up_to)
    made = answers(chosen_slates, tables["requests"], model, reading)
    return ShardOutput(made, usage=usage_since(model, before))


def of_judgements(tables: Tables, model: LanguageModel, *, judging: Judging) -> ShardOutput:
    """Stages `judgements-...`, of each set of answers."""
    before = _spent(model)
    made = judgements(tables["answers"], tables["requests"], model, judging)
    return ShardOutput(made, usage=usage_since(model, before))
