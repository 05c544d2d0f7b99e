"""Features of a profile brought up to date: what training learns from and promotion judges by."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from cluster import snapshot
from cluster.lake import Lake
from cluster.stage import Stage
from jobs.config import Profile
from jobs.graph import stages_to_features
from jobs.note_stages import text_stages, vector_stages
from jobs.run import Resources, RunFailed, execute_stages


def make_features(
    lake: Lake, profile: Profile, resources: Resources, *, with_notes: bool = False, more: Sequence[Stage] = ()
) -> None:
    """Runs the stages up to features, where asked those that note units and records, and `more`. Raises RunFailed when
    one of them failed."""
    run_id = snapshot.new_run_id(datetime.now(UTC))
    noted = text_stages(profile, lake.tokenizer) if with_notes or profile.recall.record_cited else []
    path = [*noted, *stages_to_features(profile), *(vector_stages(profile) if with_notes else []), *more]
    report = execute_stages(lake, profile, path, resources, run_id)
    if report.worker_seconds:
        # What it took, for `slatemill plan`; no run, for there are no slates to evaluate.
        snapshot.write_files(lake, run_id, report.files)
    if report.exit_code:
        raise RunFailed(report)
