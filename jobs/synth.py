"""`slatemill synth`: generated histories, as a LongMemEval-shaped JSON file."""

from __future__ import annotations

from pathlib import Path

from pipeline.synth.histories import json_chunks


def synth(out: Path, histories: int, sessions: int, seed: int, requests: int = 1) -> int:
    """Writes the histories to `out` and returns the bytes written; the same arguments write the same bytes."""
    out.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with out.open("wb") as stream:
        for chunk in json_chunks(histories=histories, sessions=sessions, seed=seed, requests=requests):
            written += stream.write(chunk)
    return written
