"""The command that makes the numbers of a distillation, and the teacher that it makes up."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "jobs"))
sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import distil as script
from inside import LEXICAL, ran, stored
from test_commands import check

from jobs.config import load_profile, parse_profile
from jobs.distill.scores import scores_of_files
from pipeline.evaluate.bootstrap import Estimate
from pipeline.evaluate.paired import Difference
from pipeline.synth.histories import history


@pytest.mark.flash
@pytest.mark.parametrize("words", [*script.learned("2"), *script.distilled("2")], ids=" ".join)
def test_each_of_its_commands_can_be_parsed(words, tmp_path, monkeypatch):
    check(words)


@pytest.mark.flash
def test_the_distilled_ranker_has_the_same_profile_by_another_name():
    ours = parse_profile(script.profile(), "distilled.yaml")
    assert ours.name == script.DISTILLED
    assert ours.model_copy(update={"name": "default"}) == load_profile("default")


@pytest.mark.flash
@pytest.mark.parametrize(("low", "said"), [(-0.02, "not inferior"), (-0.03, "not shown"), (-0.1, "not shown")])
def test_a_ranker_is_not_inferior_where_the_whole_interval_lies_above_the_margin(low, said):
    over = Estimate(0.0, low, 0.1)
    rows = [Difference(stratum, 2700, 2700, 10, 2, 0.5, 0.5, over, over) for stratum in ("kappa >= 2", "all")]
    assert script.verdict(rows).startswith(said)


@pytest.mark.cluster
def test_the_teacher_is_gold_and_noise_of_that_auc(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(script, "PROFILE", "lexical")
    lake = stored(tmp_path, [history(seed=5, index=index, sessions=6, requests=4) for index in range(30)])
    ran(lake, LEXICAL)
    rated = script.made_up(lake, top=32)
    rated.write_parquet(tmp_path / "teacher.parquet")
    assert scores_of_files(str(tmp_path / "teacher.parquet")).num_rows == rated.height
    assert rated.group_by("history_id", "request_id").len()["len"].max() == 32
    told = float(capsys.readouterr().out.split("AUC ")[-1])
    assert told == pytest.approx(script.AUC, abs=0.04)
    assert rated.equals(script.made_up(lake, top=32)), "it is the same one each time"
