"""Exit codes. Imports nothing, so that help and Tab need not wait for who uses them."""

from __future__ import annotations

DONE, FAILED_SHARDS, NEEDS_BACKFILL, OVER_QUARANTINE = range(4)

UNFINISHED = (FAILED_SHARDS, NEEDS_BACKFILL)
"""How a run ends that did not make every slate."""

QUARANTINE_LIMIT = 0.01
"""Share of the rows of a stage, or of a source, over which what is left out ends a command with OVER_QUARANTINE."""

USAGE = NEEDS_BACKFILL
"""Bad usage or configuration: like a back-fill, something that the person who gave the command must decide."""
