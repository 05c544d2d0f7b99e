"""What a run's report says of it: its exit code."""

from __future__ import annotations

import pytest

from cluster.exits import DONE, OVER_QUARANTINE
from cluster.report import RunReport, StageReport
from cluster.snapshot import FILES


@pytest.mark.flash
@pytest.mark.parametrize(("lost", "ends"), [(0, DONE), (2, DONE), (3, OVER_QUARANTINE), (4, OVER_QUARANTINE)])
def test_a_stage_may_leave_out_a_hundredth_of_its_rows_where_nothing_else_is_said(lost: int, ends: int) -> None:
    stages = (StageReport("terms", rows=10), StageReport("pools", rows=200, quarantined=lost))
    report = RunReport(stages, FILES.empty_table(), ())
    assert report.exit_code == ends
    assert report.over_quarantine == (["pools"] if ends else [])
