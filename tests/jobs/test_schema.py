"""`slatemill schema` says what the lake's files are: every table, from the schemas they are checked against."""

from __future__ import annotations

import io
import json

import pyarrow as pa
import pytest
from inside import LEXICAL, said_by_main
from rich.console import Console

from jobs.config import load_profile
from jobs.graph import stages
from jobs.ingest import _TABLES
from jobs.schema import NoSuchTable, schema
from jobs.schema_report import show_table, show_tables
from pipeline import schemas

pytestmark = pytest.mark.flash


def test_every_table_that_is_read_or_written_is_known_by_its_name():
    known = schemas.TABLES
    for name, columns in _TABLES.items():
        assert known[name].schema is columns
    for profile in (LEXICAL, load_profile("agentmemrec"), load_profile("default")):
        for stage in stages(profile, "o200k_base"):
            values = {"dim": 384, "channels": profile.recall.scored, "features": profile.features}
            info = known[stage.table]
            assert info.schema_for(values[info.parameter or "dim"]).equals(stage.schema)
    named = {id(info.schema) for info in known.values()}
    assert [
        name for name, value in vars(schemas).items() if isinstance(value, pa.Schema) and id(value) not in named
    ] == []
    assert all(info.description and "  " not in info.description for info in known.values())


def test_columns_are_those_of_the_schema_with_the_fields_of_structs():
    for name, described in schema(dim=3).items():
        info = schemas.TABLES[name]
        columns = info.schema_for({"channels": ["<channel>"], "features": ["<feature>"]}.get(info.parameter, 3))
        assert [column["name"] for column in described["columns"]] == columns.names
        assert [column["nullable"] for column in described["columns"]] == [field.nullable for field in columns]
    items = schema("slates")["slates"]["columns"][-1]
    assert (items["name"], items["type"]) == ("items", "large_list<struct>")
    assert [field["name"] for field in items["fields"]] == [field.name for field in schemas.ITEM]
    types = {column["name"]: column["type"] for column in schema("turns")["turns"]["columns"]}
    assert (types["text"], types["session_time"]) == ("large_string", "timestamp[us, tz=UTC]")


def test_the_length_of_vectors_is_a_parameter():
    for dim, shown in ((None, "dim"), (384, "384")):
        described = schema("turn_vectors", dim)["turn_vectors"]
        assert described["parameters"] == ["dim"]
        assert described["columns"][-1]["type"] == f"fixed_size_list<halffloat>[{shown}]"
    assert schema("turns")["turns"]["parameters"] == []


def test_what_is_printed_fits_the_terminal_and_holds_every_column():
    target = io.StringIO()
    out = Console(file=target, width=80)
    tables = schema()
    show_tables(tables, out)
    for name, info in tables.items():
        assert f" {name} " in target.getvalue()
        show_table(name, info, out)
        assert all(f" {column['name']} " in target.getvalue() for column in info["columns"])
        assert " ".join(info["description"].split()) in " ".join(target.getvalue().split())
    assert "items[].session_index" in target.getvalue()
    assert max(len(line) for line in target.getvalue().splitlines()) <= 80


def test_json_is_all_that_is_written_and_an_unknown_table_ends_with_code_2(monkeypatch, capsys):
    code, out, err = said_by_main(monkeypatch, capsys, "schema", "--json")
    assert (code, json.loads(out), err) == (0, schema(), "")
    code, out, err = said_by_main(monkeypatch, capsys, "schema", "pools")
    assert (code, err) == (0, "")
    assert "rrf_score" in out
    code, out, err = said_by_main(monkeypatch, capsys, "schema", "pool")
    assert (code, out) == (2, "")
    assert "did you mean pools?" in err
    with pytest.raises(NoSuchTable, match=r"no table 'nothing like it'\. There are turns, sources"):
        schema("nothing like it")
