"""What a profile may choose about late interaction's codes."""

from __future__ import annotations

from typing import Literal

Code = Literal["int8", "pooled"]
"""`int8`: every token vector, one byte a dimension and a scale. `pooled`: first one vector for every four tokens."""

POOL_FACTOR = 4
"""Tokens of one pooled vector."""
