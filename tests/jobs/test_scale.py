"""A run of many histories ends well, and its driver holds no more for many than for few. Prints its numbers."""

from __future__ import annotations

import polars as pl
import pytest
from lakes import Ended, Shell, rows_of

pytestmark = [pytest.mark.scale, pytest.mark.cluster]

FEW, MANY = 250, 1_000
SESSIONS = 20
GROWTH_MB = 50


@pytest.mark.timeout(3600)
def test_the_driver_of_a_thousand_histories_holds_hardly_more_than_that_of_a_quarter(shell):
    peaks = {histories: measured(shell, "lexical", histories) for histories in (FEW, MANY)}
    grown = peaks[MANY].peak_mb - peaks[FEW].peak_mb
    print(f"  run's driver grew by {grown:.1f} MB from {FEW} to {MANY:,} histories")
    assert grown < GROWTH_MB


@pytest.mark.timeout(3600)
def test_the_recipe_runs_to_its_end_over_histories_of_twenty_sessions(shell):
    measured(shell, "agentmemrec", 30)


def measured(shell: Shell, profile: str, histories: int) -> Ended:
    """Ingests generated histories and runs a profile over them; prints durations, rows a second and peaks."""
    name = f"{profile}-{histories}"
    lake, ingested = shell.stored(name, histories=histories, sessions=SESSIONS, seed=1)
    ended = shell.run("run", lake, "--profile", profile)
    turns = pl.scan_parquet(f"{lake}/turns/*/*.parquet").select(pl.len()).collect().item()
    tables = rows_of(lake)
    print(f"\n{profile}, {histories:,} histories of {SESSIONS} sessions, {turns:,} turns")
    for job, what in (("ingest", ingested), ("run", ended)):
        pace = f"{what.seconds:6.1f} s, {turns / what.seconds:7,.0f} turns/s"
        print(f"  {job:6} {pace}, peak of its process alone {what.peak_mb:.1f} MB")
    print("  rows:  ", ", ".join(f"{table} {rows.height:,}" for table, rows in tables.items()))
    assert tables["terms"].height == turns
    for table in ("slates", "oracle_slates"):
        assert tables[table]["request_id"].n_unique() == histories, table
    return ended
