"""Records by a real vLLM through the whole path: what is there is kept, what arrives is written, and an engine that is
killed costs nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

import polars as pl
import pytest
import yaml
from lakes import Shell, Started

from pipeline.records.record import MERGED_CUT, RECORD_WORDS
from pipeline.schemas import UNIT_KEY

pytestmark = [pytest.mark.vllm, pytest.mark.slow, pytest.mark.timeout(1800)]

CACHE_GIB = 2
FILLED_GIB = 1
"""What an engine holds when it has loaded its model and begins to fill its cache."""
BY_RULE = {
    "name": "remembering",
    "embedder": None,
    "recall": {"channels": ["bm25"]},
    "memory": {"writers": ["rule"]},
    "slates": {"policies": ["unit_recovery", "piece_recovery"], "budgets": [2000]},
}


def profile(folder: Path, **more: object) -> Path:
    """A profile's file."""
    path = folder / f"{more.get('name', 'remembering')}.yaml"
    path.write_text(yaml.safe_dump({**BY_RULE, **more}))
    return path


def by_model(model: Path) -> dict[str, object]:
    options = {"dtype": "bfloat16", "kv_cache_gib": CACHE_GIB, "repetition_penalty": 1.1}
    return {"memory": {"writers": ["llm", "rule"]}, "writer": {"model": str(model), **options}}


def table(lake: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(f"{lake}/{name}/**/*.parquet", hive_partitioning=False)


def kill_engine(night: Started) -> bool:
    """Kills the engine that a run has started, once it has filled some of its memory: while it starts to answer, or
    soon after, as fast as the machine is. False where the run ends before."""
    while night.process.poll() is None:
        if any(resident_bytes(worker) > FILLED_GIB << 30 for worker in processes(night, "VLLM")):
            for engine in processes(night, "EngineCore"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(engine, signal.SIGKILL)
                    return True
        time.sleep(0.2)
    return False


def resident_bytes(process: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def processes(night: Started, named: str) -> list[int]:
    """Processes that a run has started, by a part of their name."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if named in (folder / "cmdline").read_text() and _descends(int(folder.name), night.process.pid):
                found.append(int(folder.name))
    return found


def _descends(process: int, ancestor: int) -> bool:
    while process > 1:
        if process == ancestor:
            return True
        process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return False


def test_old_records_are_kept_new_units_are_written_by_the_model_and_a_killed_engine_loses_nothing(
    real_data, small_llm, tmp_path
):
    shell, lake = Shell(tmp_path), tmp_path / "lake"
    shell.run("init", lake, "--buckets", 1)
    shell.run("synth", tmp_path / "old.json", "--histories", 1, "--sessions", 6, "--seed", 3)
    shell.run("ingest", lake, tmp_path / "old.json")
    shell.run("run", lake, "--profile", profile(tmp_path))
    before = {path: path.stat().st_mtime_ns for path in lake.glob("records/*/*/*.parquet")}
    old = table(lake, "records")
    assert old.height > 0

    shell.run("ingest", lake, real_data / "locomo" / "locomo_conversations_0_to_5.json", "--items", "0")
    mixed = profile(tmp_path, **by_model(small_llm))
    night = shell.start("run", lake, "--profile", mixed)
    was_killed = kill_engine(night)
    assert night.process.wait() == 0, (night.traces / "said").read_text()
    assert was_killed

    units, records = table(lake, "units"), table(lake, "records")
    assert records.select(UNIT_KEY).sort(UNIT_KEY).equals(units.select(UNIT_KEY).sort(UNIT_KEY))
    assert {path: path.stat().st_mtime_ns for path in before} == before
    new = records.join(old, on=UNIT_KEY, how="anti")
    assert records.height == old.height + new.height
    assert new.height >= 19
    by_the_model = new.filter(pl.col("writer") == small_llm.name)
    assert by_the_model.height >= 0.8 * new.height
    assert set(by_the_model["status"]) <= {"ok", "nothing"}
    fallbacks = new.filter(pl.col("writer") != small_llm.name)
    assert set(fallbacks["status"]) <= {"failed"}
    assert (fallbacks["reason"] != "").all()
    assert (records["text"].str.split(" ").list.len() <= RECORD_WORDS).all()
    assert (by_the_model["prompt_tokens"] > 300).all()
    cited = (
        new.explode("facts")
        .drop_nulls("facts")
        .select(*UNIT_KEY, pl.col("facts").struct.field("turns"))
        .explode("turns")
    )
    inside = cited.join(units, on=UNIT_KEY).select(pl.col("turns").is_between("first_turn", "last_turn"))
    assert inside.to_series().all()
    merged = table(lake, "merged_records")
    assert (merged["text"].str.split(" ").list.len() <= MERGED_CUT).all()
    assert small_llm.name in set(merged["writer"])
    slates = table(lake, "slates")
    assert (slates["n_tokens"] <= 0.95 * 2000).all()
    assert (slates["n_tokens"] > 0).all()

    files = pl.read_parquet(sorted(lake.glob("runs/*/files.parquet"))[-1])
    spent = files.filter(pl.col("stage") == "records", pl.col("role") == "written")
    assert spent["calls"].sum() >= new.height
    assert spent["prompt_tokens"].sum() >= new["prompt_tokens"].sum()
    assert spent["cached_tokens"].sum() > 0, "the instructions stand first and are read once"
    assert spent["model_seconds"].sum() > 0

    again = shell.run("run", lake, "--profile", mixed)
    assert "records" in again.said
    assert {path: path.stat().st_mtime_ns for path in before} == before
    last = pl.read_parquet(sorted(lake.glob("runs/*/files.parquet"))[-1])
    assert last.filter(pl.col("role") == "written").is_empty()
    assert not processes(night, "VLLM")
