"""What a command line may change of a profile, checked like the profile itself."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from jobs.config import ConfigError, Profile


def override(profile: Profile, budgets: str | None, as_of: str | None) -> Profile:
    """A profile with other budgets (`900,2700`) or as_of. Raises ConfigError."""
    values: dict[str, Any] = profile.model_dump(mode="json")
    try:
        if budgets is not None:
            values["slates"]["budgets"] = [int(part) for part in budgets.split(",")]
        if as_of is not None:
            values["as_of"] = as_of
        return Profile.model_validate(values)
    except ValidationError as error:
        given = {"slates": f"--budgets {budgets}", "as_of": f"--as-of {as_of}"}
        said = []
        for entry in error.errors():
            place = ".".join(map(str, entry["loc"]))
            changed = given.get(place.partition(".")[0], place or f"profile {profile.name}")
            said.append(f"{changed}: {entry['msg'].removeprefix('Value error, ')}")
        raise ConfigError("; ".join(said)) from error
    except ValueError as error:
        raise ConfigError(f"--budgets {budgets!r}: give whole numbers with commas between, such as 900,2700") from error
