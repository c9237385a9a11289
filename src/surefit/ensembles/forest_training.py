"""Fitting of a forest from parameters and targets, with out-of-bag errors and a certificate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.multiclass import type_of_target

from surefit.bounds.base import RiskBound
from surefit.bounds.votes import out_of_bag_bounds
from surefit.core.blocks import by_rows
from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, DataWarning, InvalidData, InvalidParameter
from surefit.core.outputs import refuse_several
from surefit.core.text import counted as in_words
from surefit.core.threads import map_blocks
from surefit.core.warn import warn
from surefit.ensembles.forest_grow import ARRAYS, Grower, Sample
from surefit.ensembles.members import MOST_SEEDS, forget_out_of_bag, random_stream
from surefit.problems import pose
from surefit.solvers.trees import apply
from surefit.trees.columns import as_rows

#: Fitted attributes in the certificate, and those of forests with categorical columns.
PACKED = ("tree_starts_", "tree_seeds_", *(f"tree_{name}_" for name in ARRAYS[:-1]), "tree_value_")
PACKED_CATEGORIES = (*PACKED, "tree_kind_", "tree_set_start_", "tree_words_", "tree_n_codes_", "is_categorical_")


class OutOfBag(NamedTuple):
    """Out-of-bag predictions of the trees."""

    sums: np.ndarray  # (rows, values) over the trees for which the row is out of bag
    trees: np.ndarray  # (rows,) number of these trees
    wrong: np.ndarray  # (trees, rows) bool, for classes
    left_out: np.ndarray  # (trees, rows) bool


def fit_forest(estimator, sample: Sample, given_y: np.ndarray) -> Any:
    """Grow the trees, set the fitted attributes and issue the certificate. Returns the estimator."""
    who = type(estimator).__name__
    refuse_several(estimator, sample.y, monotonic_cst="None for several targets")
    check_options(estimator, sample.X.shape[1], sample.n_classes)
    if estimator.oob_score and sample.n_classes and type_of_target(given_y) == "multiclass-multioutput":
        raise InvalidData(
            f"{who}: The type of target cannot be used to compute OOB estimates: several targets with more than two classes; "
            "use oob_score=False, or one forest per target."
        )
    again = estimator.warm_start and hasattr(estimator, "trees_")
    random = random_stream(estimator.random_state)
    old = len(estimator.trees_) if again else 0
    if estimator.n_estimators < old:
        raise InvalidParameter(
            who, "n_estimators", f"at least {old}, the number of trees grown so far", estimator.n_estimators
        )
    seeds = random.randint(MOST_SEEDS, size=int(estimator.n_estimators))  # trees of earlier fits keep their seeds
    grower = Grower(estimator, sample)
    reporter = progress_reporter(estimator, sample.X, given_y, task="tree", max_subtasks=int(estimator.n_estimators))
    with Budget(None, estimator.max_time, reporter) as budget:
        trees = grower.grow_all(seeds[old:], budget)
        seconds, reason = budget.seconds, budget.stopped
    if reporter is not None:
        reporter.finish()
    estimator.__dict__.pop("drawn_by_index_", None)  # from an earlier fit
    forget_out_of_bag(estimator)
    estimator.trees_ = [*(estimator.trees_ if again else []), *trees]
    estimator.tree_seeds_ = np.concatenate([estimator.tree_seeds_, seeds[old:]]) if again else seeds
    estimator.tree_seeds_ = estimator.tree_seeds_[: len(estimator.trees_)]
    estimator._row_order = None if grower.draws is None else grower.draws.order
    estimator._row_ends = None if grower.draws is None else grower.draws.reached
    estimator._n_draws = 0 if grower.draws is None else grower.draws.count
    estimator._n_rows = len(sample.y)
    if reason is not None:
        warn(
            f"{who}: {len(estimator.trees_)} of {estimator.n_estimators} trees were grown: {reason.sentence()}.",
            ConvergenceWarning,
        )
    claims = [Claim("forest.leaves")]
    if estimator.subset == "tree":
        claims.append(Claim("forest.subsets"))
    if estimator.oob_score:
        claims += _out_of_bag(estimator, sample, grower)
    claims.append(Claim("forest.global"))
    _certify(estimator, sample, given_y, claims, seconds, str(reason or "done"))
    return estimator


def check_options(estimator, d: int, n_classes: Any) -> None:
    """Raise ``InvalidParameter`` for options that require ``bootstrap=True``, and for invalid monotonicity constraints."""
    who = type(estimator).__name__
    if estimator.oob_score and not estimator.bootstrap:
        raise InvalidParameter(who, "oob_score", "False without bootstrap (no row is out of bag)", estimator.oob_score)
    if estimator.max_samples is not None and not estimator.bootstrap:
        raise InvalidParameter(who, "max_samples", "None without bootstrap", estimator.max_samples)
    wanted = estimator.monotonic_cst
    if wanted is None:
        return
    signs = np.asarray(wanted)
    if signs.shape != (d,) or not np.isin(signs, (-1, 0, 1)).all():
        raise InvalidParameter(who, "monotonic_cst", f"-1, 0 or 1 for each of {d} columns", wanted)
    if n_classes > 2 and signs.any():
        raise InvalidParameter(who, "monotonic_cst", "None for more than two classes", wanted)


def _out_of_bag(estimator, sample: Sample, grower: Grower) -> list[Claim]:
    found = out_of_bag(estimator, sample, grower)
    seen = found.trees > 0
    require_left_out(estimator, int(np.count_nonzero(seen)), int(np.count_nonzero(~seen)))
    with np.errstate(invalid="ignore"):
        means = found.sums / found.trees[:, None]
    weights = np.ones(len(seen)) if sample.weights is None else sample.weights
    counted = seen & (weights > 0)
    if not sample.n_classes:
        means = means if sample.y.ndim == 2 else means[:, 0]
        estimator.oob_prediction_ = means
        errors = np.average((means[counted] - sample.y[counted]) ** 2, axis=0, weights=weights[counted])
        estimator.oob_score_ = _score(estimator, sample, means, counted, weights, errors)
        return [out_of_bag_claim(float(np.mean(errors)), counted, False)]
    shares = estimator._class_shares(means)
    estimator.oob_decision_function_ = np.stack(shares, axis=2) if sample.y.ndim == 2 else shares
    error = float(np.average(_misses(sample, means[counted], np.flatnonzero(counted)), weights=weights[counted]))
    estimator.oob_score_ = _score(estimator, sample, means, counted, weights, error)
    claims = [out_of_bag_claim(error, counted, True)]
    plain = sample.weights is None
    joint = (
        found.left_out.astype(np.float32) @ found.left_out.T.astype(np.float32) if len(found.wrong) > 1 else np.zeros(1)
    )
    if plain and len(found.wrong) > 1 and joint.min() > 0:
        claims += vote_claims(out_of_bag_bounds(found.wrong, found.left_out, float(estimator.delta) / 2))
    return claims


def require_left_out(estimator, some: int, always: int) -> None:
    """Raise ``InvalidData`` if no row is out of bag; warn about rows that every tree draws."""
    who = type(estimator).__name__
    if always:
        warn(
            f"{who}: {in_words(always, 'row was', 'rows were')} drawn by every tree, without out-of-bag prediction; grow more trees.",
            DataWarning,
        )
    if not some:
        raise InvalidData(f"{who}: no row is out of bag for any tree; grow more trees, or use more rows.")


def out_of_bag_claim(error: float, counted: np.ndarray, classes: bool, witness: dict | None = None) -> Claim:
    """Return the claim about the out-of-bag error."""
    numbers = {"rows": int(np.count_nonzero(counted)), "classes": classes}
    return Claim("forest.out_of_bag", error, numbers=numbers, witness=witness or {})


def vote_claims(bounds: dict[str, RiskBound]) -> list[Claim]:
    """Return the claims of two bounds on the error of the majority vote; each uses half of ``delta``, so both hold together."""
    claims = []
    for name, bound in bounds.items():
        numbers = {"empirical": bound.inputs["empirical"], "n": bound.inputs["n"], "delta": bound.delta}
        claims.append(Claim(f"forest.vote_{name}", float(bound.value), numbers=numbers))
    return claims


def _misses(sample: Sample, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return whether the most probable class of each row is wrong; for several outputs, whether any of them is."""
    if sample.y.ndim == 1:
        return values.argmax(axis=1) != sample.y[rows]
    parts = np.split(values, np.cumsum(sample.n_classes)[:-1], axis=1)
    return np.any(np.stack([part.argmax(axis=1) for part in parts], axis=1) != sample.y[rows], axis=1)


def _score(estimator, sample: Sample, means, counted, weights, error) -> float:
    if callable(estimator.oob_score):
        said = means[counted] if not sample.n_classes else estimator._class_labels(means[counted])
        return float(estimator.oob_score(_given(estimator, sample)[counted], said))
    if sample.n_classes:
        return 1 - error
    center = np.average(sample.y[counted], axis=0, weights=weights[counted])
    spread = np.average((sample.y[counted] - center) ** 2, axis=0, weights=weights[counted])
    return float(np.mean(1 - error / np.maximum(spread, 1e-300)))


def _given(estimator, sample: Sample) -> np.ndarray:
    """Return the targets in their original form."""
    if not sample.n_classes:
        return sample.y
    if sample.y.ndim == 1:
        return estimator.classes_[sample.y]
    return np.column_stack([known[codes] for known, codes in zip(estimator.classes_, sample.y.T, strict=True)])


def out_of_bag(estimator, sample: Sample, grower: Grower) -> OutOfBag:
    """Evaluate every tree on its out-of-bag rows."""
    n, k = len(sample.y), estimator.trees_[0].values.shape[1]
    sums, count = np.zeros((n, k)), np.zeros(n, dtype=np.int64)
    wrong, left_out = np.zeros((len(estimator.trees_), n), dtype=bool), np.zeros((len(estimator.trees_), n), dtype=bool)

    def ask(start: int, stop: int):
        tree, drawn = estimator.trees_[start], grower.weights_of(int(estimator.tree_seeds_[start]))
        assert drawn is not None
        rows = np.flatnonzero(drawn == 0)
        leaves = by_rows(sample.X[rows], lambda part: apply(tree, as_rows(part, sample.categories)))
        return rows, tree.values[leaves]

    for t, (rows, values) in enumerate(map_blocks(ask, len(estimator.trees_), 1, estimator.n_jobs)):
        sums[rows] += values
        count[rows] += 1
        left_out[t, rows] = True
        if sample.n_classes:
            wrong[t, rows] = _misses(sample, values, rows)
    return OutOfBag(sums, count, wrong, left_out)


def _certify(estimator, sample: Sample, given_y, claims: list[Claim], seconds: float, reason: str) -> None:
    packed = PACKED_CATEGORIES if sample.categories else PACKED
    estimator._issue(
        "C",
        claims,
        problem=pose(estimator, sample.X, given_y, sample.weights, "is_categorical_"),
        model=(*packed, *estimator._class_attributes()) if sample.n_classes else packed,
        sample=(sample.X, given_y, sample.weights),
        run={"solver": "greedy trees", "reason": reason, "passes": len(estimator.trees_), "seconds": float(seconds)},
    )
