"""Where the commands write: what was asked for to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
from typing import Any

import typer
from rich.console import Console

from cluster.hints import command

out = Console()
err = Console(stderr=True, soft_wrap=True)
"""A message is one line, however narrow the terminal: logs are searched, and commands in them are copied."""


def given_to(name: str) -> str:
    """The command line with another command in place of its first word: what a hint repeats, options and all."""
    return command(name, *sys.argv[2:])


def say_json(value: Any) -> None:
    """Writes plain literals as one JSON document."""
    typer.echo(json.dumps(value, indent=2))
