"""A training of a profile with `auto` learns to choose modes; its ranker keeps that, and a run uses it."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest
from inside import LEXICAL, ran, stored
from rich.console import Console

from jobs.graph import policies_made
from jobs.run import Resources
from jobs.train.job import Wanted, train
from jobs.train.report import show_training
from models.ranker import LightGBMRanker
from pipeline.memory.options import MemoryOptions
from pipeline.memory.signals import SIGNALS
from pipeline.synth.histories import history
from pipeline.units.cut import CutOptions

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("shared_ray", "own_store")]


def test_what_is_learned_of_modes_is_told_kept_and_used(tmp_path: Path) -> None:
    slates = LEXICAL.slates.model_copy(
        update={"policies": ("ranked_units", "ranked_pieces", "auto"), "budgets": (400, 800)}
    )
    memory = MemoryOptions(cut=CutOptions(reader_tokens=300))
    profile = LEXICAL.model_copy(update={"name": "choosing", "slates": slates, "memory": memory})
    lake = stored(tmp_path, [history(seed=5, index=index, sessions=8, requests=3) for index in range(6)])
    result = train(lake, profile, Resources(workers=2), Wanted(folds=3, out=tmp_path / "ranker"))

    modes = result.validated.modes
    assert modes is not None
    assert [row.budget for row in modes.regrets] == [400, 800]
    for row in modes.regrets:
        assert 0 <= max(row.units, row.pieces, row.chosen) <= row.best <= 1
    assert result.as_dict()["modes"] == [row.as_dict() for row in modes.regrets]
    out = io.StringIO()
    show_training(result, Console(file=out, width=100))
    assert "auto: complete by the mode that is chosen" in out.getvalue()

    kept = LightGBMRanker.load(tmp_path / "ranker")
    assert kept.mode_choice == modes.choice
    assert kept.mode_choice.signals == SIGNALS
    assert kept.mode_choice.modes == ("reader",)
    ran(lake, profile, kept)
    table = pl.read_parquet(f"{lake.url}/slates/**/*.parquet", hive_partitioning=False)
    texts = {name: rows.sort("request_id", "budget")["text"] for (name,), rows in table.group_by("policy")}
    assert set(texts) == {"auto", "ranked_units", "ranked_pieces"}
    assert ((texts["auto"] == texts["ranked_units"]) | (texts["auto"] == texts["ranked_pieces"])).all()


def test_without_a_choice_of_modes_auto_is_left_out() -> None:
    slates = LEXICAL.slates.model_copy(update={"policies": ("ranked_pieces", "auto")})
    profile = LEXICAL.model_copy(update={"slates": slates, "memory": MemoryOptions()})
    assert policies_made(profile, None) == ()
