"""Fitting copies of a base estimator to bootstrap draws, with out-of-bag errors and a certificate."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, DataRemark, InvalidData, InvalidParameter
from surefit.core.estimator import data_fingerprint
from surefit.core.threads import map_blocks
from surefit.ensembles.bootstrap import Draws, n_draws
from surefit.ensembles.forest_fit import vote_claims
from surefit.ensembles.forest_grow import Sample, n_columns
from surefit.ensembles.members import MOST_SEEDS, random_stream, seeded_copy

#: Seeds of a member: draws come from the first, columns and the member itself from the second.
STREAMS = 2


def fit_bagging(estimator, base, sample: Sample, labels: np.ndarray, given_y: np.ndarray) -> Any:
    """Fit the members, set the fitted attributes and issue the certificate. Returns the estimator."""
    who = type(estimator).__name__
    if estimator.oob_score and not estimator.bootstrap:
        raise InvalidParameter(who, "oob_score", "False without bootstrap: no row is left out", estimator.oob_score)
    again = estimator.warm_start and hasattr(estimator, "estimators_")
    old = len(estimator.estimators_) if again else 0
    if estimator.n_estimators < old:
        raise InvalidParameter(who, "n_estimators", f"at least the {old} fitted so far", estimator.n_estimators)
    seeds = random_stream(estimator.random_state).randint(MOST_SEEDS, size=(int(estimator.n_estimators), STREAMS))
    draws = Draws(sample.X, sample.y, sample.weights, estimator.max_samples) if estimator.bootstrap else None
    weighted = has_fit_parameter(base, "sample_weight")
    if sample.weights is not None and draws is None and not weighted:
        raise InvalidParameter(
            who, "estimator", "one that takes sample_weight, with weights and without bootstrap", base
        )
    reporter = progress_reporter(estimator, sample.X, given_y, task="member", max_subtasks=int(estimator.n_estimators))
    with Budget(None, estimator.max_time, reporter) as budget:

        def fit_one(start: int, stop: int):
            if start and budget.spent(start):
                return None
            columns = _columns(estimator, int(seeds[old + start, 1]), sample.X.shape[1])
            member = seeded_copy(base, np.random.RandomState(int(seeds[old + start, 1])))
            return _fitted(
                estimator, member, sample, labels, draws, int(seeds[old + start, 0]), columns, weighted
            ), columns

        found = map_blocks(fit_one, int(estimator.n_estimators) - old, 1, estimator.n_jobs)
        seconds, reason = budget.seconds, budget.stopped
    if reporter is not None:
        reporter.finish()
    found = found[: found.index(None)] if None in found else found
    if reason is not None:
        warnings.warn(
            f"{who}: {old + len(found)} of {estimator.n_estimators} members were fitted: {reason.sentence()}.",
            ConvergenceWarning,
            stacklevel=4,
        )
    estimator.estimator_ = base
    estimator.estimators_ = [*(estimator.estimators_ if again else []), *(member for member, _ in found)]
    estimator.estimators_features_ = [*(estimator.estimators_features_ if again else []), *(c for _, c in found)]
    estimator.tree_seeds_ = seeds[: len(estimator.estimators_), 0]
    claims = [_draws_claim(estimator, draws)] if draws is not None else []
    if estimator.oob_score:
        assert draws is not None
        claims += _out_of_bag(estimator, sample, draws)
    claims.append(
        Claim("forest.global", "no_claim", "Nothing is claimed about the members beyond what they say themselves.")
    )
    estimator._issue(
        "C",
        claims,
        problem={
            "classes": sample.n_classes,
            "bootstrap": draws is not None,
            "draws": 0 if draws is None else draws.count,
            "class_weights": [],
        },
        model=("tree_seeds_", *(("classes_",) if sample.n_classes else ())),
        data=data_fingerprint(sample.X, given_y, sample.weights),
        run={
            "solver": type(base).__name__,
            "reason": str(reason or "done"),
            "passes": len(estimator.estimators_),
            "seconds": float(seconds),
        },
    )
    return estimator


def _columns(estimator, seed: int, d: int) -> np.ndarray:
    count = n_columns(estimator.max_features, d)
    if count == d and not estimator.bootstrap_features:
        return np.arange(d)
    return np.random.RandomState(seed).choice(d, count, replace=bool(estimator.bootstrap_features))


def _fitted(
    estimator, member, sample: Sample, labels, draws: Draws | None, seed: int, columns: np.ndarray, weighted: bool
):
    n = len(labels)
    if draws is not None:
        weights = draws.counts(seed).astype(np.float64)
    else:
        weights = np.ones(n) if sample.weights is None else sample.weights
        if estimator.max_samples is not None:  # without replacement
            count = min(n_draws(sample.weights, n, estimator.max_samples), n)
            kept = np.zeros(n)
            kept[np.random.RandomState(seed).choice(n, count, replace=False)] = 1
            weights = weights * kept
    rows = np.flatnonzero(weights)
    if weighted:
        X = sample.X[rows][:, columns]
        return member.fit(X, labels[rows], sample_weight=weights[rows])
    repeated = np.repeat(rows, weights[rows].astype(np.int64))
    return member.fit(sample.X[repeated][:, columns], labels[repeated])


def _draws_claim(estimator, draws: Draws) -> Claim:
    missed = np.zeros(draws.n, dtype=bool)
    for seed in estimator.tree_seeds_:
        missed |= draws.counts(int(seed)) == 0
    always = int(np.count_nonzero(~missed))
    words = f"{len(estimator.tree_seeds_)} members drew {draws.count} rows each; {always} of {draws.n} rows were drawn by all of them."
    return Claim("forest.draws", "process_fact", words, value=float(always))


def _out_of_bag(estimator, sample: Sample, draws: Draws) -> list[Claim]:
    n, k = len(sample.y), max(sample.n_classes, 1)
    said = estimator._said(sample.X)  # (members, rows, values)
    left_out = np.array([draws.counts(int(seed)) == 0 for seed in estimator.tree_seeds_])
    count = left_out.sum(axis=0)
    weights = np.ones(n) if sample.weights is None else sample.weights
    rows = (count > 0) & (weights > 0)
    if not rows.any():
        raise InvalidData(f"{type(estimator).__name__}: no row was left out by any member; fit more members.")
    if not (count > 0).all():
        warnings.warn(
            f"{type(estimator).__name__}: {np.count_nonzero(count == 0)} rows were drawn by every member and have no "
            "out-of-bag prediction; fit more members.",
            DataRemark,
            stacklevel=5,
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
        words = f"The out-of-bag error is {error:.6g} (an estimate of the error on new rows)."
    else:
        estimator.oob_prediction_ = means[:, 0]
        error = float(np.average((means[rows, 0] - sample.y[rows]) ** 2, weights=weights[rows]))
        centre = np.average(sample.y[rows], weights=weights[rows])
        spread = float(np.average((sample.y[rows] - centre) ** 2, weights=weights[rows]))
        estimator.oob_score_ = 1 - error / spread if spread > 0 else 0.0
        words = f"The out-of-bag mean squared error is {error:.6g} (an estimate of the error on new rows)."
    claims = [Claim("forest.out_of_bag", "data_fact", words, value=error, witness={"said": said})]
    joint = left_out.astype(np.float32) @ left_out.T.astype(np.float32)
    if sample.n_classes and sample.weights is None and len(said) > 1 and joint.min() > 0:
        wrong = said.argmax(axis=2) != sample.y
        claims += vote_claims(wrong, left_out, float(estimator.delta))
    return claims
