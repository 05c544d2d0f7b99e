"""What is installed, against what slatemill asks for."""

from __future__ import annotations

import importlib.util
import platform
from importlib import metadata

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from jobs.doctor.check import Found

DISTRIBUTION = "slatemill"


def python() -> Found:
    """The Python that runs this."""
    wanted = str(metadata.metadata(DISTRIBUTION)["Requires-Python"])
    found = platform.python_version()
    if SpecifierSet(wanted).contains(found, prereleases=True):
        return Found("ok", f"Python {found}")
    return Found("fails", f"Python {found}", f"install slatemill with a Python {wanted}")


def packages() -> Found:
    """Every package that slatemill itself asks for."""
    wanted = _requirements()
    wrong = [problem for needed in wanted if (problem := _problem(needed))]
    shown = f"slatemill {metadata.version(DISTRIBUTION)}, {len(wanted)} packages"
    if not wrong:
        return Found("ok", f"{shown}, all of versions that fit")
    return Found("fails", f"{shown}; {'; '.join(wrong)}", "install slatemill again, with its constraints.txt")


def extra(module: str, name: str, use: str, needed: bool) -> Found:
    """A module that an extra brings; it is looked for, not imported."""
    if importlib.util.find_spec(module) is None:
        install = f"pip install '{DISTRIBUTION}[{name}]'"
        return Found("fails", "not installed", install) if needed else Found("ok", f"not installed; {install} {use}")
    beyond = [one for one in _requirements(name) if one not in _requirements()]
    wrong = [problem for one in beyond if (problem := _problem(one))]
    if wrong:
        return Found("fails" if needed else "warning", "; ".join(wrong), f"pip install '{DISTRIBUTION}[{name}]'")
    return Found("ok", f"{module} {metadata.version(module)}")


def _requirements(extra: str = "") -> list[Requirement]:
    """What slatemill asks for on this machine, with what an extra asks for."""
    asked = [Requirement(line) for line in metadata.requires(DISTRIBUTION) or []]
    return [one for one in asked if one.marker is None or one.marker.evaluate({"extra": extra})]


def _problem(needed: Requirement) -> str | None:
    """What is wrong with an installed package, None where nothing is."""
    try:
        found = metadata.version(needed.name)
    except metadata.PackageNotFoundError:
        return f"{needed.name} is missing"
    # A local build (2.13.0+cpu) is the version that it is a build of.
    if needed.specifier.contains(found, prereleases=True):
        return None
    return f"{needed.name} is {found}, not {needed.specifier}"
