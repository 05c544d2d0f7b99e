"""Stage `llm_slates`: slates of the compared designs that ask a language model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from models.interfaces import LanguageModel, TokenCounter
from pipeline import schemas
from pipeline.llm.prompts import instructions
from pipeline.llm.rounds import RETRY_TEMPERATURE, ROUNDS, Complaint, ask
from pipeline.memory.call import Call
from pipeline.memory.draft import Draft, Rendered
from pipeline.memory.llm_designs import listwise, read_agent
from pipeline.memory.llm_designs.chains import Chain
from pipeline.memory.llm_designs.evolved_retrieval import Told, evolving_notes
from pipeline.memory.llm_designs.names import EVOLVING_NOTES, LISTWISE, LLM_OF_MEMORY, READ_AGENT, SUMMARY_SHARES
from pipeline.memory.llm_designs.prefixes import prefixes
from pipeline.memory.llm_designs.running_summary import summary_chain, summary_notes
from pipeline.memory.llm_designs.words import Words
from pipeline.memory.notes import NoteTables
from pipeline.memory.options import MemoryOptions
from pipeline.memory.slates import AskedTables, calls, passed_through, settled
from pipeline.policies.slates import SlateOptions
from pipeline.quarantined import notes_of

_SCHEME = 1
"""Version of how is asked and what answers are taken for: to be raised with any change of what is shown."""
FAILED = "llm_failed"
"""Code of a slate whose question came to nothing, so that the design went on without an answer."""
SHORTENED = "llm_shortened"
"""Code of a question that could not hold all that it should."""
_ORDER = ("history_id", "request_id", "policy", "budget")


def read_scheme() -> str:
    """What decides, beside the model and the options, what is chosen: canonical JSON."""
    texts = [instructions(name).identity for name in (read_agent.PROMPT, listwise.PROMPT)]
    decides = {"scheme": _SCHEME, "prompts": texts, "rounds": ROUNDS, "temperature": RETRY_TEMPERATURE}
    return json.dumps(decides, sort_keys=True)


@dataclass(frozen=True)
class Remark:
    """What is to be said of a slate, or of those of a request."""

    history_id: str
    request_id: str
    code: str
    reason: str


def llm_slates(
    asked: AskedTables,
    turns: pa.Table,
    noted: NoteTables | None,
    written: pa.Table | None,
    options: SlateOptions,
    memory: MemoryOptions | None,
    counter: TokenCounter,
    model: LanguageModel | None,
) -> tuple[pa.Table, pa.Table]:
    """Slates of the policies of `options`, sorted by history, request, policy and budget: (SLATES, QUARANTINE).

    `written` (LLM_NOTES) is what the stage `llm_notes` wrote for these requests. `model` answers what designs ask when
    they read, all requests in one batch. Quarantine holds notes, which count towards no limit: no slate is missing, but
    of these a question came to nothing, or did not hold all.
    """
    made: list[pa.Table] = []
    remarks: list[Remark] = []
    of_memory = tuple(policy for policy in options.policies if policy in LLM_OF_MEMORY)
    if of_memory:
        assert noted is not None
        assert memory is not None
        shown = [
            (call, passed_through(call, whole)) for call, whole in calls(asked, noted, options, memory, counter, None)
        ]
        rows = _of_memory(shown, of_memory, _Written(written), model, remarks)
        made.append(pa.Table.from_pylist(rows, schemas.SLATES))
    if LISTWISE in options.policies:
        assert model is not None
        made.append(_listwise(asked, turns, options, counter, model, remarks))
    slates = pa.concat_tables([schemas.SLATES.empty_table(), *made])
    return slates.sort_by([(name, "ascending") for name in _ORDER]), notes_of(
        [(each.history_id, each.request_id, each.code, each.reason) for each in remarks]
    )


class _Written:
    """What was written, by chain and prefix."""

    def __init__(self, rows: pa.Table | None) -> None:
        self._by_chain: dict[Chain, dict[str, Mapping[str, Any]]] = {}
        for row in [] if rows is None else rows.to_pylist():
            chain = Chain(row["history_id"], row["policy"], row["budget"], row["room"])
            self._by_chain.setdefault(chain, {})[row["prefix"]] = row

    def of(self, chain: Chain) -> Told:
        """The steps of a chain by prefix."""
        return self._by_chain.get(chain, {})


def _of_memory(
    shown: Sequence[tuple[Call, Rendered | None]],
    policies: Sequence[str],
    written: _Written,
    model: LanguageModel | None,
    remarks: list[Remark],
) -> list[dict[str, Any]]:
    """Rows of SLATES. A history that fits is shown whole by all designs, and nothing is asked."""
    open_calls = [call for call, whole in shown if whole is None]
    words = Words()
    drafts: dict[str, list[Draft]] = {}
    for policy in policies:
        if policy == READ_AGENT:
            assert model is not None
            drafts[policy] = _read_agent(open_calls, model, remarks)
        elif policy == EVOLVING_NOTES:
            drafts[policy] = [
                evolving_notes(call, written.of(Chain(call.view.notes.history_id, policy)), words)
                for call in open_calls
            ]
        else:
            assert policy in SUMMARY_SHARES
            drafts[policy] = [summary_notes(call, policy, _summary(call, policy, written)) for call in open_calls]
    place = {id(call): number for number, call in enumerate(open_calls)}
    rows = []
    for call, whole in shown:
        for policy in policies:
            slate = whole if whole is not None else settled(drafts[policy][place[id(call)]], call)
            rows.append(_row(call, policy, slate))
    return rows


def _row(call: Call, policy: str, slate: Rendered) -> dict[str, Any]:
    return {
        "request_id": call.asked.request_id,
        "history_id": call.view.notes.history_id,
        "policy": policy,
        "budget": call.budget,
        "n_tokens": slate.n_tokens,
        "text": slate.text,
        "items": slate.items,
    }


def _summary(call: Call, policy: str, written: _Written) -> str:
    """The summary of the past of a call; empty where there is none."""
    chain = summary_chain(call, policy)
    if chain is None or not call.past:
        return ""
    told = written.of(chain).get(prefixes(call, call.past)[-1])
    return "" if told is None else str(told["text"])


def _read_agent(open_calls: Sequence[Call], model: LanguageModel, remarks: list[Remark]) -> list[Draft]:
    """The drafts of calls, and remarks on those whose question came to nothing or left out pages."""
    offered = read_agent.offers(open_calls, model)
    rows = [row for row, offer in enumerate(offered) if offer.units]
    prompts = [offered[row].prompt for row in rows]
    outcomes = ask(model, prompts, lambda number, answer: read_agent.pages(offered[rows[number]], answer))
    wanted: dict[int, tuple[int, ...]] = {}
    why = dict.fromkeys(range(len(open_calls)), "not one gist has room")
    for row, outcome in zip(rows, outcomes, strict=True):
        why[row] = outcome.reason
        if not isinstance(outcome.taken, Complaint):
            wanted[row] = outcome.taken
    for row, (call, offer) in enumerate(zip(open_calls, offered, strict=True)):
        which = f"{READ_AGENT} at {call.budget}"
        if why[row] and call.past:
            remarks.append(_remark(call, FAILED, f"{which}: {why[row]}; gists only"))
        elif offer.left_out:
            remarks.append(_remark(call, SHORTENED, f"{which}: {offer.left_out} of {offer.of} gists were left out"))
    return [read_agent.read_agent(call, wanted.get(row, ())) for row, call in enumerate(open_calls)]


def _remark(call: Call, code: str, reason: str) -> Remark:
    return Remark(call.view.notes.history_id, call.asked.request_id, code, reason)


def _listwise(
    asked: AskedTables,
    turns: pa.Table,
    options: SlateOptions,
    counter: TokenCounter,
    model: LanguageModel,
    remarks: list[Remark],
) -> pa.Table:
    questions = listwise.questions(asked.requests, asked.pools, turns, model)
    outcomes = ask(
        model,
        [question.prompt for question in questions],
        lambda row, answer: listwise.chosen(questions[row], answer),
    )
    wanted: dict[tuple[str, str], pl.DataFrame] = {}
    for question, outcome in zip(questions, outcomes, strict=True):
        history, request = question.key
        if isinstance(outcome.taken, Complaint):
            remarks.append(Remark(history, request, FAILED, f"{LISTWISE}: {outcome.reason}; the pool's order"))
        else:
            wanted[question.key] = question.passages[list(outcome.taken)]
        if question.shown < question.passages.height:
            said = f"{LISTWISE}: {question.passages.height - question.shown} passages were left out"
            remarks.append(Remark(history, request, SHORTENED, said))
    return listwise.listwise_slates(asked.requests, asked.pools, turns, wanted, options, counter)
