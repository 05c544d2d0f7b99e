"""What evaluate measures of memory, from lakes that were run: of agents without evidence, and of readers with it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
import pytest
from inside import ITEMS, LEXICAL, ran, said_by_main, stored
from rich.console import Console

from cluster.lake import Lake
from jobs.config import Profile
from jobs.evaluate import evaluate
from jobs.ingest import ingest
from jobs.report import show_evaluation
from jobs.synth import synth_agents
from pipeline.evaluate.of_memory import NOTHING
from pipeline.evaluate.summary import Summary
from pipeline.memory.options import MemoryOptions
from pipeline.units.cut import CutOptions

pytestmark = pytest.mark.cluster
POLICIES = ("unit_recovery", "piece_recovery", "observation_masking")


def remembering(name: str = "remembering") -> Profile:
    slates = LEXICAL.slates.model_copy(update={"policies": POLICIES, "budgets": (600,)})
    memory = MemoryOptions(cut=CutOptions(reader_tokens=300, agent_tokens=250))
    return LEXICAL.model_copy(update={"name": name, "slates": slates, "memory": memory})


def measured(lake: Lake, profile: str) -> tuple[Summary, str]:
    result, about = evaluate(lake, profile, None, draws=200, seed=0)
    out = io.StringIO()
    show_evaluation(result, about, Console(file=out, width=80))
    return result, out.getvalue()


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder = tmp_path_factory.mktemp("agents")
    lake = Lake.init(str(folder / "lake"))
    synth_agents(folder / "agents.json", histories=2, steps=(20, 24), seed=4)
    ingest(lake, str(folder / "agents.json"), "auto", {"requests": "every-step"})
    ran(lake, remembering())
    return lake


def test_a_lake_of_agents_is_measured_without_any_evidence(agents: Lake) -> None:
    result, text = measured(agents, "remembering")
    memory = result.memory
    assert [(row.policy, row.budget) for row in memory.tokens] == [(policy, 600) for policy in sorted(POLICIES)]
    assert memory.best_piece == ()
    assert {row.n_histories for row in (*memory.reuse, *memory.displayed)} == {2}
    assert all(0 < row.n <= result.n_requests - 2 for row in memory.reuse)
    told = {row.policy: row for row in memory.displayed}
    # A slate that keeps every action that it has room for tells more files than one of pieces.
    masked, pieces = (told[name].sensitivity.value for name in ("observation_masking", "piece_recovery"))
    assert masked > pieces
    assert "completeness cannot be measured" in text
    assert text.count("slates of") == 3
    slates = pl.read_parquet(f"{agents.url}/slates/**/*.parquet", hive_partitioning=False)
    of_policy = slates.group_by("policy").agg(pl.col("n_tokens").mean())
    for row in memory.tokens:
        mean = of_policy.filter(policy=row.policy)["n_tokens"].item()
        assert row.record + row.excerpt + row.raw + row.other == pytest.approx(mean)


def test_slates_from_pools_of_agents_are_measured_by_what_they_show(agents: Lake) -> None:
    pools = LEXICAL.slates.model_copy(update={"policies": ("recall_order",), "budgets": (600,)})
    ran(agents, LEXICAL.model_copy(update={"slates": pools}))
    memory = measured(agents, "lexical")[0].memory
    assert memory.tokens == memory.best_piece == ()
    (row,) = memory.displayed
    # No record and no label: it says a file was displayed only where it shows an action, and that was displayed.
    assert row.specificity.value == 1.0
    assert 0 < row.sensitivity.value < 1


def test_units_are_compared_with_pieces_over_the_requests_that_count(tmp_path: Path, monkeypatch, capsys) -> None:
    lake = stored(tmp_path, ITEMS)
    ran(lake, remembering())
    result, text = measured(lake, "remembering")
    assert result.memory.pair == ("unit_recovery", "piece_recovery")
    counted = next(row.n for row in result.rows if row.stratum == "all")
    assert 0 < sum(row.n for row in result.memory.best_piece) <= counted
    assert "unit_recovery minus piece_recovery" in text
    assert result.memory.reuse == result.memory.displayed == ()
    profile = tmp_path / "remembering.yaml"
    profile.write_text(json.dumps(remembering().model_dump(mode="json", exclude_none=True)))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    code, said, _ = said_by_main(
        monkeypatch, capsys, "evaluate", lake.url, "--profile", str(profile), "--draws", "200", "--json", "-"
    )
    assert code == 0
    assert json.loads(said)["memory"]["tokens"] == [vars(row) for row in result.memory.tokens]


def test_a_run_without_memory_and_agents_has_nothing_of_it(tmp_path: Path) -> None:
    lake = stored(tmp_path, ITEMS[:2])
    ran(lake)
    assert measured(lake, "lexical")[0].memory == NOTHING
