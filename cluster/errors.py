"""What can go wrong with a lake; every message says what to do."""

from __future__ import annotations


class LakeError(Exception):
    """A lake cannot be used as asked."""


class NotALake(LakeError):
    """There is no lake at this place, or one of another format."""


class SchemaMismatch(LakeError):
    """A table does not have the schema of its place."""


class InputChanged(LakeError):
    """A file is not the one that the work on it was begun with."""


class BatchInProgress(LakeError):
    """Another batch is claimed and not committed."""


class BatchVoided(LakeError):
    """The batch was dropped while it was being ingested."""


class NoSuchStage(LakeError):
    """A stage is named that the run does not have, or that cannot be asked for this."""


class NoSnapshot(LakeError):
    """There is no finished run to read."""


class SnapshotStale(LakeError):
    """Files have changed since the run that lists them."""
