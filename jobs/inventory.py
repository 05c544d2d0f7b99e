"""`slatemill models list`: every model that a profile or a package names, and rankers that come along."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from jobs.config import Profile, load_profile
from jobs.names import profile_names
from models import shipped
from models.gguf import GGUF_PACKAGES
from models.resolve import PACKAGES, ModelNotFound, find_here


@dataclass(frozen=True)
class Entry:
    """One model: what it is for, who names it, and its folder and bytes, or why it is not here and what to do."""

    name: str
    kind: str
    named_by: tuple[str, ...]
    found_in: str | None
    path: str | None
    bytes: int | None
    to_do: str

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, by the names above."""
        return asdict(self)


def models_of(profile: Profile) -> Iterator[tuple[str, str]]:
    """The name and kind of every model that a profile uses: one that embeds and reads tokens, too, once."""
    if profile.embedder is not None:
        yield profile.embedder.model, "embedder"
    embedder = None if profile.embedder is None else profile.embedder.model
    if profile.recall.encoders and profile.late_interaction.model != embedder:
        yield profile.late_interaction.model, "token encoder"
    if profile.cross_encoder is not None:
        yield profile.cross_encoder.model, "cross-encoder"
    for options in profile.language_models.values():
        if options.engine == "vllm":
            yield options.model, "language model"


def inventory() -> list[Entry]:
    """The models of the profiles that come with slatemill, those that only a package carries, and its rankers."""
    named: dict[tuple[str, str], list[str]] = {}
    for profile in profile_names():
        for model in models_of(load_profile(profile)):
            named.setdefault(model, []).append(f"profile {profile}")
    for key, package in PACKAGES.items():
        model = next((model for model in named if model[0].lower() == key), (key, package.kind))
        named.setdefault(model, []).append(f"package {package.distribution}")
    for key, carried in GGUF_PACKAGES.items():
        named.setdefault((key, "language model"), []).append(f"package {carried.distribution}")
    return [_entry(name, kind, by) for (name, kind), by in named.items()] + list(map(_ranker, shipped.names()))


def show_inventory(entries: list[Entry], out: Console) -> None:
    """Each model with where it is, and its size."""
    for entry in entries:
        out.print(Text.assemble((entry.name, "bold"), f", {entry.kind}"))
        lines = [f"named by {', '.join(entry.named_by)}"]
        if entry.path is None:
            lines.append(f"not here: {entry.to_do}")
        else:
            lines += [f"{entry.found_in}, {_megabytes(entry.bytes or 0)}", entry.path]
        style = "yellow" if entry.path is None else ""
        out.print(Padding(Text("\n".join(lines), style=style, overflow="fold"), (0, 0, 0, 2)))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else f"{size / 1e6:.1f} MB"


def _entry(name: str, kind: str, named_by: list[str]) -> Entry:
    try:
        found = find_here(name)
    except ModelNotFound as error:
        return Entry(name, kind, tuple(named_by), None, None, None, str(error))
    if found is None:
        return Entry(name, kind, tuple(named_by), None, None, None, f"slatemill models fetch {name}")
    return Entry(name, kind, tuple(named_by), found.found_in, str(found.path), _size(found.path), "")


def _ranker(profile: str) -> Entry:
    folder = shipped.FOLDER / profile
    name = f"{shipped.PREFIX}{profile}"
    return Entry(name, "ranker", (f"profile {profile}",), "slatemill", str(folder), _size(folder), "")


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
