"""How complete the slates of other orders would be: the real fill, bucket by bucket on Ray."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from cluster import tables
from cluster.batches import Batch
from cluster.lake import Lake
from cluster.parallel import gathered
from cluster.progress import shown
from cluster.report import StageReport
from jobs.config import Profile
from jobs.run import Resources
from jobs.train.data import Labelled, by_bucket, labelled
from jobs.train.scoring import ByFold
from models.tokens import token_counter
from pipeline import schemas
from pipeline.evaluate.completeness import outcomes
from pipeline.policies.orders import recall_order, score_order
from pipeline.policies.registry import Policy
from pipeline.policies.slates import SlateOptions, slates_by

RECALL = "recall_order"
"""The order that every ranker is compared with: that of the pool, in which nothing is learned."""

OUTCOMES = pl.Schema(
    {
        "history_id": pl.String,
        "request_id": pl.String,
        "policy": pl.String,
        "budget": pl.Int32,
        "kappa": pl.UInt32,
        "pool_complete": pl.Boolean,
        "slate_complete": pl.Boolean,
    }
)

_ARRIVED = pl.Schema({"history_id": pl.String, "request_id": pl.String, "seq": pl.Int64})


@dataclass(frozen=True)
class Judged:
    """What is to be judged: `scorers` by name, over `histories`; `sizes` cut the pool of the scorer `cut`."""

    lake: Lake
    profile: Profile
    scorers: Mapping[str, ByFold]
    histories: frozenset[str]
    cut: str = ""
    sizes: tuple[int, ...] = ()


def judge(
    lake: Lake,
    profile: Profile,
    scorers: Mapping[str, ByFold],
    histories: Collection[str],
    resources: Resources,
    cut: str = "",
    sizes: Sequence[int] = (),
) -> pl.DataFrame:
    """Outcomes (OUTCOMES) of every labelled request of `histories`, at the profile's budgets, under recall order and
    under each of `scorers`; under `cut`, one of them, also of the first candidates of a pool, as policies `pool SIZE`.

    Completeness is that of pipeline.evaluate.completeness. Features must be up to date. Raises as
    cluster.parallel.gathered.
    """
    task = Judged(lake, profile, scorers, frozenset(histories), cut, tuple(sizes))
    buckets = by_bucket(lake)
    with shown(StageReport("slates out of fold", total=len(buckets), unit="buckets"), profile.name) as advance:
        found: list[pl.DataFrame] = gathered(
            _bucket, task, list(buckets.items()), workers=resources.workers, address=resources.address, advance=advance
        )
    return pl.concat(found)


def _bucket(task: Judged, bucket: int, batches: Sequence[Batch]) -> pl.DataFrame:
    storage, lake = task.lake.storage, task.lake
    paths = [lake.path("sources", bucket, batch.name) for batch in batches]
    sources = tables.read(storage, paths, schemas.SOURCES, columns=[*schemas.TURN_KEY, "continues"])
    found = []
    for position, part in enumerate(labelled(lake, task.profile, bucket, batches)):
        kept = _of(part, task.histories)
        asked = kept.requests["history_id"].unique().to_pylist()
        seen = batches if task.profile.as_of == "latest" else batches[: position + 1]
        paths = [lake.path("turns", bucket, batch.name) for batch in seen]
        turns = tables.read(storage, paths, schemas.TURNS, asked)
        for features, policies in _cells(task, kept):
            found.append(_outcomes(task, kept, features, turns, sources, policies))
    return pl.concat([pl.DataFrame(schema=OUTCOMES), *found])


def _of(part: Labelled, histories: frozenset[str]) -> Labelled:
    wanted = pl.col("history_id").is_in(list(histories))
    requests, features, labels = (
        pl.DataFrame(table).filter(wanted).to_arrow().cast(table.schema)
        for table in (part.requests, part.features, part.labels)
    )
    return Labelled(part.batch, requests, features, labels)


def _cells(task: Judged, part: Labelled) -> Iterator[tuple[pl.DataFrame, Mapping[str, Policy]]]:
    """The features that slates are to be filled from, and the policies that do it by name."""
    features = pl.DataFrame(part.features)
    policies = {RECALL: Policy(recall_order)}
    policies |= {name: Policy(score_order(scorer.scores)) for name, scorer in task.scorers.items()}
    yield features, policies
    for size in task.sizes:
        yield features.filter(pl.col("pool_position") <= size), {f"pool {size}": policies[task.cut]}


def _outcomes(
    task: Judged,
    part: Labelled,
    features: pl.DataFrame,
    turns: pa.Table,
    sources: pa.Table,
    policies: Mapping[str, Policy],
) -> pl.DataFrame:
    options = SlateOptions(tuple(policies), task.profile.slates.budgets, task.profile.slates.style)
    # A slate of an incomplete pool is incomplete: it need not be filled.
    fillable = features.join(_pool_complete(part, features), on=list(schemas.REQUEST_KEY), how="semi")
    made = slates_by(part.requests, fillable, turns, policies, options, token_counter(task.lake.tokenizer))
    return outcomes(
        part.requests,
        part.labels,
        features.to_arrow(),
        made,
        sources,
        turns,
        pl.DataFrame(pl.from_arrow(schemas.QUARANTINE.empty_table())).with_columns(seq=pl.lit(0, pl.Int64)),
        pl.DataFrame(schema=_ARRIVED),
        task.profile.as_of,
    ).select(pl.col(name).cast(kind) for name, kind in OUTCOMES.items())


def _pool_complete(part: Labelled, features: pl.DataFrame) -> pl.DataFrame:
    """The requests all of whose evidence is among their candidates."""
    evidence = pl.DataFrame(part.labels).unique()
    lost = evidence.join(features, on=schemas.LABELS.names, how="anti")
    return evidence.join(lost, on=schemas.REQUEST_KEY, how="anti").select(schemas.REQUEST_KEY).unique()
