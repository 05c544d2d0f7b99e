"""Memory through the whole path: real logs of agents at every step, and histories that grow from night to night."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from inside import LEXICAL, contents, ran

from cluster.lake import Lake
from cluster.tables import Mark, read_mark
from jobs.config import Profile
from jobs.ingest import ingest
from jobs.synth import synth_agents
from pipeline.memory.options import MemoryOptions
from pipeline.schemas import UNIT_KEY
from pipeline.synth.agents.histories import agent_history
from pipeline.synth.agents.mini_swe import run as as_mini_swe
from pipeline.synth.histories import history
from pipeline.units.cut import CutOptions

pytestmark = pytest.mark.cluster
POLICIES = ("flexamem", "unit_recovery", "piece_recovery")
EVERY_STEP = {"requests": "every-step"}
KEY = ["history_id", "request_id", "policy", "budget"]


def remembering(budgets: tuple[int, ...]) -> Profile:
    """Memory without a model."""
    slates = LEXICAL.slates.model_copy(update={"policies": POLICIES, "budgets": budgets})
    memory = MemoryOptions(cut=CutOptions(reader_tokens=500, agent_tokens=250))
    return LEXICAL.model_copy(update={"name": "remembering", "slates": slates, "memory": memory})


def table(lake: Lake, name: str) -> pl.DataFrame:
    return pl.read_parquet(f"{lake.url}/{name}/**/*.parquet", hive_partitioning=False)


@pytest.mark.slow
def test_every_step_of_every_trajectory_has_slates_within_their_budgets_and_none_is_empty(real_data, tmp_path):
    lake = Lake.init(str(tmp_path / "lake"))
    logs = sorted(path for path in (real_data / "trajectories").rglob("*") if path.is_file())
    assert len(logs) >= 14
    for path in logs:
        ingest(lake, str(path), "auto", EVERY_STEP)
    synth_agents(tmp_path / "agents.json", histories=20, steps=(60, 65), seed=4)
    ingest(lake, str(tmp_path / "agents.json"), "auto", EVERY_STEP)
    ran(lake, remembering((1000, 2000, 4000)), workers=2)
    requests, slates = table(lake, "requests"), table(lake, "slates")
    assert requests["history_id"].n_unique() >= 20 + 12
    assert requests.height > 20 * 60 + 50
    assert slates.height == requests.height * len(POLICIES) * 3
    assert slates.filter(pl.col("n_tokens") > 0.95 * pl.col("budget")).is_empty()
    assert slates.filter(pl.col("n_tokens") == 0).is_empty()
    # A budget is used: where the history is long enough, nothing but a step that fits nowhere is left.
    late = slates.filter(pl.col("request_id").str.extract(r"#s(\d+)$", 1).cast(pl.Int64) > 80)
    assert (late["n_tokens"] > 0.6 * late["budget"]).mean() > 0.9


def nights(folder: Path) -> list[list[tuple[Path, str, dict[str, str]]]]:
    """Five nights of a chat and of a run of an agent, each of which brings all that there is by then."""
    chat = history(seed=6, index=0, sessions=20, requests=3)
    log = as_mini_swe(agent_history(6, 0, 60, 70))
    found = []
    for night in range(1, 6):
        grown = {**chat, **{name: chat[name][: 4 * night] for name in chat if name.startswith("haystack_")}}
        steps = {**log, "messages": log["messages"][: len(log["messages"]) * night // 5]}
        # A run is called after its file.
        brought = [(folder / str(night) / "chat.json", "longmemeval", {}, grown)]
        brought.append((folder / str(night) / "agent.json", "mini-swe-agent", EVERY_STEP, steps))
        for path, _, _, item in brought:
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_text(json.dumps([item]))
        found.append([source[:3] for source in brought])
    return found


def mark_of(lake: Lake, path: str) -> Mark:
    mark = read_mark(lake.storage, str(Path(path).relative_to(lake.url)))
    assert mark is not None
    assert mark.stamp
    return mark


@pytest.mark.slow
def test_night_after_night_each_record_is_written_once_and_slates_are_as_if_all_had_come_at_once(tmp_path):
    profile = remembering((300, 600, 1200))
    grown, at_once = Lake.init(str(tmp_path / "grown")), Lake.init(str(tmp_path / "at-once"))
    written: dict[str, int] = {}
    stamped: dict[str, Mark] = {}
    counts = []
    for night in nights(tmp_path):
        for path, source_format, options in night:
            ingest(grown, str(path), source_format, options)
            ingest(at_once, str(path), source_format, options)
        ran(grown, profile)
        now = {path: time for path, time in contents(grown).items() if "records/" in path}
        # No file that was there is touched: not even its time of change is another.
        assert {path: now[path] for path in written} == written
        assert len(now) > len(written)
        written = now
        marks = {path: mark_of(grown, path) for path in now}
        assert {path: marks[path] for path in stamped} == stamped, "stamps, digests and row counts stay"
        stamped = marks
        records = table(grown, "records")
        assert records.select(UNIT_KEY).is_unique().all()
        assert records.select("history_id", "leaf").is_unique().all()
        counts.append(records.height)
    assert counts == sorted(set(counts)), "every night has something new to tell"
    units, records = table(grown, "units"), table(grown, "records")
    is_open = units.join(records, on=UNIT_KEY, how="anti")
    # All units have a record by now, but the newest of the run, unless that has its size.
    assert is_open.height <= 1
    assert is_open["agent"].all()
    assert set(units.group_by("history_id").agg(pl.len() > 5)["len"]) == {True}

    ran(at_once, profile)
    for name in ("units", "records", "merged_records", "slates"):
        one, other = table(grown, name), table(at_once, name)
        key = [column for column in (*KEY, *UNIT_KEY, "level", "node") if column in one.columns]
        assert one.height > 0
        assert one.sort(key).equals(other.sort(key)), name
