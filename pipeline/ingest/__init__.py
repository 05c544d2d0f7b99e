"""Ingest: bytes of a source format become turns, sources, requests and labels. A new format is one module and one line."""
