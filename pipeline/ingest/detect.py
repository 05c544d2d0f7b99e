"""`--format auto`: which format a document is of, by its content."""

from __future__ import annotations

from typing import Any

from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import FORMATS
from pipeline.ingest.quoting import shown
from pipeline.ingest.sample import sample
from pipeline.ingest.source import Document


def detect(document: Document) -> str:
    """The name of the one format that recognises a document. Raises IngestError for none, or for several."""
    try:
        looked_at = sample(document.stream)
    except IngestError as error:
        raise error.of_file(document.name) from error
    found = [name for name, known in FORMATS.items() if known.recognises(looked_at)]
    if len(found) == 1:
        return found[0]
    if found:
        raise IngestError(f"{document.name} may be {' or '.join(found)}: say which with --format")
    raise IngestError(
        f"{document.name} is of no known format (JSON {looked_at.shape} of {_keys(looked_at.first)}): say which with "
        f"--format, or bring it into the native format. Known: {', '.join(FORMATS)}"
    )


def _keys(record: Any) -> str:
    """What a record holds, as far as an error may quote it."""
    if not isinstance(record, dict):
        return "no object"
    return ", ".join(shown(key) for key in sorted(record)[:8]) or "no key"
