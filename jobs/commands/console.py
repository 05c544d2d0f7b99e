"""Where the commands write: what was asked for to standard output, everything else to standard error."""

from __future__ import annotations

import json
from typing import Any

import typer
from rich.console import Console

out = Console()
err = Console(stderr=True)


def say_json(value: Any) -> None:
    """Writes plain literals as one JSON document."""
    typer.echo(json.dumps(value, indent=2))
