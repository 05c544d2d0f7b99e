"""What a ranker is distilled from: scores of a teacher in a lake, or of a file that somebody hands over."""

from __future__ import annotations

import io

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cluster import tables
from cluster.errors import SchemaMismatch
from cluster.lake import Lake
from jobs.config import Profile
from jobs.sources import File, files_of
from jobs.teacher_stages import Teacher, teacher_input
from jobs.train.data import by_bucket
from pipeline import schemas
from pipeline.features.taught import Taught, taught_groups
from pipeline.llm.ratings import HIGHEST


class ScoresUnfit(ValueError):
    """A file does not hold the scores of a teacher; the message says what is wrong."""


def scores_of_lake(lake: Lake, profile: Profile, teacher: Teacher) -> pa.Table:
    """All that a teacher has rated of a profile's pools (TEACHER_SCORES)."""
    source = teacher_input(teacher, profile)
    paths = [
        lake.path(source.table, bucket, batch.name, source.choice)
        for bucket, batches in by_bucket(lake).items()
        for batch in batches
    ]
    return tables.read(lake.storage, paths, source.schema)


def scores_of_files(source: str) -> pa.Table:
    """The scores (TEACHER_SCORES) in Parquet: a file, a folder or a glob. Columns beside those of the schema are left.

    Raises ScoresUnfit where a column is lacking or of another kind, a score is outside 0 to 10, or a candidate is there
    twice, and what jobs.sources raises.
    """
    scores = pa.concat_tables([_scores_of(file) for file in files_of(source)])
    outside = pc.or_(pc.is_nan(scores["score"]), pc.invert(_within(scores["score"])))
    if pc.any(outside).as_py():
        raise ScoresUnfit(f"{source}: a score is outside 0 to {HIGHEST}; one that is not known is null")
    frame = pl.DataFrame(pl.from_arrow(scores))
    if frame.select(pl.struct(schemas.LABELS.names).is_duplicated().any()).item():
        raise ScoresUnfit(f"{source} holds a candidate twice: give one score for each turn of a request")
    return scores


def taught(lake: Lake, profile: Profile, scores: pa.Table) -> Taught:
    """The candidates that are rated, of all requests. Memory holds those alone, with the features of a bucket."""
    rated = pl.DataFrame(pl.from_arrow(scores)).select(schemas.LABELS.names)
    schema = schemas.features(profile.features)
    parts = [schema.empty_table()]
    for bucket, batches in by_bucket(lake).items():
        paths = [lake.path("features", bucket, batch.name, ("profile", profile.name)) for batch in batches]
        rows = pl.DataFrame(pl.from_arrow(tables.read(lake.storage, paths, schema)))
        kept = rows.join(rated, on=schemas.LABELS.names, how="semi", maintain_order="left")
        parts.append(kept.to_arrow().cast(schema))
    return taught_groups(pa.concat_tables(parts), scores, profile.learned_features)


def _scores_of(file: File) -> pa.Table:
    with file.document() as (document, _):
        try:
            table = pq.read_table(io.BytesIO(document.stream.read()))
        except (pa.ArrowException, OSError) as error:
            raise ScoresUnfit(f"{document.name} is no Parquet file that can be read: {error}") from error
        names = schemas.TEACHER_SCORES.names
        if lacking := [name for name in names if name not in table.schema.names]:
            raise ScoresUnfit(
                f"{document.name} has no column {', '.join(lacking)}: the scores of a teacher have {', '.join(names)}; "
                f"this file has {', '.join(table.schema.names)}"
            )
        try:
            scores = table.select(names).cast(schemas.TEACHER_SCORES)
            tables.require_schema(scores, schemas.TEACHER_SCORES, document.name)
        except (pa.ArrowException, ValueError, SchemaMismatch) as error:
            raise ScoresUnfit(f"{document.name} does not hold the scores of a teacher: {error}") from error
        return scores


def _within(scores: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.and_(pc.greater_equal(scores, 0.0), pc.less_equal(scores, float(HIGHEST)))
