"""Fitting of copies of a base estimator to bootstrap samples, with out-of-bag errors and a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.bounds.votes import out_of_bag_bounds
from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, DataWarning, InvalidData, InvalidParameter
from surefit.core.routing import takes_weights
from surefit.core.rows import take_values
from surefit.core.text import counted
from surefit.core.threads import map_blocks
from surefit.core.warn import warn
from surefit.ensembles.bootstrap import Draws
from surefit.ensembles.forest_grow import Sample
from surefit.ensembles.forest_training import out_of_bag_claim, vote_claims
from surefit.ensembles.members import MOST_SEEDS, forget_out_of_bag, random_stream, seeded_copy
from surefit.problems import pose
from surefit.problems.forests import n_columns, n_draws

#: Seeds of a member: the first for the draws of rows, the second for columns and the member itself.
STREAMS = 2


def fit_bagging(estimator, base, sample: Sample, labels: np.ndarray, given_y: np.ndarray, params: dict) -> Any:
    """Fit the members, set the fitted attributes and issue the certificate; members get ``params``. Returns the estimator."""
    who, again = type(estimator).__name__, estimator.warm_start and hasattr(estimator, "estimators_")
    old = len(estimator.estimators_) if again else 0
    _require_members(estimator, old)
    seeds = random_stream(estimator.random_state).randint(MOST_SEEDS, size=(int(estimator.n_estimators), STREAMS))
    draws = Draws(sample.X, sample.y, sample.weights, estimator.max_samples) if estimator.bootstrap else None
    weighted = takes_weights(base)
    if sample.weights is not None and draws is None and not weighted:
        raise InvalidParameter(
            who, "estimator", "an estimator that accepts sample_weight (for weights without bootstrap)", base
        )
    reporter = progress_reporter(estimator, sample.X, given_y, task="member", max_subtasks=int(estimator.n_estimators))
    with Budget(None, estimator.max_time, reporter) as budget:

        def fit_one(start: int, stop: int):
            if start and budget.spent(start):
                return None
            columns = _columns(estimator, int(seeds[old + start, 1]), sample.X.shape[1])
            member = seeded_copy(base, np.random.RandomState(int(seeds[old + start, 1])))
            rows, weights = _rows_of(estimator, sample, draws, int(seeds[old + start, 0]), weighted)
            cut = take_values(params, rows, len(labels)) | weights
            member.fit(sample.X[rows][:, columns], labels[rows], **cut)
            return member, columns

        found = map_blocks(fit_one, int(estimator.n_estimators) - old, 1, estimator.n_jobs)
        seconds, reason = budget.seconds, budget.stopped
    if reporter is not None:
        reporter.finish()
    found = found[: found.index(None)] if None in found else found
    if reason is not None:
        warn(
            f"{who}: {old + len(found)} of {estimator.n_estimators} members were fitted: {reason.sentence()}.",
            ConvergenceWarning,
        )
    forget_out_of_bag(estimator)
    estimator.estimator_ = base
    estimator.estimators_ = [*(estimator.estimators_ if again else []), *(member for member, _ in found)]
    estimator.estimators_features_ = [*(estimator.estimators_features_ if again else []), *(c for _, c in found)]
    estimator.tree_seeds_ = seeds[: len(estimator.estimators_), 0]
    _keep_draws(estimator, sample, draws)
    claims = [Claim("forest.draws")] if draws is not None else []
    if estimator.oob_score:
        assert draws is not None
        claims += _out_of_bag(estimator, sample, draws)
    claims.append(Claim("bagging.members"))
    estimator._issue(
        "C",
        claims,
        problem=pose(estimator, sample.X, given_y, sample.weights),
        model=("tree_seeds_", *(("classes_",) if sample.n_classes else ())),
        sample=(sample.X, given_y, sample.weights),
        run={
            "solver": type(base).__name__,
            "reason": str(reason or "done"),
            "passes": len(estimator.estimators_),
            "seconds": float(seconds),
        },
    )
    return estimator


def _keep_draws(estimator, sample: Sample, draws: Draws | None) -> None:
    estimator._n_rows = len(sample.y)
    estimator._row_order = None if draws is None else draws.order
    estimator._row_ends = None if draws is None else draws.reached
    estimator._n_draws = draws.count if draws is not None else _n_kept(estimator, sample)


def _require_members(estimator, old: int) -> None:
    who = type(estimator).__name__
    if estimator.oob_score and not estimator.bootstrap:
        raise InvalidParameter(who, "oob_score", "False without bootstrap (no row is out of bag)", estimator.oob_score)
    if estimator.n_estimators < old:
        raise InvalidParameter(
            who, "n_estimators", f"at least {old}, the number of members fitted so far", estimator.n_estimators
        )


def _columns(estimator, seed: int, d: int) -> np.ndarray:
    count = n_columns(estimator.max_features, d)
    if count == d and not estimator.bootstrap_features:
        return np.arange(d)
    return np.random.RandomState(seed).choice(d, count, replace=bool(estimator.bootstrap_features))


def _rows_of(estimator, sample: Sample, draws: Draws | None, seed: int, weighted: bool) -> tuple[np.ndarray, dict]:
    """Return the rows of a member and, if it takes weights, their counts; otherwise rows are repeated."""
    n = len(sample.y)
    if draws is not None:
        weights = draws.counts(seed).astype(np.float64)
    else:
        weights = np.ones(n) if sample.weights is None else sample.weights
        if estimator.max_samples is not None:  # without replacement
            kept = np.zeros(n)
            kept[np.random.RandomState(seed).choice(n, _n_kept(estimator, sample), replace=False)] = 1
            weights = weights * kept
    rows = np.flatnonzero(weights)
    if weighted:
        return rows, {"sample_weight": weights[rows]}
    return np.repeat(rows, weights[rows].astype(np.int64)), {}


def _n_kept(estimator, sample: Sample) -> int:
    """Return the number of rows drawn without replacement; 0 if all rows are used."""
    n, asked = len(sample.y), estimator.max_samples
    return 0 if asked is None else min(n_draws(sample.weights, n, asked), n)


def _out_of_bag(estimator, sample: Sample, draws: Draws) -> list[Claim]:
    n, k = len(sample.y), max(sample.n_classes, 1)
    said = estimator._predictions(sample.X)  # (members, rows, values)
    left_out = np.array([draws.counts(int(seed)) == 0 for seed in estimator.tree_seeds_])
    count = left_out.sum(axis=0)
    weights = np.ones(n) if sample.weights is None else sample.weights
    rows = (count > 0) & (weights > 0)
    if not rows.any():
        raise InvalidData(f"{type(estimator).__name__}: no row is out of bag for any member; fit more members.")
    if not (count > 0).all():
        warn(
            f"{type(estimator).__name__}: {counted(int(np.count_nonzero(count == 0)), 'row was', 'rows were')} drawn by every member, "
            "without out-of-bag prediction; fit more members.",
            DataWarning,
        )
    sums = np.zeros((n, k))
    for table, out in zip(said, left_out, strict=True):
        sums[out] += table[out]
    with np.errstate(invalid="ignore"):
        means = sums / count[:, None]
    if sample.n_classes:
        estimator.oob_decision_function_ = means
        losses = (means[rows].argmax(axis=1) != sample.y[rows]).astype(np.float64)
        error = float(np.average(losses, weights=weights[rows]))
        estimator.oob_score_ = 1 - error
    else:
        estimator.oob_prediction_ = means[:, 0]
        error = float(np.average((means[rows, 0] - sample.y[rows]) ** 2, weights=weights[rows]))
        center = np.average(sample.y[rows], weights=weights[rows])
        spread = float(np.average((sample.y[rows] - center) ** 2, weights=weights[rows]))
        estimator.oob_score_ = 1 - error / spread if spread > 0 else 0.0
    claims = [out_of_bag_claim(error, rows, bool(sample.n_classes), {"said": said})]
    joint = left_out.astype(np.float32) @ left_out.T.astype(np.float32)
    if sample.n_classes and sample.weights is None and len(said) > 1 and joint.min() > 0:
        wrong = said.argmax(axis=2) != sample.y
        claims += vote_claims(out_of_bag_bounds(wrong, left_out, float(estimator.delta) / 2))
    return claims
