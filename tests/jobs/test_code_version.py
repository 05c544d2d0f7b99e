"""Which code a ranker was made by: the package, and in a clone its commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from jobs.code_version import code_version

pytestmark = pytest.mark.flash


def git(folder: Path, *words: str) -> str:
    named = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    done = subprocess.run(["git", "-C", str(folder), *named, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_clone_has_its_commit_and_says_when_it_was_changed(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("one")
    git(tmp_path, "add", "a.py")
    git(tmp_path, "commit", "-qm", "A file")
    commit = git(tmp_path, "rev-parse", "HEAD")
    assert code_version(tmp_path).endswith(f", commit {commit}")
    (tmp_path / "a.py").write_text("two")
    assert code_version(tmp_path).endswith(f", commit {commit} with changes")


def test_an_installed_package_does_not_take_the_repository_around_it_for_its_own(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "site").mkdir()
    assert "commit" not in code_version(tmp_path / "site")
    assert code_version(tmp_path / "site").startswith("slatemill ")


def test_a_clone_without_a_commit_has_a_version_alone(tmp_path):
    git(tmp_path, "init", "-q")
    assert "commit" not in code_version(tmp_path)
