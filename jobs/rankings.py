"""The rankings of other systems that a lake holds: which there are, and whether a run may read them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from cluster import tables
from cluster.batches import Batch, committed
from cluster.cache import MarkCache
from cluster.errors import LakeError
from cluster.fingerprint import fingerprint
from cluster.hints import command
from cluster.lake import Lake
from jobs.config import Profile

RANKINGS = "rankings"
"""The table, and what its quarantine is called."""


class RankingNotThere(LakeError):
    """A profile names a ranking that the lake does not hold, or not whole; the message says what to do."""


@dataclass(frozen=True)
class Imported:
    """An import that was finished: the digest of what was imported, the batches whose requests were looked up, a digest
    over all files that it wrote, and its counts."""

    source: str
    batches: list[str]
    content: str
    counts: dict[str, int]


def rankings_of(lake: Lake) -> dict[str, Imported]:
    """The rankings that a lake holds, by name."""
    names = [info.path.split("/")[1].removeprefix("policy=") for info in lake.storage.list(RANKINGS, "/import.json")]
    found = {name: imported(lake, name) for name in names}
    return {name: record for name, record in sorted(found.items()) if record is not None}


def require_rankings(lake: Lake, profile: Profile) -> None:
    """Raises RankingNotThere unless every ranking of a profile is whole, and knows all that was ingested."""
    batches, cache = committed(lake), MarkCache()
    for name in profile.rankings:
        record = imported(lake, name)
        to_do = f"`{command('rankings', 'import', lake.url, 'FILE', '--name', name)}`"
        if record is None:
            ours = ", ".join(profile.own_policies)
            raise RankingNotThere(
                f"policy {name} was not imported into {lake.url}, which holds the rankings "
                f"{', '.join(rankings_of(lake)) or '(none)'}: import it ({to_do}). Or is another policy meant? Known "
                f"here: {ours}"
            )
        lacking = [batch.name for batch in batches if batch.name not in record.batches]
        if lacking:
            raise RankingNotThere(
                f"ranking {name} was imported before batch {lacking[0]} arrived: import it again, from a file that "
                f"ranks for the requests of that batch too ({to_do})"
            )
        if not is_whole(lake, name, record, batches, cache):
            raise RankingNotThere(f"an import of ranking {name} was broken off: do it again ({to_do})")


def ranking_paths(paths: Sequence[str]) -> dict[str, list[str]]:
    """Files of the table `rankings` by the policy that each is of."""
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(path.split("/")[1].removeprefix("policy="), []).append(path)
    return found


def record_path(lake: Lake, name: str) -> str:
    """Where it stands that an import was finished."""
    return f"{lake.folder(RANKINGS, ('policy', name))}/import.json"


def imported(lake: Lake, name: str) -> Imported | None:
    """What is recorded of an import that was finished under a name."""
    try:
        return Imported(**json.loads(lake.storage.read_bytes(record_path(lake, name))))
    except FileNotFoundError:
        return None


def is_whole(lake: Lake, name: str, record: Imported, batches: Sequence[Batch], cache: MarkCache) -> bool:
    """Whether the files are those that the import recorded, of all batches."""
    if record.batches != [batch.name for batch in batches]:
        return False
    return content_of(lake, name, batches, cache) == record.content


def content_of(lake: Lake, name: str, batches: Sequence[Batch], cache: MarkCache | None) -> str | None:
    """A digest over all files of a ranking; None where one is missing."""
    found = []
    for batch in batches:
        for bucket in batch.buckets:
            mark = tables.read_mark(lake.storage, lake.path(RANKINGS, bucket, batch.name, ("policy", name)), cache)
            if mark is None:
                return None
            found.append([batch.name, bucket, mark.stamp, mark.digest])
    return fingerprint(found)
