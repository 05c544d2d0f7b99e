"""`--format auto`: which format a document is of, by its content."""

from __future__ import annotations

from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import FORMATS
from pipeline.ingest.sample import sample
from pipeline.ingest.source import Document


def detect(document: Document) -> str:
    """The name of the one format that recognises a document. Raises IngestError for none, or for several."""
    try:
        looked_at = sample(document.stream)
    except IngestError as error:
        raise IngestError(f"{document.name}: {error}") from error
    found = [name for name, known in FORMATS.items() if known.recognises(looked_at)]
    if len(found) == 1:
        return found[0]
    if found:
        raise IngestError(f"{document.name} may be {' or '.join(found)}: say which with --format")
    keys = ", ".join(sorted(looked_at.first)[:8]) if isinstance(looked_at.first, dict) else "no object"
    raise IngestError(
        f"{document.name} is of no known format (JSON {looked_at.shape} of {keys}): say which with --format, or bring "
        f"it into the native format. Known: {', '.join(FORMATS)}"
    )
