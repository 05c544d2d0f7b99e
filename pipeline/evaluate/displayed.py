"""Whether a slate tells an agent which files it has looked into."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from pipeline.evaluate.bootstrap import Estimate
from pipeline.evaluate.moments import acted_and_seen, acted_in, actions, in_order, moments, told_by_others
from pipeline.evaluate.reuse import mean_over_histories
from pipeline.evaluate.strings import files, holding, stands_in
from pipeline.evaluate.verbatim import VERBATIM

MANY_LINES = 3
"""An output of more lines displays the files that the action names."""

_KEY = ["history_id", "request_id"]
_CELL = [*_KEY, "policy", "budget"]
_TURN = ["session_index", "turn_index"]
_TAG = re.compile(r"</?output>|<returncode>.{0,20}", re.IGNORECASE)
"""Lines that a tool puts around its output."""
_PLACES = {"path": pl.String, "place": pl.Int64}
_FILES = pl.Schema(
    {
        "history_id": pl.String(),
        "request_id": pl.String(),
        "paths": pl.List(pl.String()),
        "shown": pl.List(pl.Boolean()),
    }
)


@dataclass(frozen=True)
class Displayed:
    """How well slates of one policy and budget tell the files that were displayed from others, over `n` requests of
    `n_histories` histories: means over requests. `balanced_accuracy` is the mean of the other two (Brodersen et al.
    2010). Intervals resample histories: with fewer than ten they mean little."""

    policy: str
    budget: int
    n: int
    n_histories: int
    sensitivity: Estimate
    specificity: Estimate
    balanced_accuracy: Estimate

    def estimates(self) -> dict[str, Estimate]:
        """By name of the metric."""
        names = ("sensitivity", "specificity", "balanced_accuracy")
        return {f"displayed_{name}": getattr(self, name) for name in names}


def displays(turns: pl.DataFrame) -> pl.DataFrame:
    """The files that each history displays anywhere: history_id, path. `turns` is TURNS."""
    found = [pl.DataFrame(schema={"history_id": pl.String, "path": pl.String})]
    for (history_id,), rows in turns.filter(role="assistant").group_by("history_id", maintain_order=True):
        paths = dict.fromkeys(path for text in rows["text"].to_list() for path in _displays(text))
        found.append(pl.DataFrame({"history_id": [history_id] * len(paths), "path": list(paths)}, found[0].schema))
    return pl.concat(found)


def files_asked(requests: pl.DataFrame, turns: pl.DataFrame, elsewhere: pl.DataFrame) -> pl.DataFrame:
    """The files that the slates of each request of an agent are asked about: history_id, request_id, paths, shown.

    Of what the request sees (pipeline.evaluate.moments), a file was displayed (`shown`) where the first line of an
    action names it (pipeline.evaluate.strings.files) whose output has more than MANY_LINES lines, whatever the command.
    As many others are drawn that were not: those that outputs mention, then those of later steps' actions, then those
    that other histories display (`elsewhere`: displays of all of them); in each of the three by a digest of the path.
    A file that a seen action names in whatever way is never one of them. Requests without a file of both kinds have no
    row. `requests` is REQUESTS, `turns` TURNS of whole histories.
    """
    found = [pl.DataFrame(schema=_FILES)]
    asked = dict(requests.group_by("history_id"))
    ranked = elsewhere.with_columns(digest=_digests(elsewhere["path"])).sort("digest", "path")
    for (history_id,), rows in turns.group_by("history_id", maintain_order=True):
        if (history_id,) in asked:
            others = ranked.filter(pl.col("history_id") != history_id)["path"].unique(maintain_order=True)
            found.append(_of_history(asked[history_id,], in_order(rows), others))
    return pl.concat(found)


def told_displayed(asked: pl.DataFrame, slates: pa.Table, turns: pl.DataFrame) -> pl.DataFrame:
    """How well each slate tells the files of `asked` (files_asked) apart: history_id, request_id, policy, budget,
    sensitivity, specificity, balanced_accuracy.

    `slates` are SLATES, `turns` TURNS. A slate says that a file was displayed where the path stands, as whole tokens,
    in its records, labels and marks, or in the first line of an action that it shows; thoughts, outputs and what
    others said say nothing.
    """
    texts = {
        tuple(key): (role, text) for *key, role, text in turns.select("history_id", *_TURN, "role", "text").iter_rows()
    }
    frame = pl.DataFrame(pl.from_arrow(slates)).select(*_CELL, "text", "items").join(asked, on=_KEY, how="inner")
    said = pl.struct("history_id", "text", "items", "paths").map_elements(
        lambda row: _said(row, texts), return_dtype=pl.List(pl.Boolean)
    )
    pairs = frame.select(*_CELL, "shown", said=said).with_row_index("slate").explode("shown", "said")
    right = pl.col("said").cast(pl.Float64)
    shares = pairs.group_by("slate", *_CELL).agg(
        sensitivity=right.filter("shown").mean(), specificity=(1 - right).filter(~pl.col("shown")).mean()
    )
    balanced = (pl.col("sensitivity") + pl.col("specificity")) / 2
    return shares.with_columns(balanced_accuracy=balanced).sort(_CELL).drop("slate")


def displayed(parts: Iterable[pl.DataFrame], draws: int, seed: int) -> tuple[Displayed, ...]:
    """Means over the requests of `parts` (told_displayed), by policy and budget."""
    told = pl.concat(parts).sort(_CELL)
    cells = told.select("policy", "budget").unique().sort("policy", "budget").iter_rows()
    return tuple(
        _row(policy, budget, told.filter(policy=policy, budget=budget), draws, seed) for policy, budget in cells
    )


def _row(policy: str, budget: int, told: pl.DataFrame, draws: int, seed: int) -> Displayed:
    names = ("sensitivity", "specificity", "balanced_accuracy")
    estimates = (mean_over_histories(told, name, draws, seed) for name in names)
    return Displayed(policy, budget, told.height, told["history_id"].n_unique(), *estimates)


def _of_history(requests: pl.DataFrame, ordered: pl.DataFrame, others: pl.Series) -> pl.DataFrame:
    """files_asked of one history, whose turns are `ordered`; `others` are paths that other histories display."""
    asked = moments(requests, ordered).select(*_KEY, "n_seen")
    seen = {name: (pl.col(name) < pl.col("n_seen")).fill_null(value=False) for name in ("displayed", "named")}
    source = (
        pl.when(pl.col("mentioned") < pl.col("n_seen"))
        .then(1)
        .when(pl.col("acted") >= pl.col("n_seen"))
        .then(2)
        .when("elsewhere")
        .then(3)
    )
    pairs = asked.join(_known_files(ordered, others), how="cross").with_columns(
        shown=seen["displayed"], named=seen["named"], source=source
    )
    both = pl.concat([pairs.filter("shown"), _drawn(pairs)]).sort(*_KEY, "path")
    listed = both.group_by(_KEY, maintain_order=True).agg("path", "shown").rename({"path": "paths"})
    return listed.filter(pl.col("shown").list.any() & ~pl.col("shown").list.all())


def _drawn(pairs: pl.DataFrame) -> pl.DataFrame:
    """Of pairs of request and file those that were not displayed, no more of a request than were."""
    n_shown = pairs.group_by(_KEY).agg(n_shown=pl.col("shown").sum())
    return (
        pairs.filter(~pl.col("shown") & ~pl.col("named") & pl.col("source").is_not_null())
        .sort(*_KEY, "source", "digest", "path")
        .join(n_shown, on=_KEY, how="left", maintain_order="left")
        .filter(pl.int_range(pl.len()).over(_KEY) < pl.col("n_shown"))
        .drop("n_shown")
    )


def _known_files(ordered: pl.DataFrame, others: pl.Series) -> pl.DataFrame:
    """The files of a history, and as many that only another one displays (of `others`, in their order) as it displays
    itself: path, digest, and the places where each is first `displayed`, first `mentioned` in an output, last named in
    an action as a file (`acted`), and first in whatever way (`named`); null where it is not. `elsewhere`: another
    history displays it."""
    rows = list(ordered.select("place", "role", "text").iter_rows())
    done = {place: "\n".join(acted_in(text)) for place, role, text in rows if role == "assistant"}
    displayed = _places((place, path) for place, _, text in rows if place in done for path in _displays(text))
    mentioned = _places((place, path) for place, role, text in rows for path in files(told_by_others(role, text)))
    acted = _places((place, path) for place, action in done.items() for path in files(action))
    own = pl.concat([displayed["path"], mentioned["path"], acted["path"]]).unique()
    foreign = others.filter(~others.is_in(own.implode())).head(displayed["path"].n_unique())
    paths = pl.concat([own, foreign]).sort()
    where, held = list(done), holding(list(done.values()), paths.to_list())
    named = _places((where[number], path) for path, numbers in held.items() for number in numbers)
    first, last = pl.col("place").min(), pl.col("place").max()
    known = pl.DataFrame({"path": paths, "digest": _digests(paths)})
    places = (("displayed", displayed, first), ("mentioned", mentioned, first), ("acted", acted, last))
    for name, of_path, one in (*places, ("named", named, first)):
        known = known.join(of_path.group_by("path").agg(one.alias(name)), on="path", how="left")
    return known.with_columns(elsewhere=pl.col("path").is_in(others.implode()))


def _places(pairs: Iterable[tuple[int, str]]) -> pl.DataFrame:
    return pl.DataFrame([{"path": path, "place": place} for place, path in pairs], schema=_PLACES)


def _displays(text: str) -> list[str]:
    """The files that a step displays."""
    found = [
        path
        for action, output in acted_and_seen(text)
        if sum(not _TAG.fullmatch(line.strip()) for line in output.splitlines()) > MANY_LINES
        for path in files(action.partition("\n")[0])
    ]
    return list(dict.fromkeys(found))


def _digests(paths: pl.Series) -> pl.Series:
    """A digest of each path: an order that says nothing of what they are called."""
    return pl.Series(
        [hashlib.blake2b(path.encode(), digest_size=8).hexdigest() for path in paths.to_list()], dtype=pl.String
    )


def _said(row: dict[str, Any], texts: Mapping[tuple[Any, ...], tuple[str, str]]) -> list[bool]:
    telling = _telling(row["history_id"], row["text"], row["items"], texts)
    return [stands_in(path, telling) for path in row["paths"]]


def _telling(
    history_id: str, text: str, items: Iterable[Mapping[str, Any]], texts: Mapping[tuple[Any, ...], tuple[str, str]]
) -> str:
    """A slate's text without the turns that it shows, but for the first lines of actions."""
    kept: list[str] = []
    reached = 0
    for item in items:
        if item["resolution"] not in VERBATIM:
            continue
        role, turn = texts[history_id, item["session_index"], item["turn_index"]]
        shown = turn[item["start"] : item["end"]]
        at = text.find(shown, reached)
        if at < 0:
            continue
        kept.append(text[reached:at])
        if role == "assistant":
            kept += _first_lines(turn, item["start"], item["end"])
        reached = at + len(shown)
    return "\n".join([*kept, text[reached:]])


def _first_lines(turn: str, start: int, end: int) -> list[str]:
    """The first lines of a step's actions, as far as they lie between two characters of it."""
    lines = [(first, first + len(turn[first:last].partition("\n")[0])) for first, last in actions(turn)]
    return [turn[max(first, start) : min(last, end)] for first, last in lines if first < end and last > start]
