"""What a fit of the ranker depends on, with presets for little and for much data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Size = Literal["auto", "small", "large"]
Objective = Literal["lambdarank", "regression", "cross_entropy"]

Leaves = Annotated[int, Field(ge=2, le=1024)]
Trees = Annotated[int, Field(ge=1, le=10_000)]
Rate = Annotated[float, Field(gt=0, le=1)]
Fraction = Annotated[float, Field(gt=0, le=1)]
Rows = Annotated[int, Field(ge=1)]
Penalty = Annotated[float, Field(ge=0)]
Rounds = Annotated[int, Field(ge=0)]
Depth = Annotated[int, Field(ge=1)]
Prior = Annotated[float, Field(ge=0)]
Seed = Annotated[int, Field(ge=0)]
Gain = Annotated[float, Field(ge=0)]

POSITION = "pool_position"
"""The feature that holds a candidate's place in the order of recall, from 1."""

JUDGED_AT = 10
"""Early stopping watches NDCG of so many first candidates, of a regression the squared error, of
probabilities the cross-entropy."""


class RankerParams(BaseModel):
    """What one fit depends on; the defaults are AgentMemRec's (arXiv 2610.34673, 4.3).

    `trees` is a maximum where `early_stopping_rounds` is not 0: then the folds of a cross-validation say how many.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    objective: Objective = "lambdarank"
    """`lambdarank` learns the order of labels, `regression` the labels themselves (least squares),
    `cross_entropy` labels that are probabilities: a score is then the logarithm of the odds."""
    gains: tuple[Gain, ...] = ()
    """What a candidate of each label is worth to LambdaRank, from label 0: LightGBM's `label_gain`. Empty: 2^label - 1,
    for labels up to 30."""
    num_leaves: Leaves = 31
    trees: Trees = 300
    learning_rate: Rate = 0.05
    min_data_in_leaf: Rows = 20
    lambda_l2: Penalty = 0.0
    feature_fraction: Fraction = 1.0
    bagging_fraction: Fraction = 1.0
    truncation: Depth = 30
    """Pairs are learned from when the better-scored candidate is among so many first ones: LightGBM's
    `lambdarank_truncation_level`."""
    early_stopping_rounds: Rounds = 0
    prior: Prior = 0.0
    """How much a fit holds to the order of recall: trees correct a score that falls by so much with every place of the
    pool, where `pool_position` is among the features. 0: they start from nothing."""
    rising: tuple[str, ...] = ()
    """Features with which a score may only rise, and `falling` those with which it may only fall, all else equal:
    what histories of one kind teach by chance then carries over to no other."""
    falling: tuple[str, ...] = ()
    seed: Seed = 0

    def lightgbm(self, feature_names: Sequence[str]) -> dict[str, Any]:
        """LightGBM's own parameters for these features: one thread and a fixed seed, so that equal data gives equal
        bytes."""
        directions = [(name in self.rising) - (name in self.falling) for name in feature_names]
        return {
            **({"monotone_constraints": directions} if any(directions) else {}),
            **self._objective(),
            "num_leaves": self.num_leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": self.min_data_in_leaf,
            "lambda_l2": self.lambda_l2,
            "feature_fraction": self.feature_fraction,
            "bagging_fraction": self.bagging_fraction,
            "bagging_freq": int(self.bagging_fraction < 1),
            "seed": self.seed,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1,
            "verbosity": -1,
        }

    def _objective(self) -> dict[str, Any]:
        if self.objective == "regression":
            return {"objective": "regression", "metric": "l2"}
        if self.objective == "cross_entropy":
            return {"objective": "cross_entropy", "metric": "cross_entropy"}
        return {
            "objective": "lambdarank",
            "metric": "ndcg",
            "eval_at": [JUDGED_AT],
            "lambdarank_truncation_level": self.truncation,
            **({"label_gain": list(self.gains)} if self.gains else {}),
        }


PRESETS: dict[str, RankerParams] = {
    "small": RankerParams(
        num_leaves=7,
        trees=400,
        learning_rate=0.05,
        min_data_in_leaf=20,
        lambda_l2=20.0,
        feature_fraction=0.4,
        bagging_fraction=0.8,
        truncation=100,
        early_stopping_rounds=150,
    ),
    "large": RankerParams(),
}
"""`large` is AgentMemRec's recipe: no early stopping, and no more regularisation than LightGBM's own."""

LARGE_FROM = 5_000
"""Requests with evidence from which `auto` takes the preset `large`.

nDCG at 10 out of fold, small and large. LoCoMo, three histories: .590 and .551 by AgentMemRec's ten features (365
requests), .723 and .721 by those of the profile `default` (382). Generated, by BM25 alone: .534 and .486 (192
requests), .462 and .444 (432), .469 and .452 (894). So small is as good or better wherever it was measured; where
large overtakes it was not, and the border is a guess.
"""


class RankerOptions(BaseModel):
    """What a profile says of its ranker: a preset (`size`; `auto` goes by the requests learned from), what of it is to
    be otherwise, and `features`: those of the profile's that it learns from (default: all)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size: Size = "auto"
    features: tuple[str, ...] | None = Field(default=None, min_length=1)
    num_leaves: Leaves | None = None
    trees: Trees | None = None
    learning_rate: Rate | None = None
    min_data_in_leaf: Rows | None = None
    lambda_l2: Penalty | None = None
    feature_fraction: Fraction | None = None
    bagging_fraction: Fraction | None = None
    truncation: Depth | None = None
    early_stopping_rounds: Rounds | None = None
    prior: Prior | None = None
    rising: tuple[str, ...] | None = None
    falling: tuple[str, ...] | None = None
    seed: Seed | None = None

    def size_for(self, n_groups: int) -> str:
        """The preset of a fit on `n_groups` requests."""
        return self.size if self.size != "auto" else ("large" if n_groups >= LARGE_FROM else "small")

    def params(self, n_groups: int) -> RankerParams:
        """The parameters of a fit on `n_groups` requests."""
        own = self.model_dump(exclude={"size", "features"}, exclude_none=True)
        return RankerParams.model_validate({**PRESETS[self.size_for(n_groups)].model_dump(), **own})
