"""What stops a whole source. What is wrong with one item, session or turn goes to quarantine instead."""

from __future__ import annotations


class IngestError(ValueError):
    """The bytes are not of the format, or an option cannot be used; the message names the place and what would do."""

    def of_file(self, name: str) -> IngestError:
        """The same, behind the name of the file in which it happened: a source may have thousands."""
        return type(self)(f"{name}: {self}")
