"""A ranker distilled from a teacher that is right more often than not, beside the one that learned from labels."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from inside import LEXICAL, stored

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))
import distil as script

from jobs.distill.job import Wanted, distill
from jobs.distill.judging import GOLD
from jobs.overrides import override
from jobs.run import Resources
from jobs.train.features import make_features
from jobs.train.judge import RECALL
from pipeline.synth.histories import history

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.usefixtures("shared_ray", "own_store")]


def test_slates_of_unseen_histories_are_about_as_complete_as_those_of_a_ranker_from_labels(tmp_path, monkeypatch):
    monkeypatch.setattr(script, "PROFILE", "lexical")
    profile = override(LEXICAL, "300,900", None)
    lake = stored(tmp_path, [history(seed=6, index=index, sessions=8, requests=4) for index in range(24)])
    make_features(lake, profile, Resources(workers=2))
    script.made_up(lake, top=128).write_parquet(tmp_path / "scores.parquet")
    report = distill(lake, profile, Resources(workers=2), Wanted(str(tmp_path / "scores.parquet"), folds=3))
    rows = {row.policy: row for row in report.validated.rows if (row.budget, row.stratum) == (900, "all")}
    assert rows[GOLD].n > 60
    assert rows[report.way].difference.value > -0.05, rows
    assert rows[report.way].slate_completeness.value > rows[RECALL].slate_completeness.value - 0.05, rows
    tau = {each.name: each.kendall_tau.value for each in report.validated.agreements}
    assert tau[report.way] > 0
