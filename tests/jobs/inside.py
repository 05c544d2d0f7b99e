"""Small lakes made and run inside the test's own process, for what a test looks at closely."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cluster.lake import Lake
from cluster.report import RunReport
from jobs import cli
from jobs.config import Profile, load_profile
from jobs.ingest import IngestReport, ingest
from jobs.run import Resources, run
from jobs.show import Shown
from jobs.show_report import show_request
from models.ranker import LightGBMRanker
from pipeline.synth.histories import history

LEXICAL = load_profile("lexical")
ITEMS = [history(seed=1, index=index, sessions=6) for index in range(6)]


def stored(folder: Path, items: Sequence[Any], source_format: str = "longmemeval", name: str = "lake") -> Lake:
    """A new lake `name` in `folder` that holds the items."""
    lake = Lake.init(str(folder / name))
    delivered(lake, folder / f"{name}.json", items, source_format)
    return lake


def delivered(lake: Lake, source: Path, items: Sequence[Any], source_format: str = "longmemeval") -> IngestReport:
    """Writes the items to a file as the format has them, and ingests it."""
    lines = source_format == "native"
    source.write_text("".join(json.dumps(item) + "\n" for item in items) if lines else json.dumps(items))
    return ingest(lake, str(source), source_format, {})


def ran(
    lake: Lake,
    profile: Profile = LEXICAL,
    ranker: LightGBMRanker | None = None,
    source: str | None = None,
    workers: int = 1,
) -> tuple[RunReport, str]:
    """A run that ended well: its report and id."""
    report, run_id = run(lake, profile, Resources(workers=workers), ranker, source)
    assert report.exit_code == 0, report.failures
    return report, run_id


def contents(lake: Lake) -> dict[str, int]:
    """Every file of a lake, and when it was written."""
    return {str(path): path.stat().st_mtime_ns for path in Path(lake.url).rglob("*") if path.is_file()}


def said_by_main(monkeypatch: Any, capsys: Any, *arguments: str) -> tuple[int, str, str]:
    """Calls the command as a shell does: its exit code, and what it wrote to standard output and error."""
    monkeypatch.setattr(sys, "argv", ["slatemill", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr()
    return ended.value.code or 0, said.out, said.err


def printed(shown: Shown, width: int, with_slate: bool = True) -> str:
    """What `slatemill show` writes on a terminal of so many columns."""
    out = io.StringIO()
    show_request(shown, Console(file=out, width=width), with_slate)
    return out.getvalue()
