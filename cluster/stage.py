"""What the executor must know of a stage: everything comes in as data, cluster/ knows no stage by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from cluster.row_groups import RowGroups
from cluster.tables import ROW_GROUP

Choice = tuple[str, str]
"""The name of a choice and its id, as in the path: `("model", "all-minilm-l6-v2")`."""

Span = Literal["batch", "prefix", "all"]
"""The batches of its bucket that an input takes: the shard's own, those up to it, or all committed (as-of latest)."""

CRASH_COLUMNS = ("code", "reason", "origin", "weight")
"""What a quarantine table must have beside the columns of a unit, so that a crashed unit can be written there."""


@dataclass(frozen=True)
class Input:
    """One table that a stage reads, from the shard's own bucket.

    `of_primary` reads only the histories that occur in the primary input: both must have a `history_id`. `in_groups`
    reads nothing: the stage is handed cluster.row_groups.RowGroups in place of a table, and reads what it asks for.
    """

    table: str
    choice: Choice | None
    schema: pa.Schema
    span: Span = "batch"
    of_primary: bool = False
    in_groups: bool = False


class Usage(NamedTuple):
    """What a stage asked of a language model. `cached_tokens` of the prompts were in the cache of prefixes;
    `model_seconds` are those that the model was at work."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    model_seconds: float = 0.0

    def plus(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.completion_tokens + other.completion_tokens,
            self.model_seconds + other.model_seconds,
        )


NO_USAGE = Usage()


@dataclass(frozen=True)
class ShardOutput:
    """What a stage computed: rows with the stage's exact schema, what it had to leave out (None: nothing), and what it
    asked of a language model."""

    table: pa.Table
    quarantine: pa.Table | None = None
    usage: Usage = NO_USAGE


Compute = Callable[[Mapping[str, pa.Table | RowGroups], Any], ShardOutput | Iterator[ShardOutput]]
"""The inputs by name, and the loaded model or None. Must be picklable (by reference, or by cloudpickle).

What would not fit into memory may come in parts, in order of their rows: each is written before the next is asked for.
"""


@dataclass(frozen=True)
class ModelSpec:
    """A model that is loaded once in an actor. Stages with the same key share one pool of actors.

    `else_cpu`: on a cluster without a GPU it runs all the same, and takes a machine for itself: there is one actor for
    each machine. `most` bounds the actors of a model in any case.
    """

    key: str
    load: Callable[[], Any]
    gpus: float = 0
    else_cpu: bool = False
    most: int | None = None


@dataclass(frozen=True)
class Stage:
    """Turns the inputs of one (bucket, batch) into one file of `table`.

    `primary` names the input whose rows are worked on; without a row in it the output has none either, and `compute` is
    not called. `unit` are the columns of the primary that name what bisection may take out: rows with equal values stay
    together. `config` holds every literal that affects the output, `identities` the models' names and weights digests:
    both are part of the stamp, `version` too. `group_rows` are the rows of a row group of its files: few where rows are
    large, for those who read `in_groups`.

    A costly stage never redoes what exists unless it is named in `backfill`. What its table has of a batch under
    another choice counts as existing, but for a stage that works on its own. Several stages of a run may write one
    table under different choices: once a choice of them has files, what the others have no longer counts for it
    (cluster.plan.Plan.is_elsewhere).

    `instead` names other choices of the table: what one of them has of a batch, the first that has it, stands for what
    the stage has not made, is not made again, and is read in its place. `backfill` makes it.

    Raises ValueError where the parts do not fit each other.
    """

    name: str
    version: int
    table: str
    choice: Choice | None
    schema: pa.Schema
    inputs: Mapping[str, Input]
    primary: str
    unit: tuple[str, ...]
    compute: Compute
    quarantine_schema: pa.Schema
    config: Mapping[str, Any] = field(default_factory=dict)
    identities: tuple[str, ...] = ()
    model: ModelSpec | None = None
    costly: bool = False
    group_rows: int = ROW_GROUP
    instead: tuple[Choice, ...] = ()

    @property
    def works_on_its_own(self) -> bool:
        """Whether an input lies under the stage's own choice, as pools and their scores under a profile: under another
        choice other rows were read, so that what lies there is nothing made before of the same."""
        return self.choice is not None and any(read.choice == self.choice for read in self.inputs.values())

    def __post_init__(self) -> None:
        if self.primary not in self.inputs:
            raise ValueError(f"stage {self.name}: its primary {self.primary!r} is none of its inputs")
        primary = self.inputs[self.primary]
        if primary.span != "batch" or primary.of_primary or primary.in_groups:
            raise ValueError(f"stage {self.name}: the primary input takes one batch, whole")
        lacking = [name for name in self.unit if name not in primary.schema.names]
        if not self.unit or lacking:
            raise ValueError(f"stage {self.name}: unit {self.unit} needs columns of {self.primary}; it lacks {lacking}")
        lacking = [name for name in (*self.unit, *CRASH_COLUMNS) if name not in self.quarantine_schema.names]
        if lacking:
            raise ValueError(f"stage {self.name}: its quarantine schema lacks {lacking}")
