"""The generated language is varied enough to test with: recall alone fills about half of the slates, and where a turn
stands, who said it and how long it is do not tell evidence. Measured with the project's own commands."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc
import pytest
from lakes import Shell

from cluster.lake import Lake
from jobs.config import load_profile
from jobs.train.data import gather, held_out
from models.ranker import auc, fit
from models.ranker_params import PRESETS
from pipeline.features.groups import Groups, training_groups

pytestmark = pytest.mark.cluster

POOR_FEATURES = ("turn_position", "role", "n_tokens")
"""Position in the session, role and length; not pool_position, which is the order of recall."""
COMPLETE = (0.3, 0.7)
HIGHEST_AUC = 0.6


@dataclass(frozen=True)
class Calibration:
    """Slate completeness of recall order at 2,700 tokens for kappa >= 2, and the AUC of the poor features."""

    n: int
    complete: float
    interval: tuple[float, float]
    auc: float
    learned: int
    tested: int

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"recall order at 2,700 tokens, kappa >= 2: n {self.n}, complete {self.complete:.3f} "
            f"[{low:.3f}, {high:.3f}]; {', '.join(POOR_FEATURES)} alone: AUC {self.auc:.3f} "
            f"({self.learned} requests learned from, {self.tested} tested on)"
        )


@pytest.mark.slow
def test_recall_fills_about_half_and_poor_features_find_no_evidence(shell):
    holds(shell, "lexical", histories=150, sessions=20)


@pytest.mark.scale
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    ("profile", "histories", "sessions"),
    [
        ("agentmemrec", 40, 12),
        ("agentmemrec", 60, 20),
        ("agentmemrec", 30, 40),
        ("lexical", 1_000, 20),
        ("lexical", 500, 40),
    ],
)
def test_the_calibration_holds_for_more_and_longer_histories(shell, profile, histories, sessions):
    holds(shell, profile, histories, sessions)


def holds(shell: Shell, profile: str, histories: int, sessions: int) -> None:
    found = calibration(shell, profile, histories, sessions)
    print(f"\n{profile}, {histories:,} histories of {sessions} sessions: {found}")
    assert COMPLETE[0] <= found.complete <= COMPLETE[1]
    assert found.auc < HIGHEST_AUC


def calibration(shell: Shell, profile: str, histories: int, sessions: int) -> Calibration:
    lake, _ = shell.stored("lake", histories=histories, sessions=sessions, seed=0)
    numbers = shell.folder / "numbers.json"
    shell.run("run", lake, "--profile", profile)
    shell.run("evaluate", lake, "--profile", profile, "--json", numbers)
    [row] = [
        row for row in json.loads(numbers.read_text())["rows"]
        if (row["stratum"], row["policy"], row["budget"]) == ("kappa >= 2", "recall_order", 2700)
    ]  # fmt: skip
    complete = row["slate_completeness"]
    learned, tested, area = auc_of_poor_features(lake, profile)
    return Calibration(row["n"], complete["value"], (complete["low"], complete["high"]), area, learned, tested)


def auc_of_poor_features(lake: Path, profile_name: str) -> tuple[int, int, float]:
    """Requests learned from, requests tested on, and the AUC over their pool candidates: half of the histories each."""
    profile = load_profile(profile_name)
    features, labels = gather(Lake.open(str(lake)), profile)
    held = held_out(features["history_id"], 0.5)
    learned: Groups = training_groups(features.filter(pc.invert(held)), labels, POOR_FEATURES)
    tested: Groups = training_groups(features.filter(held), labels, POOR_FEATURES)
    ranker = fit(learned.matrix, learned.relevance, learned.group_sizes, POOR_FEATURES, PRESETS["large"])
    area = auc(tested.relevance, ranker.score(tested.matrix, POOR_FEATURES))
    return len(learned.group_sizes), len(tested.group_sizes), area
