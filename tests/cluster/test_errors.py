"""Every error of a lake is caught by one name, so that a command can print it and stop."""

from __future__ import annotations

import inspect

import pytest

from cluster import errors


@pytest.mark.flash
def test_all_errors_of_a_lake_have_one_base_and_say_what_they_mean() -> None:
    classes = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__]
    assert {"SchemaMismatch", "SnapshotStale", "BatchInProgress", "NotALake"} <= {kind.__name__ for kind in classes}
    assert all(issubclass(kind, errors.LakeError) and kind.__doc__ for kind in classes)
