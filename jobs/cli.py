"""The command `slatemill`: its commands are in jobs/commands."""

from __future__ import annotations

import os
import sys

import typer

from jobs.commands import look, machine, make, models, quarantine, store
from jobs.commands.console import err

# Read by Polars and the BLAS libraries when they are imported: the driver shares the machine with its workers.
for _name in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Budgeted, complete memory slates for LLM agents, as a distributed batch job.",
)
for _group in (store, make, look, machine):
    app.add_typer(_group.app)
app.add_typer(quarantine.app, name="quarantine")
app.add_typer(models.app, name="models")


def main() -> None:
    """Entry point: what a person can mend becomes one message and exit code 2, a broken disk or network code 1."""
    try:
        app()
    except (SystemExit, KeyboardInterrupt):
        raise
    except Exception as error:
        from jobs.mistakes import explain

        explained = explain(error)
        if explained is None:
            raise
        message, code = explained
        err.print(message, style="red", markup=False, highlight=False)
        sys.exit(code)
