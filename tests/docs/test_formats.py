"""docs/formats.md says what is so: its table is what real files become, and it names every format."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from plain_counts import counts_of

from cluster.lake import Lake
from jobs.ingest import ingest
from pipeline.ingest.detect import detect
from pipeline.ingest.formats import FORMATS
from pipeline.ingest.source import Document

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\S+\.\w+) \| ([\w-]+) \|((?: [\d,]+ \|){7})$", re.MULTILINE)
EXAMPLE = re.compile(r"^## ([\w-]+)$(?:(?!^## ).*\n)*?(?=^    [\[{])((?:^    .*\n)+)", re.MULTILINE)


def rows_of_table() -> dict[str, tuple[str, list[int]]]:
    return {
        file: (name, [int(cell.replace(",", "")) for cell in cells.split("|")[:-1]])
        for file, name, cells in ROW.findall(PAGE)
    }


def counted(lake: Lake, folder: Path, counts: dict[str, int]) -> list[int]:
    histories = pl.read_parquet(f"{lake.url}/turns/*/*.parquet")["history_id"].n_unique()
    quarantined = sum(pl.read_parquet(path).height for path in folder.rglob("quarantine/**/*.parquet"))
    names = ("sessions", "turns", "requests", "labels", "blank_turns")
    return [histories, *(counts.get(name, 0) for name in names), quarantined]


def test_the_table_is_what_the_real_files_become(real_data: Path, tmp_path: Path) -> None:
    files = sorted(path for path in real_data.rglob("*") if path.is_file() and path.suffix != ".md")
    found = {}
    for number, path in enumerate(files):
        lake = Lake.init(str(tmp_path / str(number)))
        report = ingest(lake, str(path), "auto", {})
        name = path.relative_to(real_data).as_posix()
        found[name] = (report.source_format, counted(lake, tmp_path / str(number), report.counts))
    assert rows_of_table() == found


@pytest.mark.flash
def test_the_table_is_what_the_real_files_hold_when_they_are_counted_without_a_reader(real_data: Path) -> None:
    files = [path for path in real_data.rglob("*") if path.is_file() and path.suffix != ".md"]
    counted = {path.relative_to(real_data).as_posix(): counts_of(path) for path in files}
    assert {name: counts for name, (_, counts) in rows_of_table().items()} == counted


@pytest.mark.flash
def test_every_format_has_its_place_on_the_page() -> None:
    for name in FORMATS:
        assert f"| [{name}](" in PAGE
        assert name == "native" or f"\n## {name}\n" in PAGE


@pytest.mark.flash
def test_every_example_on_the_page_is_of_its_format() -> None:
    examples = EXAMPLE.findall(PAGE)
    assert {name for name, _ in examples} == set(FORMATS) - {"native", "longmemeval", "locomo"}
    for name, example in examples:
        payload = json.dumps(json.loads(example)).encode()
        assert detect(Document.of(io.BytesIO(payload), "example.json")) == name
