"""The names of the designs that ask a language model, and when they do."""

from __future__ import annotations

READ_AGENT = "read_agent"
LISTWISE = "listwise"
EVOLVING_NOTES = "evolving_notes"

SUMMARY_SHARES = {"summary_notes_50": 0.5, "summary_notes_70": 0.7}
"""Designs with a running summary, and its share of the allowance."""

LLM_WRITTEN = (*SUMMARY_SHARES, EVOLVING_NOTES)
"""They ask along a history, before the question is seen."""

LLM_READ = (READ_AGENT, LISTWISE)
"""They ask once for each request."""

LLM_POLICIES = (*LLM_READ, *LLM_WRITTEN)

LLM_OF_MEMORY = (READ_AGENT, *LLM_WRITTEN)
"""Those that show units and records; the others are filled from pools."""
