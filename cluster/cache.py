"""What was read of a file before, kept by path, size and version: a run with nothing to do opens few files."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from pathlib import Path
from typing import Any


def cache_folder() -> Path:
    """The user's cache folder for slatemill."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "slatemill"


class MarkCache:
    """JSON values by (path, size, version), in SQLite. A broken or unwritable cache is no error: it forgets."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        try:
            where = folder or cache_folder()
            where.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                where / "files.sqlite", timeout=5, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode=WAL")
            # It may be lost in a power cut; syncing every entry would make a first look ten times slower.
            self._connection.execute("PRAGMA synchronous=OFF")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, size INT, version TEXT, value TEXT)"
            )
        except (OSError, sqlite3.Error):
            self._connection = None

    def __reduce__(self) -> tuple[type[MarkCache], tuple[Path | None]]:
        return MarkCache, (self._folder,)

    def get(self, path: str, size: int, version: str) -> Any | None:
        """The value kept for a file as it is now, or None."""
        if self._connection is None:
            return None
        query = "SELECT value FROM files WHERE path = ? AND size = ? AND version = ?"
        try:
            with self._lock:
                row = self._connection.execute(query, (path, size, version)).fetchone()
            return None if row is None else json.loads(row[0])
        except (sqlite3.Error, ValueError):
            return None

    def put(self, path: str, size: int, version: str, value: Any) -> None:
        """Keeps a value for a file as it is now."""
        if self._connection is None:
            return
        row = (path, size, version, json.dumps(value))
        try:
            with self._lock:
                self._connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", row)
        except sqlite3.Error:
            return
