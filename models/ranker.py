"""The learned ranker: LightGBM's LambdaRank over the features of a pool, kept as text."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, ValidationError

from models.calibration import Calibration
from models.mode_choice import ModeChoice
from models.ranker_params import POSITION, RankerParams

if TYPE_CHECKING:
    import lightgbm

Matrix = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float64]
Relevance = npt.NDArray[np.integer[Any] | np.floating[Any]]
"""Labels: integers to learn an order from, numbers for a regression, probabilities for the cross-entropy."""
Sizes = npt.NDArray[np.integer[Any]]

FORMAT_VERSION = 2
MODEL_FILE = "model.txt"
ABOUT_FILE = "ranker.json"
CARD_FILE = "card.md"

MAX_GROUP_ROWS = 10_000
"""LightGBM's limit of rows in one query."""
MAX_RELEVANCE = 30
"""LightGBM's highest label without a label_gain of one's own."""

_END_OF_TREES = "\nend of trees\n"


class _About(BaseModel):
    """The content of ranker.json."""

    model_config = ConfigDict(extra="forbid")

    format_version: int
    slatemill_version: str
    profile: str
    identity: str
    feature_names: tuple[str, ...]
    params: RankerParams
    metrics: dict[str, float]
    seen_histories: tuple[str, ...]
    calibration: Calibration | None = None
    scored_by: tuple[str, ...] = ()
    mode_choice: ModeChoice | None = None


class RankerError(ValueError):
    """A folder holds no ranker, or not the one it was written with."""


@dataclass(frozen=True)
class LightGBMRanker:
    """A fitted LambdaRank: models.interfaces.Ranker. Pickles as its text; the trees are read on first use."""

    model_text: str = field(repr=False)
    feature_names: tuple[str, ...]
    params: RankerParams
    profile: str
    seen_histories: tuple[str, ...] = field(default=(), repr=False)
    """Histories of the training data, sorted: an evaluation leaves them out."""
    metrics: dict[str, float] = field(default_factory=dict)
    """Measured when it was fitted; those that are not finite are not saved."""
    calibration: Calibration | None = None
    """Fitted on scores out of fold; None where none was."""
    card: str = field(default="", repr=False)
    """What a person should know before using it (Markdown), where it was trained with a card."""
    scored_by: tuple[str, ...] = field(default=(), repr=False)
    """Digests (jobs.ranker_suits.scored_by) of the models whose scores it learned from; empty: it is bound to none."""
    mode_choice: ModeChoice | None = None
    """Fitted on slates out of fold; None where it was trained for a profile without the policy `auto`."""

    @cached_property
    def identity(self) -> str:
        """SHA-256 (hex) of what decides slates: the trees, what they correct, the features' names and order, the
        calibration and the choice of modes.

        Not of the parameters that LightGBM writes below its trees: equal trees give equal slates however they came.
        """
        names, trees = json.dumps(self.feature_names), self.model_text.partition(_END_OF_TREES)[0]
        prior = f"\nprior {self.params.prior}" if self.params.prior else ""
        calibrated = "" if self.calibration is None else f"\n{self.calibration.model_dump_json()}"
        choice = "" if self.mode_choice is None else f"\n{self.mode_choice.model_dump_json()}"
        return hashlib.sha256(f"{names}\n{trees}{prior}{calibrated}{choice}".encode()).hexdigest()

    def score(self, features: Matrix, names: Sequence[str]) -> Scores:
        """Scores, shape (n,), of features of shape (n, len(names)); NaN is missing.

        Raises ValueError when names are not the ranker's own, in order.
        """
        self._require_own(features, names)
        if not len(features):
            return np.zeros(0, np.float64)
        corrections = np.asarray(self._booster.predict(features, raw_score=True, num_threads=1), np.float64)
        return corrections + _start(features, names, self.params)

    def contributions(self, features: Matrix, names: Sequence[str]) -> Scores:
        """What each feature adds to each score: shape (n, len(names) + 1), the last column the base, equal in all rows.

        A row adds up to its score (TreeSHAP: Lundberg et al., arXiv 1802.03888, as in LightGBM). Raises as `score`.
        """
        self._require_own(features, names)
        if not len(features):
            return np.zeros((0, len(names) + 1), np.float64)
        added = np.asarray(self._booster.predict(features, pred_contrib=True, num_threads=1), np.float64)
        if POSITION in self.feature_names:
            added[:, self.feature_names.index(POSITION)] += _start(features, names, self.params)
        return added

    def importances(self) -> dict[str, dict[str, float]]:
        """Importance of each feature by kind: `gain` (total reduction of the loss) and `split` (number of uses)."""
        return {
            kind: dict(zip(self.feature_names, map(float, self._booster.feature_importance(kind)), strict=True))
            for kind in ("gain", "split")
        }

    def _require_own(self, features: Matrix, names: Sequence[str]) -> None:
        if tuple(names) != self.feature_names:
            raise ValueError(
                f"the ranker was fitted on other features: it takes {', '.join(self.feature_names)}; "
                f"it was given {', '.join(names)}. Train one for this profile (`slatemill train`)"
            )
        if features.ndim != 2 or features.shape[1] != len(names):
            raise ValueError(f"features have shape {features.shape}, not (n, {len(names)})")

    def save(self, folder: Path) -> None:
        """Write model.txt (LightGBM's text), ranker.json and, where there is one, card.md; makes the folder.

        Raises OSError.
        """
        about = _About(
            format_version=FORMAT_VERSION,
            slatemill_version=metadata.version("slatemill"),
            profile=self.profile,
            identity=self.identity,
            feature_names=self.feature_names,
            params=self.params,
            metrics={name: value for name, value in self.metrics.items() if math.isfinite(value)},
            seen_histories=self.seen_histories,
            calibration=self.calibration,
            scored_by=self.scored_by,
            mode_choice=self.mode_choice,
        )
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MODEL_FILE).write_bytes(self.model_text.encode())
        (folder / ABOUT_FILE).write_text(about.model_dump_json(indent=2) + "\n", encoding="utf-8")
        if self.card:
            (folder / CARD_FILE).write_text(self.card, encoding="utf-8")
        else:
            (folder / CARD_FILE).unlink(missing_ok=True)  # of a ranker that was saved there before

    @classmethod
    def load(cls, folder: Path) -> LightGBMRanker:
        """Read what `save` wrote. Raises RankerError where the folder holds no ranker or was changed since."""
        try:
            model_text = (folder / MODEL_FILE).read_bytes().decode()
            about = _About.model_validate_json((folder / ABOUT_FILE).read_bytes())
            card = (folder / CARD_FILE).read_text(encoding="utf-8") if (folder / CARD_FILE).exists() else ""
        except FileNotFoundError as error:
            missing = Path(error.filename).name
            raise RankerError(
                f"{folder} holds no ranker: {missing} is missing. `slatemill train --out` writes one"
            ) from error
        except (OSError, UnicodeDecodeError, ValidationError) as error:
            raise RankerError(f"{folder} holds no ranker that can be read: {error}") from error
        if about.format_version != FORMAT_VERSION:
            raise RankerError(
                f"the ranker in {folder} has format {about.format_version} (slatemill {about.slatemill_version}); "
                f"this slatemill reads format {FORMAT_VERSION}: train it anew"
            )
        known = (about.feature_names, about.params, about.profile, about.seen_histories, about.metrics)
        ranker = cls(model_text, *known, about.calibration, card, about.scored_by, about.mode_choice)
        if ranker.identity != about.identity:
            raise RankerError(f"{folder}: {MODEL_FILE} is not the model that {ABOUT_FILE} names: one was changed")
        return ranker

    @cached_property
    def _booster(self) -> lightgbm.Booster:
        import lightgbm  # noqa: PLC0415 - a second

        return lightgbm.Booster(model_str=self.model_text)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_booster"}


def fit(
    matrix: Matrix,
    relevance: Relevance,
    group_sizes: Sizes,
    feature_names: Sequence[str],
    params: RankerParams,
    *,
    seen_histories: Iterable[str] = (),
    profile: str = "",
) -> LightGBMRanker:
    """Fit LambdaRank (Burges 2010, as in LightGBM), or the regression that params name, on groups of candidates.

    matrix: float32, shape (rows, len(feature_names)), NaN is missing; relevance: integers 0..30 (to a regression any
    number from 0 on, to the cross-entropy up to 1), shape (rows,);
    group_sizes: rows of each group, in the order of the rows. Equal inputs give a ranker of equal bytes.
    Raises ValueError for anything that LightGBM would take in silence or refuse without saying where.
    """
    import lightgbm  # noqa: PLC0415 - a second

    data = _dataset(matrix, relevance, group_sizes, feature_names, params)
    booster = lightgbm.train(params.lightgbm(feature_names), data, num_boost_round=params.trees)
    histories = tuple(sorted(set(seen_histories)))
    return LightGBMRanker(booster.model_to_string(), tuple(feature_names), params, profile, histories)


def best_trees(
    learned: tuple[Matrix, Relevance, Sizes],
    judged: tuple[Matrix, Relevance, Sizes],
    feature_names: Sequence[str],
    params: RankerParams,
) -> int:
    """How many trees of a fit to `learned` do best on `judged`, by NDCG at 10 or the squared error of a regression: at
    least 1, at most params.trees.

    Both are (matrix, relevance, group_sizes) as `fit` takes them. The fit ends when early_stopping_rounds trees brought
    nothing; without those it is params.trees. Raises as `fit`.
    """
    if not params.early_stopping_rounds:
        return params.trees
    import lightgbm  # noqa: PLC0415 - a second

    data, watched = (_dataset(*groups, feature_names, params) for groups in (learned, judged))
    stopping = lightgbm.early_stopping(params.early_stopping_rounds, verbose=False)
    booster = lightgbm.train(
        params.lightgbm(feature_names), data, params.trees, valid_sets=[watched], callbacks=[stopping]
    )
    return max(1, int(booster.best_iteration))


def _start(matrix: Matrix, feature_names: Sequence[str], params: RankerParams) -> Scores:
    """The score that trees correct, shape (rows,): of the order of recall as much as params.prior says, else 0."""
    if not params.prior or POSITION not in feature_names:
        return np.zeros(len(matrix), np.float64)
    position = matrix[:, list(feature_names).index(POSITION)].astype(np.float64)
    found: Scores = -params.prior * position
    return found


def _dataset(
    matrix: Matrix, relevance: Relevance, group_sizes: Sizes, feature_names: Sequence[str], params: RankerParams
) -> lightgbm.Dataset:
    import lightgbm  # noqa: PLC0415 - a second

    _check(matrix, relevance, group_sizes, feature_names)
    _check_labels(relevance, params)
    return lightgbm.Dataset(
        matrix,
        label=relevance,
        group=group_sizes,
        init_score=_start(matrix, feature_names, params) if params.prior else None,
        feature_name=list(feature_names),
        params={"verbosity": -1, "feature_pre_filter": False},
    )


def ndcg_at(k: int, relevance: Relevance, scores: Scores, group_sizes: Sizes) -> float:
    """The mean of ndcg_by_group over groups with relevance; NaN when there are none."""
    by_group = ndcg_by_group(k, relevance, scores, group_sizes)
    counted = ~np.isnan(by_group)
    return float(np.mean(by_group[counted])) if counted.any() else float("nan")


def ndcg_by_group(k: int, relevance: Relevance, scores: Scores, group_sizes: Sizes) -> Scores:
    """NDCG of the first k of each group (Jarvelin and Kekalainen 2002; gain 2^relevance - 1, discount log2).

    Shape (groups,), NaN for a group without relevance. Ties go by the order of the rows.
    """
    group = np.repeat(np.arange(len(group_sizes)), group_sizes)
    gains = np.exp2(np.asarray(relevance, np.float64)) - 1
    best = _dcg(k, gains, -gains, group, len(group_sizes))
    got = _dcg(k, gains, -np.asarray(scores, np.float64), group, len(group_sizes))
    found: Scores = np.divide(got, best, out=np.full(len(best), np.nan), where=best > 0)
    return found


def auc(relevance: Relevance, scores: Scores) -> float:
    """Area under the ROC curve of relevant (> 0) against other candidates, over all groups; NaN without both."""
    relevant = np.asarray(relevance) > 0
    if relevant.all() or not relevant.any():
        return float("nan")
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 - a second

    return float(roc_auc_score(relevant, scores))


def _dcg(
    k: int, gains: Scores, order_by: Scores, group: npt.NDArray[np.integer[Any]], n_groups: int
) -> npt.NDArray[np.float64]:
    order = np.lexsort((order_by, group))
    start = np.searchsorted(group, np.arange(n_groups))
    rank = np.arange(len(group)) - start[group]  # group is ascending, so a sorted row stays in its group's range
    shown = np.where(rank < k, gains[order] / np.log2(rank + 2), 0.0)
    return np.asarray(np.bincount(group, weights=shown, minlength=n_groups), np.float64)


def _check(
    matrix: Matrix,
    relevance: Relevance,
    group_sizes: Sizes,
    feature_names: Sequence[str],
) -> None:
    if matrix.ndim != 2 or matrix.shape[1] != len(feature_names):
        raise ValueError(f"matrix has shape {matrix.shape}, not (rows, {len(feature_names)}): one column a feature")
    if len(set(feature_names)) != len(feature_names):
        raise ValueError(f"feature names repeat: {', '.join(feature_names)}")
    rows = matrix.shape[0]
    if relevance.shape != (rows,):
        raise ValueError(f"relevance has shape {relevance.shape}, the matrix {rows} rows")
    if not rows or not len(group_sizes):
        raise ValueError("there are no candidates to learn from")
    if int(group_sizes.sum()) != rows:
        raise ValueError(f"group sizes add up to {int(group_sizes.sum())}, the matrix has {rows} rows")
    if group_sizes.min() < 1 or group_sizes.max() > MAX_GROUP_ROWS:
        raise ValueError(
            f"groups have {group_sizes.min()} to {group_sizes.max()} rows, LambdaRank takes 1 to {MAX_GROUP_ROWS}: "
            "choose a smaller pool"
        )
    infinite = [feature_names[column] for column in np.unique(np.nonzero(np.isinf(matrix))[1])]
    if infinite:
        raise ValueError(f"features are infinite: {', '.join(infinite)}; what is missing must be NaN")


def _check_labels(relevance: Relevance, params: RankerParams) -> None:
    highest = len(params.gains) - 1 if params.gains else MAX_RELEVANCE
    if params.objective == "regression":
        if not np.isfinite(relevance).all() or relevance.min() < 0:
            raise ValueError("relevance must be numbers from 0 on")
    elif params.objective == "cross_entropy":
        if not np.isfinite(relevance).all() or relevance.min() < 0 or relevance.max() > 1:
            raise ValueError("relevance must be probabilities from 0 to 1")
    elif not np.issubdtype(relevance.dtype, np.integer) or relevance.min() < 0 or relevance.max() > highest:
        raise ValueError(f"relevance must be integers from 0 to {highest}")
    if not (relevance > 0).any():
        raise ValueError("no candidate is relevant: there is nothing to learn from")
