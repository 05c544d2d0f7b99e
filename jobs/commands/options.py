"""What several commands take: options, and the ranker that one of them names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from jobs.commands.console import err
from jobs.names import complete_profile

if TYPE_CHECKING:
    from jobs.config import Profile
    from models.ranker import LightGBMRanker

LakeUrl = Annotated[str, typer.Argument(metavar="LAKE", help="Folder or URL of the lake.")]
ProfileName = Annotated[
    str, typer.Option("--profile", "-p", help="Name of a profile, or a YAML file.", autocompletion=complete_profile)
]
OwnProfile = Annotated[
    str | None,
    typer.Option("--profile", "-p", help="Default: the ranker's own, by name.", autocompletion=complete_profile),
]
Workers = Annotated[int | None, typer.Option(min=1, help="Shards in flight. Default: the CPUs.")]
Address = Annotated[str | None, typer.Option(help="Address of a running Ray cluster. Default: a local one.")]
Backfill = Annotated[
    list[str] | None, typer.Option(help="Costly stage to redo for what arrived before; may be given several times.")
]
RankerName = Annotated[
    str | None,
    typer.Option("--ranker", help="Directory or registry name. Default: the profile's champion, else one that ships."),
]
Budgets = Annotated[str | None, typer.Option("--budgets", help="Token budgets in place of the profile's: 900,2700")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="arrival or latest, in place of the profile's.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON to standard output, and nothing else.")]


def ranker_of(chosen: Profile, named: str | None) -> tuple[LightGBMRanker | None, str | None]:
    """The ranker that a run of a profile uses, and where it lies; says on standard error which it is, or that none."""
    from jobs.ranker_choice import ranker_for
    from models.shipped import PREFIX
    from pipeline.memory.registry import AUTO

    if not chosen.learned_policies:
        return None, None
    found = ranker_for(chosen, named)
    if found is None:
        left_out = ", ".join(chosen.learned_policies)
        missing = f"ranker: none yet for profile {chosen.name}, so no slates of policy {left_out}"
        err.print(f"{missing} (`slatemill train` makes one)", markup=False, highlight=False)
        return None, None
    comes = ", comes with slatemill, learned from generated histories (`slatemill train` makes your own)"
    err.print(f"ranker: {found[1]}{comes if found[1].startswith(PREFIX) else ''}", markup=False, highlight=False)
    if AUTO in chosen.slates.policies and found[0].mode_choice is None:
        err.print(
            f"no slates of policy {AUTO}: this ranker has not learned which mode serves a request (`slatemill train`)",
            markup=False,
            highlight=False,
        )
    return found
