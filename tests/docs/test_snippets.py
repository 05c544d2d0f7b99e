"""What docs/ shows is run as it stands, beside a lake of generated histories."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "jobs"))

from inside import ITEMS, ran, stored

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SNIPPETS = {f"{page.name}-{number}": (page, match)
            for page in sorted(DOCS.glob("*.md"))
            for number, match in enumerate(BLOCK.finditer(page.read_text()), start=1)}  # fmt: skip


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `lake` has histories and a run of the profile `lexical`."""
    folder = tmp_path_factory.mktemp("docs")
    ran(stored(folder, ITEMS))
    return folder


def names_after(snippet: str) -> dict[str, Any]:
    """What a snippet has bound when it ended; an error in it points to its line in the page."""
    page, match = SNIPPETS[snippet]
    lines_before = page.read_text().count("\n", 0, match.start(1))
    names: dict[str, Any] = {"__name__": "snippet"}
    exec(compile("\n" * lines_before + match[1], str(page), "exec"), names)
    return names


@pytest.mark.flash
def test_the_page_about_the_lake_reads_it_with_all_three_and_with_its_own_scan() -> None:
    text = (DOCS / "lake.md").read_text()
    assert all(f"import {name}" in text for name in ("polars", "duckdb", "pandas"))
    assert len([name for name in SNIPPETS if name.startswith("lake.md")]) == text.count("```python")


@pytest.mark.cluster
@pytest.mark.parametrize("snippet", SNIPPETS)
def test_the_snippet_runs(snippet, beside, monkeypatch) -> None:
    monkeypatch.chdir(beside)
    names = names_after(snippet)
    frames = [value for value in names.values() if isinstance(value, (pl.DataFrame, pd.DataFrame))]
    assert all(len(frame) > 0 for frame in frames)


@pytest.mark.cluster
def test_polars_duckdb_and_pandas_find_the_same(beside, monkeypatch) -> None:
    monkeypatch.chdir(beside)
    found = []
    for snippet, (_, match) in SNIPPETS.items():
        if "mean_tokens = " in match[1]:
            frame = pl.DataFrame(names_after(snippet)["mean_tokens"])
            found.append([(policy, budget, round(mean, 6)) for policy, budget, mean in frame.sort("policy").rows()])
    assert len(found) == 3
    assert len(found[0]) > 0
    assert found[0] == found[1] == found[2]
