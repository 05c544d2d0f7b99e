"""The rows of a file with a ranking, checked and in one form."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from pipeline.ingest.errors import IngestError

REQUIRED = ("request_id", "source_turn", "score")
OPTIONAL = ("history_id", "source_session")

ROWS = pl.Schema(
    {
        "file": pl.String,
        "place": pl.String,
        "request_id": pl.String,
        "history_id": pl.String,
        "source_session": pl.String,
        "source_turn": pl.String,
        "position": pl.Int64,
        "score": pl.Float64,
    }
)
"""One row a ranked turn: where it stood, and what it says. A turn is named by the source's id (`source_turn`) or by its
`position` in its session; the other is null. What the file does not say is null."""


def rows_of(table: pa.Table, file: str, first: int = 0) -> pl.DataFrame:
    """The rows (ROWS) of a table read from `file`, in which its first row stood at `first`; other columns are left.

    Ids are text; a `source_turn` of whole numbers is a position in its session, from 0. Raises IngestError where a
    column is lacking, or is of a type that cannot be what it is called.
    """
    require_columns(table.schema, file)
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        raise IngestError(f"{file} holds text that is not UTF-8: {error}") from error
    by_position = pa.types.is_integer(table.schema.field("source_turn").type)
    named = {
        name: table[name].cast(pa.large_string()) for name in ("request_id", *OPTIONAL) if name in table.schema.names
    }
    turn = table["source_turn"].cast(pa.int64() if by_position else pa.large_string())
    rows = pl.DataFrame(
        {**named, ("position" if by_position else "source_turn"): turn, "score": table["score"].cast(pa.float64())}
    )
    lacking = [pl.lit(None, kind).alias(name) for name, kind in ROWS.items() if name not in rows.columns]
    place = pl.format("row {}", pl.int_range(first, first + pl.len()))
    return rows.with_columns(*lacking).with_columns(file=pl.lit(file), place=place).select(ROWS.names()).cast(ROWS)


def require_columns(schema: pa.Schema, file: str) -> None:
    """Raises IngestError unless a file has the columns of a ranking, of types that they can be read from."""
    lacking = [name for name in REQUIRED if name not in schema.names]
    if lacking:
        raise IngestError(
            f"{file} has no column {', '.join(lacking)}: a ranking has {', '.join(REQUIRED)}, and may have "
            f"{', '.join(OPTIONAL)}; this file has {', '.join(schema.names)}"
        )
    for name in (*REQUIRED, *OPTIONAL):
        if schema.names.count(name) > 1:
            raise IngestError(f"{file} has the column {name} more than once")
    for name in schema.names:
        kind = schema.field(name).type if name in (*REQUIRED, *OPTIONAL) else None
        if kind is not None and not _fits(name, kind):
            wanted = {"score": "numbers", "source_turn": "text (ids) or whole numbers (positions)"}.get(name, "text")
            raise IngestError(f"{file}: column {name} holds {kind}; give {wanted}")


def _fits(name: str, kind: pa.DataType) -> bool:
    if name == "score":
        return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    is_text = pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value)
    is_position = name == "source_turn" and pa.types.is_integer(kind)
    return bool(is_text or is_position or pa.types.is_null(value))
