"""The numbers of docs/training.md on distillation: a made-up teacher on LoCoMo, that is gold and noise.

    python docs/distil.py locomo10.json

makes two lakes in `.distil`, and prints each command before it runs it. A ranker is trained on labels, another is
distilled from what the teacher rated; both fill slates of conversations that neither has seen, and are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

import numpy as np
import polars as pl
from locomo import arguments, execute, stored
from scipy.special import ndtr
from scipy.stats import norm

from cluster.lake import Lake
from jobs.compare import compare, side
from jobs.distill.ways import DEFAULT, WAYS
from models.ranker import auc
from pipeline.evaluate.paired import Difference
from pipeline.schemas import LABELS, TEACHER_SCORES

PROFILE = "default"
DISTILLED = "distilled"
SCORES = "teacher.parquet"
AUC = 0.9
MARGIN = 0.03
BUDGET = 2700


def learned(workers: str) -> list[list[str]]:
    """The commands that train on labels, without the word slatemill."""
    return [["train", "learned", "--profile", PROFILE, "--workers", workers, "--out", "ranker-gold"]]


def distilled(workers: str, way: str = DEFAULT) -> list[list[str]]:
    """The commands that distil by a way, and fill slates by both rankers."""
    ours = f"./{DISTILLED}.yaml"
    with_it = ["--workers", workers]
    learn = ["--scores", SCORES, "--way", way]
    return [
        ["distill", "learned", "--profile", PROFILE, *with_it, *learn, "--out", "ranker-distilled"],
        ["run", "asked", "--profile", PROFILE, *with_it, "--ranker", "ranker-gold"],
        ["run", "asked", "--profile", ours, *with_it, "--ranker", "ranker-distilled"],
        ["compare", "asked", "--profile", ours, "--against", PROFILE],
    ]


def made_up(lake: Lake, top: int, of_auc: float = AUC, seed: int = 0) -> pl.DataFrame:
    """Scores (TEACHER_SCORES) of the first `top` candidates of every request: normal noise of its own for each, and for
    evidence more of it by as much as gives the AUC, laid out from 0 to 10."""
    key = LABELS.names
    gold = lake.scan("labels").select(key).unique().with_columns(gold=pl.lit(value=True))
    pools = lake.scan("pools", profile=PROFILE).filter(pl.col("pool_position") <= top).select(*key, "pool_position")
    rows = pools.join(gold, on=key, how="left").collect().sort("history_id", "request_id", "pool_position")
    is_gold = rows["gold"].fill_null(value=False).to_numpy()
    noise = np.random.default_rng(seed).normal(size=rows.height)
    scores = 10 * ndtr(noise + np.where(is_gold, norm.ppf(of_auc) * np.sqrt(2), 0.0) - 1)
    print(f"teacher: {rows.height:,} candidates, {is_gold.sum():,} of them evidence, AUC {auc(is_gold, scores):.3f}")
    return rows.select(
        *key,
        score=pl.Series(scores, dtype=pl.Float32),
        status=pl.lit("ok"),
        reason=pl.lit(""),
        from_logprobs=pl.lit(value=True),
    ).select(TEACHER_SCORES.names)


def profile() -> str:
    """The profile of the distilled ranker: the other's, by a name of its own, so that both runs stand side by side."""
    text = (resources.files("jobs") / "profiles" / f"{PROFILE}.yaml").read_text(encoding="utf-8")
    return text.replace(f"name: {PROFILE}\n", f"name: {DISTILLED}\n")


def verdict(found: Sequence[Difference]) -> str:
    """What a comparison says of the margin, over all requests at BUDGET."""
    row = next(row for row in found if (row.stratum, row.budget) == ("all", BUDGET))
    low = row.over_requests.low
    assert low is not None
    said = "not inferior" if low > -MARGIN else "not shown to be as good"
    return f"{said} at {BUDGET:,} tokens: the interval begins at {low:+.3f}, the margin is {MARGIN:g}"


def main() -> None:
    """Makes the lakes, the teacher and both rankers, and compares them."""
    parser = arguments(__doc__ or "", ".distil")
    parser.add_argument("--top", type=int, default=256, help="candidates of each pool that the teacher rates")
    parser.add_argument("--auc", type=float, default=AUC, help="how well the teacher tells evidence from the rest")
    parser.add_argument("--way", choices=WAYS, default=DEFAULT, help="what the distilled ranker learns")
    given = parser.parse_args()
    lakes = stored(str(given.source.resolve()), given.train, given.test)
    execute([*lakes, *learned(given.workers)], given.folder)
    rated = made_up(Lake.open(str(given.folder / "learned")), given.top, given.auc)
    rated.write_parquet(given.folder / SCORES)
    (given.folder / f"{DISTILLED}.yaml").write_text(profile(), encoding="utf-8")
    execute(distilled(given.workers, given.way), given.folder)
    sides = side(str(given.folder / f"{DISTILLED}.yaml"), None), side(PROFILE, None)
    found, _ = compare(Lake.open(str(given.folder / "asked")), *sides, draws=10_000, seed=0)
    print(verdict(found))


if __name__ == "__main__":
    main()
