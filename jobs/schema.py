"""`slatemill schema`: the tables of a lake, from the schemas that every read and write is checked against."""

from __future__ import annotations

import difflib
from typing import Any

import pyarrow as pa

from cluster.errors import LakeError
from pipeline.schemas import TABLES, TableInfo

_ANY_DIM = 999_999_937
"""Stands for the length of vectors while it is not said: a schema must have one."""


class NoSuchTable(LakeError):
    """There is no table of this name; the message names those there are."""


def schema(table: str | None = None, dim: int | None = None) -> dict[str, dict[str, Any]]:
    """Every table, or one, by name: its description and its columns (name, type, nullable, and the fields of structs).

    Without `dim` the length of a vector reads `dim`. Raises NoSuchTable.
    """
    if table is not None and table not in TABLES:
        near = difflib.get_close_matches(table, TABLES, n=1)
        meant = f"; did you mean {near[0]}?" if near else "."
        raise NoSuchTable(f"no table {table!r}{meant} There are {', '.join(TABLES)}")
    chosen = TABLES if table is None else {table: TABLES[table]}
    return {name: _described(info, dim) for name, info in chosen.items()}


def _described(info: TableInfo, dim: int | None) -> dict[str, Any]:
    values: dict[str, int | list[str]] = {
        "dim": _ANY_DIM if dim is None else dim,
        "channels": ["<channel>"],
        "features": ["<feature>"],
    }
    fields = info.schema_for(values[info.parameter or "dim"])
    return {
        "description": info.description,
        "parameters": [info.parameter] if info.parameter else [],
        "columns": [_column(field) for field in fields],
    }


def _column(field: pa.Field) -> dict[str, Any]:
    described: dict[str, Any] = {"name": field.name, "type": _type(field.type), "nullable": field.nullable}
    inner = field.type.value_type if pa.types.is_large_list(field.type) else field.type
    if pa.types.is_struct(inner):
        described["fields"] = [_column(member) for member in inner]
    return described


def _type(kind: pa.DataType) -> str:
    """Arrow's name of a type; of a struct the word alone, for its fields are listed."""
    if pa.types.is_struct(kind):
        return "struct"
    if pa.types.is_large_list(kind):
        return f"large_list<{_type(kind.value_type)}>"
    if pa.types.is_fixed_size_list(kind):
        length = "dim" if kind.list_size == _ANY_DIM else kind.list_size
        return f"fixed_size_list<{_type(kind.value_type)}>[{length}]"
    return str(kind)
