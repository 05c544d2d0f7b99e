"""Whether a slate still shows an agent what its next step needs: strings that it saw before and uses now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from pipeline.evaluate.bootstrap import Estimate, clustered_mean
from pipeline.evaluate.moments import acted_in, in_order, moments, told_by_others
from pipeline.evaluate.strings import holding, longest, stands_in, strings

FAR = 10
"""Steps after which a string is far: nearer ones lie in the recent window anyway."""

_KEY = ["history_id", "request_id"]
_CELL = [*_KEY, "policy", "budget"]
_USED = pl.Schema(
    {"history_id": pl.String(), "request_id": pl.String(), "strings": pl.List(pl.String()), "ago": pl.List(pl.Int64())}
)


@dataclass(frozen=True)
class Reuse:
    """Mean share of the strings in use that a slate shows, of one policy and budget, over `n` requests of `n_histories`
    histories; `far` the same of the strings last seen FAR or more steps before, over the `n_far` requests that have
    any. Intervals resample histories: with fewer than ten they mean little."""

    policy: str
    budget: int
    n: int
    n_histories: int
    n_far: int
    reuse: Estimate
    reuse_far: Estimate

    def estimates(self) -> dict[str, Estimate]:
        """By name of the metric."""
        return {"reuse": self.reuse, "reuse_far": self.reuse_far}


def strings_in_use(requests: pl.DataFrame, turns: pl.DataFrame) -> pl.DataFrame:
    """What the step after each request of an agent uses of what was there: history_id, request_id, strings, ago.

    A string (pipeline.evaluate.strings) counts where it stands in an action of the next step (pipeline.evaluate.
    moments) and, as whole tokens, in what the request sees of the outputs of steps and of the turns of others: what
    the agent writes of itself (`path.read_text()`) is no matter of memory. Nor is what stands in the task, the first
    turn of a user: it is told that anyway. Of two that count, one of which stands in the other, the longer does. `ago`
    is how many steps before the next one the string stood last, in whatever part of a turn. Requests without such a
    string have no row. `requests` is REQUESTS, `turns` TURNS of whole histories: what follows a request is read here
    alone, and by no policy.
    """
    found = [pl.DataFrame(schema=_USED)]
    asked = dict(requests.group_by("history_id"))
    for (history_id,), rows in turns.group_by("history_id", maintain_order=True):
        if (history_id,) in asked:
            found.append(_of_history(asked[history_id,], in_order(rows)))
    return pl.concat(found)


def shown_strings(used: pl.DataFrame, slates: pa.Table) -> pl.DataFrame:
    """What slates show of `used` (strings_in_use): history_id, request_id, policy, budget, share, far (null: none).

    `slates` have the key and text of SLATES. A string is shown where it stands in the text as whole tokens, wherever.
    """
    frame = pl.DataFrame(pl.from_arrow(slates)).select(*_CELL, "text").join(used, on=_KEY, how="inner")
    seen = pl.struct("strings", "text").map_elements(_seen, return_dtype=pl.List(pl.Boolean))
    shown = frame.select(*_CELL, "ago", seen=seen).with_row_index("slate").explode("ago", "seen")
    seen_share, far = pl.col("seen").cast(pl.Float64), pl.col("ago") >= FAR
    shares = shown.group_by("slate", *_CELL).agg(share=seen_share.mean(), far=seen_share.filter(far).mean())
    return shares.sort(_CELL).drop("slate")


def reuse(parts: Iterable[pl.DataFrame], draws: int, seed: int) -> tuple[Reuse, ...]:
    """Means over the requests of `parts` (shown_strings), by policy and budget."""
    shares = pl.concat(parts).sort(_CELL)
    cells = shares.select("policy", "budget").unique().sort("policy", "budget").iter_rows()
    return tuple(
        _row(policy, budget, shares.filter(policy=policy, budget=budget), draws, seed) for policy, budget in cells
    )


def _row(policy: str, budget: int, shares: pl.DataFrame, draws: int, seed: int) -> Reuse:
    far = shares.filter(pl.col("far").is_not_null())
    return Reuse(
        policy,
        budget,
        shares.height,
        shares["history_id"].n_unique(),
        far.height,
        mean_over_histories(shares, "share", draws, seed),
        mean_over_histories(far, "far", draws, seed),
    )


def mean_over_histories(rows: pl.DataFrame, column: str, draws: int, seed: int) -> Estimate:
    """The mean of a column of `rows`, which are sorted by history_id, with an interval over histories."""
    histories = rows.select(pl.col("history_id").rle_id()).to_series().to_numpy()
    # One seed for every cell: what is printed does not depend on which others are.
    return clustered_mean(rows[column].to_numpy(), histories, draws, np.random.default_rng(seed))


def _of_history(requests: pl.DataFrame, ordered: pl.DataFrame) -> pl.DataFrame:
    """strings_in_use of one history, whose turns are `ordered`."""
    texts = ordered["text"].to_list()
    next_steps = moments(requests, ordered).filter(pl.col("next").is_not_null())
    of_step = {place: strings("\n".join(acted_in(texts[place]))) for place in next_steps["next"].unique().to_list()}
    task = next(iter(ordered.filter(role="user")["text"].to_list()), "")
    wanted = [string for found in of_step.values() for string in found if not stands_in(string, task)]
    told = holding([told_by_others(*turn) for turn in ordered.select("role", "text").iter_rows()], wanted)
    held = holding(texts, wanted)
    step = ordered["step"].to_list()
    rows: list[dict[str, Any]] = []
    for history_id, request_id, n_seen, at in next_steps.iter_rows():
        known = longest([string for string in of_step[at] if min(told.get(string, ()), default=n_seen) < n_seen])
        ago = [step[at] - step[max(place for place in held[string] if place < n_seen)] for string in known]
        if known:
            rows.append({"history_id": history_id, "request_id": request_id, "strings": known, "ago": ago})
    return pl.DataFrame(rows, schema=_USED)


def _seen(row: dict[str, Any]) -> list[bool]:
    return [stands_in(string, row["text"]) for string in row["strings"]]
