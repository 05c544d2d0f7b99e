"""What a worker holds while it makes the pools of a history of 100,000 turns by the default profile. Prints it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from long_history import DIM, TOKENS, store

pytestmark = pytest.mark.scale

TURNS, REQUESTS_ASKED = 100_000, 64
LIMIT_MB = 1_500
SCRIPT = Path(__file__).with_name("long_history.py")


@pytest.mark.timeout(1800)
def test_pools_of_a_history_of_100_000_turns_take_one_and_a_half_gigabytes_at_most(tmp_path: Path) -> None:
    store(tmp_path, TURNS, REQUESTS_ASKED)
    stored = (tmp_path / "late_turn_tokens.parquet").stat().st_size / 1e6
    threads = dict.fromkeys(["POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")
    command = [sys.executable, str(SCRIPT), str(tmp_path)]
    done = subprocess.run(command, env={**os.environ, **threads}, check=True, capture_output=True, text=True)
    peak, seconds, rows = done.stdout.split()
    print(f"\n{TURNS:,} turns of {TOKENS} tokens x {DIM}, {REQUESTS_ASKED} requests: codes of {stored:,.0f} MB")
    print(f"  pools: peak {int(peak):,} MB, {seconds} s")
    assert int(rows) == 256 * REQUESTS_ASKED
    assert int(peak) <= LIMIT_MB
