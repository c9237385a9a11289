"""From parameters and targets to a forest, its out-of-bag errors and its certificate."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from surefit.bounds.votes import out_of_bag_bounds
from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, DataRemark, InvalidData, InvalidParameter
from surefit.core.estimator import data_fingerprint
from surefit.core.threads import map_blocks
from surefit.ensembles.forest_grow import PACKED, Grower, Sample, leaves_of
from surefit.ensembles.members import MOST_SEEDS, random_stream

ROUNDING = 1e-9


class OutOfBag(NamedTuple):
    """What the trees say of rows they have not seen."""

    sums: np.ndarray  # (rows, values) over the trees that left the row out
    trees: np.ndarray  # (rows,) number of them
    wrong: np.ndarray  # (trees, rows) bool, for classes
    left_out: np.ndarray  # (trees, rows) bool


def fit_forest(estimator, sample: Sample, given_y: np.ndarray) -> Any:
    """Grow the trees, set the fitted attributes and issue the certificate. Returns the estimator."""
    who = type(estimator).__name__
    if estimator.oob_score and not estimator.bootstrap:
        raise InvalidParameter(who, "oob_score", "False without bootstrap: no row is left out", estimator.oob_score)
    if estimator.max_samples is not None and not estimator.bootstrap:
        raise InvalidParameter(who, "max_samples", "None without bootstrap", estimator.max_samples)
    _check_monotone(estimator, sample)
    again = estimator.warm_start and hasattr(estimator, "trees_")
    random = random_stream(estimator.random_state)
    old = len(estimator.trees_) if again else 0
    if estimator.n_estimators < old:
        raise InvalidParameter(who, "n_estimators", f"at least the {old} trees grown so far", estimator.n_estimators)
    seeds = random.randint(MOST_SEEDS, size=int(estimator.n_estimators))  # earlier trees keep their seeds
    grower = Grower(estimator, sample)
    reporter = progress_reporter(estimator, sample.X, given_y, task="tree", max_subtasks=int(estimator.n_estimators))
    with Budget(None, estimator.max_time, reporter) as budget:
        trees = grower.grow_all(seeds[old:], budget)
        seconds, reason = budget.seconds, budget.stopped
    if reporter is not None:
        reporter.finish()
    estimator.trees_ = [*(estimator.trees_ if again else []), *trees]
    estimator.tree_seeds_ = np.concatenate([estimator.tree_seeds_, seeds[old:]]) if again else seeds
    estimator.tree_seeds_ = estimator.tree_seeds_[: len(estimator.trees_)]
    estimator._pack()
    if reason is not None:
        warnings.warn(
            f"{who}: {len(estimator.trees_)} of {estimator.n_estimators} trees were grown: {reason.sentence()}.",
            ConvergenceWarning,
            stacklevel=4,
        )
    claims = [_leaves_claim(estimator)]
    if estimator.subset == "tree":
        words = f"No tree cuts a column outside its own {grower.columns}."
        claims.append(Claim("forest.subsets", "feasibility", words, value=0.0, limit=0.0))
    if estimator.oob_score:
        claims += _out_of_bag(estimator, sample, grower)
    claims.append(
        Claim("forest.global", "no_claim", "Nothing is claimed about other forests: splits are chosen greedily.")
    )
    _certify(estimator, sample, given_y, claims, grower, seconds, str(reason or "done"))
    return estimator


def _check_monotone(estimator, sample: Sample) -> None:
    wanted, d = estimator.monotonic_cst, sample.X.shape[1]
    if wanted is None:
        return
    who, signs = type(estimator).__name__, np.asarray(wanted)
    if signs.shape != (d,) or not np.isin(signs, (-1, 0, 1)).all():
        raise InvalidParameter(who, "monotonic_cst", f"-1, 0 or 1 for each of {d} columns", wanted)
    if sample.n_classes > 2 and signs.any():
        raise InvalidParameter(who, "monotonic_cst", "None for more than two classes", wanted)


def _leaves_claim(estimator) -> Claim:
    scale = ROUNDING * max(1.0, float(np.max(np.abs(estimator.tree_value_))))
    median = estimator.criterion == "absolute_error"
    return Claim(
        "forest.leaves",
        "process_fact",
        f"Each of {int(np.count_nonzero(estimator.tree_feature_ < 0))} leaves of {len(estimator.trees_)} trees holds the "
        + ("median" if median else "mean (class shares)")
        + f" of the drawn rows that reach it, up to {scale:.1g}.",
        value=scale,
        limit=scale,
    )


def _out_of_bag(estimator, sample: Sample, grower: Grower) -> list[Claim]:
    found = out_of_bag(estimator, sample, grower)
    seen = found.trees > 0
    if not seen.all():
        warnings.warn(
            f"{type(estimator).__name__}: {np.count_nonzero(~seen)} rows were drawn by every tree and have no out-of-bag "
            "prediction; grow more trees.",
            DataRemark,
            stacklevel=5,
        )
    if not seen.any():
        raise InvalidData(
            f"{type(estimator).__name__}: no row was left out by any tree; grow more trees, or use more rows."
        )
    with np.errstate(invalid="ignore"):
        means = found.sums / found.trees[:, None]
    weights = np.ones(len(seen)) if sample.weights is None else sample.weights
    counted = seen & (weights > 0)
    if not sample.n_classes:
        estimator.oob_prediction_ = means[:, 0]
        error = float(np.average((means[counted, 0] - sample.y[counted]) ** 2, weights=weights[counted]))
        estimator.oob_score_ = _score(estimator, sample, means[:, 0], counted, weights, error)
        words = f"The out-of-bag mean squared error is {error:.6g} (an estimate of the error on new rows)."
        return [Claim("forest.out_of_bag", "data_fact", words, value=error)]
    estimator.oob_decision_function_ = means
    wrong = means[counted].argmax(axis=1) != sample.y[counted]
    error = float(np.average(wrong, weights=weights[counted]))
    estimator.oob_score_ = _score(estimator, sample, means, counted, weights, error)
    words = f"The out-of-bag error is {error:.6g} (an estimate of the error on new rows)."
    claims = [Claim("forest.out_of_bag", "data_fact", words, value=error)]
    plain = sample.weights is None
    joint = (
        found.left_out.astype(np.float32) @ found.left_out.T.astype(np.float32) if len(found.wrong) > 1 else np.zeros(1)
    )
    if plain and len(found.wrong) > 1 and joint.min() > 0:
        claims += vote_claims(found.wrong, found.left_out, float(estimator.delta))
    return claims


def vote_claims(wrong: np.ndarray, left_out: np.ndarray, delta: float) -> list[Claim]:
    """Two bounds of the error of the majority vote, at half of ``delta`` each: the smaller may be used."""
    claims = []
    for name, bound in out_of_bag_bounds(wrong, left_out, delta / 2).items():
        claim = bound.claim()
        words = f"The majority vote errs on new rows with probability at most {bound.value:.4g}"
        words += " (vacuous)." if bound.value >= 1 else f", with confidence {1 - bound.delta:.4g}."
        claims.append(
            replace(claim, name=f"forest.vote_{name}", statement=words, about="the majority vote of the members")
        )
    return claims


def _score(estimator, sample: Sample, means, counted, weights, error: float) -> float:
    if callable(estimator.oob_score):
        truth = sample.y[counted] if not sample.n_classes else estimator.classes_[sample.y[counted]]
        said = means[counted] if not sample.n_classes else estimator.classes_[means[counted].argmax(axis=1)]
        return float(estimator.oob_score(truth, said))
    if sample.n_classes:
        return 1 - error
    centre = np.average(sample.y[counted], weights=weights[counted])
    return 1 - error / max(float(np.average((sample.y[counted] - centre) ** 2, weights=weights[counted])), 1e-300)


def out_of_bag(estimator, sample: Sample, grower: Grower) -> OutOfBag:
    """Ask every tree for the rows it has not drawn."""
    n, k = len(sample.y), estimator.trees_[0].value.shape[1]
    sums, count = np.zeros((n, k)), np.zeros(n, dtype=np.int64)
    wrong, left_out = np.zeros((len(estimator.trees_), n), dtype=bool), np.zeros((len(estimator.trees_), n), dtype=bool)

    def ask(start: int, stop: int):
        tree, drawn = estimator.trees_[start], grower.weights_of(int(estimator.tree_seeds_[start]))
        assert drawn is not None
        rows = np.flatnonzero(drawn == 0)
        return rows, tree.value[leaves_of(sample.X, rows, *(getattr(tree, name) for name in PACKED[:-1]))]

    for t, (rows, values) in enumerate(map_blocks(ask, len(estimator.trees_), 1, estimator.n_jobs)):
        sums[rows] += values
        count[rows] += 1
        left_out[t, rows] = True
        if sample.n_classes:
            wrong[t, rows] = values.argmax(axis=1) != sample.y[rows]
    return OutOfBag(sums, count, wrong, left_out)


def _certify(
    estimator, sample: Sample, given_y, claims: list[Claim], grower: Grower, seconds: float, reason: str
) -> None:
    factors = sample.class_weights
    estimator._issue(
        "C",
        claims,
        problem={
            "classes": sample.n_classes,
            "criterion": estimator.criterion,
            "bootstrap": bool(estimator.bootstrap),
            "draws": grower.draws.count if grower.draws is not None else 0,
            "class_weights": [] if factors is None else [float(v) for v in factors],
            "columns_of_a_tree": grower.columns if estimator.subset == "tree" else 0,
            "delta": float(estimator.delta),
            "pruned": bool(estimator.ccp_alpha > 0),
        },
        model=(
            "tree_starts_",
            "tree_seeds_",
            *(f"tree_{name}_" for name in PACKED),
            *(("classes_",) if sample.n_classes else ()),
        ),
        data=data_fingerprint(sample.X, given_y, sample.weights),
        run={"solver": "greedy trees", "reason": reason, "passes": len(estimator.trees_), "seconds": float(seconds)},
    )
