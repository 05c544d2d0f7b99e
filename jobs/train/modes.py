"""Learns which recovery mode serves a request: both are tried on labelled requests, ranked out of fold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from cluster import tables
from cluster.batches import Batch
from cluster.lake import Lake
from cluster.parallel import gathered
from cluster.progress import shown
from cluster.report import StageReport
from cluster.stage import Input
from jobs.config import Profile
from jobs.note_stages import note_inputs
from jobs.run import Resources
from jobs.train.data import Labelled, by_bucket, labelled
from jobs.train.scoring import ByFold
from models.mode_choice import ModeChoice, fit_mode_choice
from models.tokens import token_counter
from pipeline import schemas
from pipeline.evaluate.regret import Regret, regrets
from pipeline.evaluate.verbatim import verbatim_turns
from pipeline.memory.draft import settle
from pipeline.memory.notes import NoteTables
from pipeline.memory.registry import AUTO, by_ranked_pieces, by_ranked_units
from pipeline.memory.signals import SIGNALS, signals
from pipeline.memory.slates import AskedTables, calls, passed_through
from pipeline.policies.orders import score_order
from pipeline.policies.slates import SlateOptions

_KEY = [*schemas.REQUEST_KEY, "budget"]
_WAYS = {"units": by_ranked_units, "pieces": by_ranked_pieces}
TRIED = pl.Schema(
    {
        "history_id": pl.String,
        "request_id": pl.String,
        "budget": pl.Int32,
        "mode": pl.String,
        **dict.fromkeys(SIGNALS, pl.Float64),
        **dict.fromkeys(_WAYS, pl.Boolean),
        **dict.fromkeys([f"{way}_share" for way in _WAYS], pl.Float64),
    }
)
"""One row a request and budget where the history does not fit whole: the signals, and for each way whether its slate
shows all of the evidence, and which share."""


@dataclass(frozen=True)
class LearnedModes:
    """The choice, fitted on all of the requests, and its regret where it is fitted on other folds."""

    choice: ModeChoice
    regrets: tuple[Regret, ...]


@dataclass(frozen=True)
class _Task:
    lake: Lake
    profile: Profile
    scorer: ByFold
    histories: frozenset[str]


def wants_modes(profile: Profile) -> bool:
    """Whether a training of the profile learns to choose modes."""
    return AUTO in profile.memory_policies


def learn_modes(
    lake: Lake, profile: Profile, scorer: ByFold, histories: Collection[str], resources: Resources
) -> LearnedModes | None:
    """Tries both modes on every labelled request of `histories`, and learns from what they show; None without any.

    All stages up to records must be up to date. Raises as cluster.parallel.gathered.
    """
    task = _Task(lake, profile, scorer, frozenset(histories) & set(scorer.fold_of))
    buckets = by_bucket(lake)
    with shown(StageReport("both modes", total=len(buckets), unit="buckets"), profile.name) as advance:
        found: list[pl.DataFrame] = gathered(
            _bucket, task, list(buckets.items()), workers=resources.workers, address=resources.address, advance=advance
        )
    tried = pl.concat([pl.DataFrame(schema=TRIED), *found]).sort(_KEY)
    if tried.is_empty():
        return None
    takes = np.zeros(tried.height, np.bool_)
    folds = tried["history_id"].replace_strict(scorer.fold_of, return_dtype=pl.Int64).to_numpy()
    for fold in np.unique(folds):
        others = tried.filter(pl.Series(folds != fold))
        if others.height:
            choice = _fitted(others)
            within = np.flatnonzero(folds == fold)
            values = tried[within].select(SIGNALS).to_numpy()
            takes[within] = [choice.gain(row) > 0 for row in values]
    return LearnedModes(_fitted(tried), tuple(regrets(tried.with_columns(takes_units=pl.Series(takes)))))


def _fitted(tried: pl.DataFrame) -> ModeChoice:
    gain = (tried["units_share"] - tried["pieces_share"]).to_numpy()
    return fit_mode_choice(SIGNALS, tried.select(SIGNALS).to_numpy(), gain, tried["mode"].unique().to_list())


def _bucket(task: _Task, bucket: int, batches: Sequence[Batch]) -> pl.DataFrame:
    latest = task.profile.as_of == "latest"
    found = []
    for position, part in enumerate(labelled(task.lake, task.profile, bucket, batches)):
        wanted = pl.DataFrame(part.requests).filter(pl.col("history_id").is_in(list(task.histories)))
        if wanted.height:
            seen = batches if latest else batches[: position + 1]
            found.append(_tried(task, bucket, part, wanted, seen))
    return pl.concat([pl.DataFrame(schema=TRIED), *found])


def _tried(task: _Task, bucket: int, part: Labelled, wanted: pl.DataFrame, seen: Sequence[Batch]) -> pl.DataFrame:
    profile = task.profile
    assert profile.memory is not None
    asked, noted = _read(task, bucket, part, wanted, seen)
    options = SlateOptions((), profile.slates.budgets, profile.slates.style)
    counter = token_counter(task.lake.tokenizer)
    rows, slates = [], []
    for call, whole in calls(asked, noted, options, profile.memory, counter, score_order(task.scorer.scores)):
        if passed_through(call, whole) is not None:
            continue
        key = {
            "history_id": call.view.notes.history_id,
            "request_id": call.asked.request_id,
            "budget": call.budget,
        }
        rows.append({**key, "mode": call.asked.mode, **dict(zip(SIGNALS, signals(call), strict=True))})
        for way, policy in _WAYS.items():
            slate = settle(policy(call), call)
            slates.append({**key, "policy": way, "n_tokens": slate.n_tokens, "text": "", "items": slate.items})
    gold = pl.DataFrame(part.labels).unique()
    held = verbatim_turns(pa.Table.from_pylist(slates, schemas.SLATES), noted.turns, gold)
    evidence = gold.group_by(schemas.REQUEST_KEY).agg(evidence=pl.len())
    tried = pl.DataFrame(rows, schema={name: TRIED[name] for name in [*_KEY, "mode", *SIGNALS]})
    tried = tried.join(evidence, on=schemas.REQUEST_KEY, how="inner")
    for way in _WAYS:
        of_way = held.filter(pl.col("policy") == way).group_by(_KEY).agg(held=pl.len())
        share = pl.col("held").fill_null(0) / pl.col("evidence")
        tried = tried.join(of_way, on=_KEY, how="left").with_columns(
            (share == 1).alias(way), share.alias(f"{way}_share")
        ).drop("held")  # fmt: skip
    return tried.select(pl.col(name).cast(kind) for name, kind in TRIED.items())


def _read(
    task: _Task, bucket: int, part: Labelled, wanted: pl.DataFrame, seen: Sequence[Batch]
) -> tuple[AskedTables, NoteTables]:
    lake, histories = task.lake, wanted["history_id"].unique().to_list()
    by_profile = ("profile", task.profile.name)

    def of(source: Input, batches: Sequence[Batch]) -> pa.Table:
        paths = [lake.path(source.table, bucket, batch.name, source.choice) for batch in batches]
        return tables.read(lake.storage, paths, source.schema, histories)

    noted: Mapping[str, Input] = {
        "turns": Input("turns", None, schemas.TURNS),
        **note_inputs(task.profile, "prefix"),
    }
    read = {name: of(source, seen) for name, source in noted.items() if name != "request_vectors"}
    own = {name: of(source, [part.batch]) for name, source in noted.items() if name == "request_vectors"}
    pools = of(Input("pools", by_profile, schemas.pools(task.profile.recall.scored)), [part.batch])
    features = pl.DataFrame(part.features).join(wanted, on=schemas.REQUEST_KEY, how="semi", maintain_order="left")
    asked = AskedTables(
        wanted.to_arrow().cast(schemas.REQUESTS),
        pools,
        features.to_arrow().cast(part.features.schema),
        own.get("request_vectors"),
    )
    return asked, NoteTables(**read)
