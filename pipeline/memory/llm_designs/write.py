"""Stage `llm_notes`: what compared designs write along the histories of requests, before a question is seen."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pyarrow as pa

from models.interfaces import LanguageModel, TokenCounter
from pipeline.llm.prompts import instructions
from pipeline.llm.rounds import RETRY_TEMPERATURE, ROUNDS
from pipeline.memory.call import Call
from pipeline.memory.llm_designs import evolving_notes, running_summary
from pipeline.memory.llm_designs.chains import Chain, steps, written
from pipeline.memory.llm_designs.evolving_notes import EvolvingNotes
from pipeline.memory.llm_designs.names import EVOLVING_NOTES, SUMMARY_SHARES
from pipeline.memory.llm_designs.running_summary import RunningSummary, summary_chain
from pipeline.memory.notes import NoteTables
from pipeline.memory.options import MemoryOptions
from pipeline.memory.slates import AskedTables, calls, passed_through
from pipeline.policies.slates import SlateOptions
from pipeline.schemas import LLM_NOTES, features, pools

_SCHEME = 1
"""Version of how is asked and what answers are taken for: to be raised with any change of what is written."""
_ORDER = ("history_id", "policy", "budget", "room", "place", "prefix")


def write_scheme() -> str:
    """What decides, beside the model and the options, what is written: canonical JSON."""
    texts = [instructions(name).identity for name in (running_summary.PROMPT, evolving_notes.PROMPT)]
    decides = {"scheme": _SCHEME, "prompts": texts, "rounds": ROUNDS, "temperature": RETRY_TEMPERATURE}
    return json.dumps(decides, sort_keys=True)


def llm_notes(
    requests: pa.Table,
    noted: NoteTables,
    options: SlateOptions,
    memory: MemoryOptions,
    counter: TokenCounter,
    model: LanguageModel,
) -> pa.Table:
    """What is written (LLM_NOTES) for the requests of a batch by the policies of `options`, sorted by history.

    A history is read once for all requests that see the same of it; where a budget holds all of it, it is not read.
    """
    asked = AskedTables(requests, pools(()).empty_table(), features(()).empty_table())
    read = [
        call
        for call, whole in calls(asked, noted, options, memory, counter, None)
        if passed_through(call, whole) is None
    ]
    summaries = written(steps(_summarised(read, options.policies)), model, RunningSummary(model, counter))
    rows = summaries + written(steps(_evolving(read, options.policies)), model, EvolvingNotes(model))
    counts = counter.count_many([row["text"] for row in rows]).tolist() if rows else []
    told = [{**row, "n_tokens": n_tokens} for row, n_tokens in zip(rows, counts, strict=True)]
    return pa.Table.from_pylist(told, LLM_NOTES).sort_by([(name, "ascending") for name in _ORDER])


def _summarised(read: Sequence[Call], policies: Sequence[str]) -> Iterator[tuple[Chain, Call, Sequence[int]]]:
    for policy in SUMMARY_SHARES:
        for call in read if policy in policies else ():
            chain = summary_chain(call, policy)
            if chain is not None:
                yield chain, call, call.past


def _evolving(read: Sequence[Call], policies: Sequence[str]) -> Iterator[tuple[Chain, Call, Sequence[int]]]:
    for call in read if EVOLVING_NOTES in policies else ():
        yield Chain(call.view.notes.history_id, EVOLVING_NOTES), call, call.recorded
