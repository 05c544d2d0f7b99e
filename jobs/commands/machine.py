"""What a machine has and can do: doctor, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cluster.exits import FAILED_SHARDS
from jobs.commands.console import out, say_json
from jobs.commands.options import AsJson, ProfileName, Workers
from jobs.names import DEFAULT_PROFILE

app = typer.Typer()


@app.command(epilog="Example: slatemill doctor lake --profile lexical")
def doctor(
    lake: Annotated[str | None, typer.Argument(metavar="[LAKE]", help="A lake's place, to check its disk too.")] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Check what works here, what does not, and what to do."""
    from jobs.config import load_profile
    from jobs.doctor.check import examine, works
    from jobs.doctor.checks import checks_for
    from jobs.doctor.report import show_finding, show_verdict

    findings = []
    for finding in examine(checks_for(load_profile(profile), lake)):
        findings.append(finding)
        if not as_json:
            show_finding(finding, out)
    well = works(findings)
    if as_json:
        checks = [finding.as_dict() for finding in findings]
        say_json({"profile": profile, "lake": lake, "works": well, "checks": checks})
    else:
        show_verdict(profile, well, out)
    if not well:
        raise typer.Exit(FAILED_SHARDS)


@app.command(epilog="Example: slatemill demo --histories 40")
def demo(
    folder: Annotated[Path, typer.Option(help="Where the demo's lake is made.")] = Path(".demo"),
    histories: Annotated[int, typer.Option(min=4)] = 40,
    sessions: Annotated[int, typer.Option(min=2)] = 12,
    workers: Workers = None,
) -> None:
    """Run everything on generated histories: a slate and the completeness table."""
    from jobs.demo import demo as show

    show(folder, histories, sessions, workers, out)
