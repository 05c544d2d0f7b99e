"""What stops a whole source. What is wrong with one item, session or turn goes to quarantine instead."""

from __future__ import annotations


class IngestError(ValueError):
    """The bytes are not of the format, or an option cannot be used; the message names the place and what would do."""
