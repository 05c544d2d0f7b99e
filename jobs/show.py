"""`slatemill show`: one request of one run, where its evidence went, and one of its slates; read from the snapshot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cluster import snapshot, tables
from cluster.batches import seq_of
from cluster.errors import LakeError
from cluster.exits import UNFINISHED
from cluster.hints import command
from cluster.lake import Lake
from cluster.row_groups import RowGroups
from cluster.runfiles import QUARANTINE
from cluster.snapshot import Snapshot
from jobs.evaluate import with_batch
from jobs.graph import token_stage
from jobs.ingest import INGEST
from jobs.names import near_names
from jobs.rankings import RANKINGS, ranking_paths
from models.ranker import LightGBMRanker
from models.registry import load_ranker
from models.tokens import token_counter
from pipeline import schemas
from pipeline.evaluate.evidence import Evidence, RequestTables, evidence_of
from pipeline.evaluate.labelling import late_labels, unresolved_citations
from pipeline.evaluate.one_slate import OneSlate, one_slate
from pipeline.ingest.settle import POSITION_BITS
from pipeline.recall.gather import LateTables
from pipeline.recall.options import PoolOptions
from pipeline.render.styles import STYLES

_ORACLE = "oracle"
_MEND = "mend what it reported, run again, then show"
_TOLD_LATER = ("labels", "turns", "sources")
_BY_WORDS_ALONE = "the newest turns stand first; profile default also compares meanings"


class RequestNotFound(LakeError):
    """The run has no request of this id, or several; the message names what there is."""


class RequestUnfinished(LakeError):
    """A stage of the run did not get to this request."""


class SlateNotFound(LakeError):
    """The request has no slate of this policy and budget; the message names those there are."""


@dataclass(frozen=True)
class Shown:
    """One request (a row of REQUESTS), the run it was answered in, its evidence, one slate (None: it has none), why
    that slate is empty (None: it is not), and what is missing and why."""

    request: dict[str, Any]
    run: dict[str, Any]
    evidence: Evidence
    slate: OneSlate | None
    empty: str | None
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON: keys are always there, and null where there is nothing.

        Beside what names the run (run_id, profile, pool_size, channels, ranker, ranker_source):
        `request`: the row without its answer, with n_turns, n_visible, n_evidence, kappa.
        `evidence`: one object a turn, with the columns of Evidence.turns, `in_slate` and `lost` (by policy, then
        budget: whether the slate shows the turn, and the word of pipeline.evaluate.losses for where it lost it) and
        `policy_rank` (by policy: its rank).
        `slates`: one object a (policy, budget), with n_tokens, n_turns and complete.
        `slate`: OneSlate: policy, budget, n_tokens, text, lines_known, base, and `turns` with the columns of
        OneSlate.turns; null where the request has no slate.
        `empty`: why the slate holds nothing; null where it holds something.
        `notes`: what a reader must know, as sentences.
        """
        found = self.evidence
        of_turn: dict[int, dict[str, dict[str, Any]]] = {}
        for number, policy, budget, in_slate, rank, lost in found.in_slate.iter_rows():
            told = of_turn.setdefault(number, {"in_slate": {}, "lost": {}, "policy_rank": {}})
            told["in_slate"].setdefault(policy, {})[str(budget)] = in_slate
            told["lost"].setdefault(policy, {})[str(budget)] = lost
            told["policy_rank"][policy] = rank
        nothing: dict[str, Any] = {"in_slate": {}, "lost": {}, "policy_rank": {}}
        asked_at = self.request["asked_at"]
        request = {
            **{name: value for name, value in self.request.items() if name != "answer"},
            "asked_at": None if asked_at is None else asked_at.isoformat(),
            "n_turns": found.n_turns,
            "n_visible": found.n_visible,
            "n_evidence": found.turns.height,
            "kappa": found.kappa,
        }
        return {
            **self.run,
            "request": request,
            "evidence": [{**row, **of_turn.get(row["number"], nothing)} for row in found.turns.to_dicts()],
            "slates": found.slates.to_dicts(),
            "slate": None if self.slate is None else self.slate.as_dict(),
            "empty": self.empty,
            "notes": list(self.notes),
        }


def show(
    lake: Lake,
    profile_name: str,
    run_id: str | None,
    request_id: str,
    history_id: str | None = None,
    policy: str | None = None,
    budget: int | None = None,
) -> Shown:
    """Follows the evidence of one request through the latest run of a profile, or the one named.

    The slate beside it is that of `policy` (default: lambdarank where the run has it, else the profile's first) and
    `budget` (default: the smallest of the policy's). Where no evidence is known the oracle's slates are left out.
    Raises RequestNotFound (without `history_id` also when several histories have the id), RequestUnfinished,
    SlateNotFound, SnapshotStale when a file of the request's bucket is no longer the run's, NoSnapshot.
    """
    taken = snapshot.load(lake, run_id) if run_id else snapshot.latest(lake, profile_name)
    history, bucket, batch = _find(lake, taken, request_id, history_id)
    part = _part(taken, bucket, batch)
    _require_finished(taken, part, batch, request_id)
    snapshot.verify(lake, part)
    options = PoolOptions.model_validate(taken.config["recall"])
    last = None if taken.config["as_of"] == "latest" else seq_of(batch)
    found = _read(lake, part, history, request_id, last, taken.config)
    ranker, why_none = _ranker(taken)
    has_slate = found.slates.num_rows > 0
    if not found.labels.num_rows:
        # Without evidence the oracle has nothing to choose by.
        found = replace(found, slates=found.slates.filter(pc.not_equal(found.slates["policy"], _ORACLE)))
    evidence = evidence_of(found, options, ranker)
    slate = None
    if evidence.slates.height:
        chosen = _choose(evidence, taken, policy, budget)
        styled = STYLES.get(taken.config["slates"]["style"])
        style = None if styled is None else styled(token_counter(lake.tokenizer))
        slate = one_slate(found, evidence.turns, *chosen, options.channels, style, ranker)
    notes = [] if why_none is None else [f"ranker: {why_none}"]
    known = taken.identities.get("ranker") or {}
    if history in known.get("seen_histories", ()):
        notes.append("the ranker was trained on this history: here it ranks better than elsewhere")
    if not evidence.recall_repeats:
        notes.append("ranks outside the pool are unknown: this slatemill recalls otherwise than the one that ran")
    if not shares_a_word(found.pools, options):
        instead = "recall is by meaning alone" if "dense" in options.channels else _BY_WORDS_ALONE
        notes.append(f"no turn shares a word with the request: {instead}")
    if slate is not None and not slate.lines_known:
        notes.append("the slate is shown without marks: this slatemill renders otherwise than the one that ran")
    late = late_labels(
        found.labels, pl.DataFrame({"history_id": history, "request_id": request_id, "seq": seq_of(batch)})
    )
    unresolved = _unresolved(lake, part, history, request_id, late)
    aside = command("quarantine", "show", lake.url)
    if unresolved:
        notes.append(f"{unresolved} cited turn(s) are not stored (see `{aside}`): complete means all others")
    if not has_slate:
        notes.append(f"the request has no slate: it is in quarantine (`{aside}`)")
    elif not evidence.slates.height:
        notes.append("the request has no slate but the oracle's, which says nothing where no evidence is known")
    run = {
        "run_id": taken.run_id,
        "profile": taken.profile,
        "pool_size": options.pool_size,
        "channels": list(options.channels),
        "ranker": known.get("identity"),
        "ranker_source": known.get("source"),
    }
    empty = _why_empty(found, evidence, slate.policy) if slate is not None and not slate.turns.height else None
    return Shown(found.requests.to_pylist()[0], run, evidence, slate, empty, tuple(notes))


def text_of(shown: Shown) -> str:
    """The text of the slate, as a model is given it. Raises SlateNotFound where the request has none."""
    if shown.slate is None:
        raise SlateNotFound(shown.notes[-1])
    return shown.slate.text


def shares_a_word(pool: pa.Table, options: PoolOptions) -> bool:
    """Whether BM25 recalled any turn of a pool, the best of which it then holds; true where BM25 has no say."""
    return "bm25" not in options.channels or not pool.num_rows or pool["bm25_rank"].null_count < pool.num_rows


def _why_empty(found: RequestTables, evidence: Evidence, policy: str) -> str:
    stored = found.told.num_rows
    if not stored:
        return "the request sees no turn: none of its history was stored when this ran"
    if not found.turns.num_rows:
        return f"the request sees no turn: all {stored:,} of its history came after it; `run --as-of latest` shows them"
    if not evidence.n_visible:
        return "the request sees no turn: all that had come of its history happened after it was asked"
    if policy in found.rankings:
        return f"the ranking {policy} names no turn that the request sees, or none that fits the budget"
    if not found.pools.num_rows:
        return "no channel could answer the request: its pool is empty"
    return "no turn of the pool fits the budget"


def _choose(evidence: Evidence, taken: Snapshot, policy: str | None, budget: int | None) -> tuple[str, int]:
    """The policy and budget of the slate to show, of those there are."""
    slates = evidence.slates
    budgets: dict[str, list[int]] = {}
    for name, of_slate in slates.select("policy", "budget").sort("budget").iter_rows():
        budgets.setdefault(name, []).append(of_slate)
    preferred = [policy] if policy is not None else ["lambdarank", *taken.config["slates"]["policies"], *budgets]
    chosen = next((name for name in preferred if name in budgets), None)
    if chosen is None:
        there = ", ".join(slates["policy"].unique(maintain_order=True))
        why = "" if policy != _ORACLE or evidence.turns.height else " where no evidence is known"
        raise SlateNotFound(f"run {taken.run_id} has no slate of policy {policy}{why}: its policies are {there}")
    if budget is not None and budget not in budgets[chosen]:
        there = ", ".join(map(str, budgets[chosen]))
        raise SlateNotFound(f"run {taken.run_id} has no slate of budget {budget}: its budgets are {there}")
    return chosen, budgets[chosen][0] if budget is None else budget


def _find(lake: Lake, taken: Snapshot, request_id: str, history_id: str | None) -> tuple[str, int, str]:
    """History, bucket and batch of a request. With its history, only files of that history's bucket are read."""
    files = pl.DataFrame(taken.files).filter(pl.col("table") == "requests").unique("path", maintain_order=True)
    wanted = None
    if history_id is not None:
        wanted = [history_id]
        files = files.filter(pl.col("bucket") == int(lake.bucket_of(wanted)[0]))
    columns = list(schemas.REQUEST_KEY)
    parts = [pl.DataFrame(schema={**dict.fromkeys(columns, pl.String), "bucket": pl.Int32, "batch": pl.String})]
    for path, bucket, batch in files.select("path", "bucket", "batch").iter_rows():
        keys = pl.DataFrame(tables.read(lake.storage, [path], schemas.REQUESTS, wanted, columns))
        parts.append(keys.with_columns(bucket=pl.lit(bucket, pl.Int32), batch=pl.lit(batch)))
    asked = pl.concat(parts)
    of_id = asked.filter(pl.col("request_id") == request_id).sort("history_id")
    if of_id.height == 1:
        history, _, bucket, batch = of_id.select("history_id", "request_id", "bucket", "batch").row(0)
        return history, bucket, batch
    if of_id.height:
        raise RequestNotFound(_several(request_id, of_id["history_id"]))
    raise RequestNotFound(_none(lake, taken, request_id, history_id, asked))


def _several(request_id: str, histories: pl.Series) -> str:
    named = ", ".join(histories.head(10)) + (" ..." if len(histories) > 10 else "")
    return f"{len(histories)} histories have a request {request_id}: pick one with --history. They are {named}"


def _none(lake: Lake, taken: Snapshot, request_id: str, history_id: str | None, asked: pl.DataFrame) -> str:
    wanted = f"request {request_id!r}" + ("" if history_id is None else f" of history {history_id!r}")
    near = near_names(request_id, asked["request_id"], likeness=0.0)
    message = f"run {taken.run_id} has no {wanted}" + (f". Near it: {', '.join(near)}" if near else "")
    message += f". `{command('requests', lake.url)}` lists what the lake has"
    if taken.exit_code in UNFINISHED:
        message += f". The run ended with code {taken.exit_code} and did not get to all: {_MEND}"
    return message


def _part(taken: Snapshot, bucket: int, batch: str) -> Snapshot:
    """What of a snapshot concerns a request: files of its bucket, as far as it could see them when it ran, and what
    later batches say of its evidence."""
    concerns = pc.equal(taken.files["bucket"], bucket)
    if taken.config["as_of"] != "latest":
        # A label may come later than its request, and with it the turn that it names.
        seqs = pa.array([seq_of(name) for name in taken.files["batch"].to_pylist()])
        named = pc.is_in(taken.files["table"], pa.array(_TOLD_LATER, pa.large_string()))
        concerns = pc.and_(concerns, pc.or_(pc.less_equal(seqs, seq_of(batch)), named))
    return replace(taken, files=taken.files.filter(concerns))


def _require_finished(taken: Snapshot, part: Snapshot, batch: str, request_id: str) -> None:
    files = pl.DataFrame(part.files).filter((pl.col("batch") == batch) & (pl.col("table") != QUARANTINE))
    lacking = [stage for stage in taken.counts if stage not in set(files["stage"])]
    if lacking:
        raise RequestUnfinished(
            f"run {taken.run_id} ended with code {taken.exit_code} and did not make {', '.join(lacking)} of request "
            f"{request_id}: {_MEND}"
        )


def _read(
    lake: Lake, part: Snapshot, history_id: str, request_id: str, last: int | None, config: Mapping[str, Any]
) -> RequestTables:
    """What there is of a request; of turns it could see those of the batches up to `last` (None: all)."""

    def of_history(table: str, schema: pa.Schema) -> pa.Table:
        return tables.read(lake.storage, snapshot.paths_of(part, table), schema, [history_id])

    def of_request(table: str, schema: pa.Schema) -> pa.Table:
        return asked_by(of_history(table, schema))

    def asked_by(rows: pa.Table) -> pa.Table:
        return rows.filter(pc.equal(rows["request_id"], pa.scalar(request_id, pa.large_string())))

    options = PoolOptions.model_validate(config["recall"])
    turn_vectors = request_vectors = None
    if options.needs_vectors:
        dim = _dim(lake, snapshot.paths_of(part, "request_vectors")[0])
        turn_vectors = of_history("turn_vectors", schemas.turn_vectors(dim))
        request_vectors = of_request("request_vectors", schemas.request_vectors(dim))
    late = {}
    if options.encoders and config["late_interaction"]["source"] == "stored":
        for encoder in options.encoders:
            asked_of, codes_of = (
                snapshot.paths_of(part, table, token_stage(encoder, table))
                for table in ("request_tokens", "turn_tokens")
            )
            asked = tables.read(lake.storage, asked_of, schemas.request_tokens(_dim(lake, asked_of[0])), [history_id])
            late[encoder] = LateTables(asked, RowGroups(lake.storage, codes_of, schemas.TURN_TOKENS))
    slates = [of_request(table, schemas.SLATES) for table in schemas.SLATE_TABLES]
    told = of_history("turns", schemas.TURNS)
    in_time = told if last is None else told.filter(pc.less(told["session_index"], (last + 1) << POSITION_BITS))
    return RequestTables(
        requests=of_request("requests", schemas.REQUESTS),
        labels=of_request("labels", schemas.LABELS),
        turns=in_time,
        told=told,
        sources=of_history("sources", schemas.SOURCES),
        terms=of_history("terms", schemas.TERMS),
        turn_vectors=turn_vectors,
        request_vectors=request_vectors,
        late=late,
        pools=of_request("pools", schemas.pools(options.scored)),
        features=of_request("features", schemas.features(config["features"])),
        slates=pa.concat_tables(slates),
        rankings={
            name: asked_by(tables.read(lake.storage, paths, schemas.RANKINGS, [history_id]))
            for name, paths in ranking_paths(snapshot.paths_of(part, RANKINGS)).items()
        },
        taught=of_request("teacher_scores", schemas.TEACHER_SCORES),
    )


def _unresolved(lake: Lake, part: Snapshot, history_id: str, request_id: str, late: pl.DataFrame) -> int:
    noted = with_batch(lake, part, QUARANTINE, schemas.QUARANTINE, stage=INGEST, history_ids=[history_id])
    found = unresolved_citations(noted, late).filter(pl.col("request_id") == request_id)
    return int(found["n_unresolved"].sum())


def _dim(lake: Lake, path: str) -> int:
    """Length of the vectors in a file: the model that made them need not be here."""
    with lake.storage.open_input(path) as stream:
        return int(pq.read_schema(stream).field("vector").type.list_size)


def _ranker(taken: Snapshot) -> tuple[LightGBMRanker | None, str | None]:
    """The ranker of a run, from where the run had it; or None and why."""
    known = taken.identities.get("ranker")
    if not known:
        return None, "none in this run"
    source = known["source"]
    try:
        found = load_ranker(ranker_spec(source), taken.profile)
    except Exception as error:  # a registry raises what it likes; without the ranker one column is empty, no more
        return None, f"{source} cannot be loaded: {error}"
    if found is None:
        return None, f"the run does not say where its ranker lies, and profile {taken.profile} has no champion"
    ranker, place = found
    if ranker.identity != known["identity"]:
        return None, f"{place} is not the ranker of the run: it is {ranker.identity[:12]}, not {known['identity'][:12]}"
    return ranker, None


def ranker_spec(source: str | None) -> str | None:
    """What load_ranker takes, from the line by which it says what it has loaded; None where there is no line."""
    if source is None or source.startswith("folder "):
        return source and source.removeprefix("folder ")
    registered = re.fullmatch(r"(.+) version (\d+)", source)
    return f"{registered[1]}/{registered[2]}" if registered else source
