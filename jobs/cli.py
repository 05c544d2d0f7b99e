"""The command `slatemill`: its commands are in jobs/commands."""

from __future__ import annotations

import os
import sys

import typer

from cluster.exits import USAGE
from jobs.commands import answers, look, machine, make, models, quarantine, rankings, store
from jobs.commands.console import err

# Read by Polars and the BLAS libraries when they are imported: the driver shares the machine with its workers.
for _name in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Budgeted, complete memory slates for LLM agents, as a distributed batch job.",
)
for _group in (store, make, answers, look, machine):
    app.add_typer(_group.app)
app.add_typer(quarantine.app, name="quarantine")
app.add_typer(models.app, name="models")
app.add_typer(rankings.app, name="rankings")


def main() -> None:
    """Entry point: what a person can mend becomes one message and exit code 2, a store that is away too; a disk, MLflow
    or a process that broke code 1."""
    try:
        sys.exit(app(standalone_mode=False))
    except Exception as error:
        explained = _misuse(error)
        if explained is None:
            from jobs.mistakes import explain

            explained = explain(error)
        if explained is None:
            raise
        message, code = explained
        if message:
            err.print(message, style="red", markup=False, highlight=False)
        sys.exit(code)


def _misuse(error: Exception) -> tuple[str, int] | None:
    """The message and exit code for words that are no command; empty where help has been shown for want of words.

    Typer's own errors have no public class in common, but all say what is wrong.
    """
    if not hasattr(error, "format_message"):
        return None
    message = " ".join(str(error.format_message()).split())
    context = getattr(error, "ctx", None)
    if message and context is not None:
        message += f" (`{context.command_path} --help` shows what there is)"
    return message, USAGE
