"""Ingest: bytes of a source format become turns, sources, requests and labels.

The path: a reader (one module a format) yields histories (source), which are sanitised and keyed (staging) into
arrivals (arrival), which get their place in the lake against what is stored there (settle).
"""
