"""Rounds of AdaBoost.R2, and their certificate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning
from surefit.core.warn import warn
from surefit.ensembles.bootstrap import counts_of, lexicographic_order
from surefit.ensembles.members import MOST_SEEDS, random_stream, seeded_copy
from surefit.problems import pose
from surefit.problems.forests import n_draws

READ: dict[str, Any] = {"dtype": [np.float64, np.float32], "accept_sparse": "csr"}


def fit_rounds(estimator, base, X, y: np.ndarray, weights: np.ndarray | None) -> Any:
    """Fit one member after the other, set the fitted attributes and issue the certificate. Returns the estimator."""
    random, order = random_stream(estimator.random_state), lexicographic_order(X, y)
    shares = np.full(len(y), 1.0 / len(y)) if weights is None else weights / math.fsum(weights)
    count = n_draws(weights, len(y), None)
    members: list = []
    losses: list[float] = []
    alphas: list[float] = []
    said: list[np.ndarray] = []
    reporter = progress_reporter(estimator, X, y, task="round", max_subtasks=int(estimator.n_estimators))
    with Budget(None, estimator.max_time, reporter) as budget:
        for m in range(int(estimator.n_estimators)):
            if m and budget.spent(m, losses[-1]):
                break
            seed = int(random.randint(MOST_SEEDS))
            counts = counts_of(seed, count, order, np.cumsum(shares[order]))
            member = _fitted(seeded_copy(base, np.random.RandomState(seed)), X, y, counts)
            values = np.asarray(member.predict(X), dtype=np.float64).ravel()
            relative = relative_losses(values, y, shares > 0, estimator.loss)
            loss = float(np.sum(shares * relative))
            if loss >= 0.5 and members:  # no better than chance; the first member is kept to have a prediction
                break
            # a member outside this range is the last one, and determines the prediction alone or is exact
            alpha = estimator.learning_rate * math.log((1 - loss) / loss) if 0 < loss < 0.5 else 1.0
            members, losses, alphas, said = [*members, member], [*losses, loss], [*alphas, alpha], [*said, values]
            if loss <= 0 or loss >= 0.5:
                break
            shares = shares * (loss / (1 - loss)) ** (estimator.learning_rate * (1 - relative))
            shares = shares / np.sum(shares)
        seconds, reason = budget.seconds, budget.stopped
    if reporter is not None:
        reporter.finish()
    if reason is not None:
        words = f"{len(members)} of {estimator.n_estimators} rounds were run: {reason.sentence()}."
        warn(f"{type(estimator).__name__}: {words}", ConvergenceWarning)
    estimator.estimator_, estimator.estimators_ = base, members
    estimator.estimator_weights_, estimator.estimator_errors_ = np.array(alphas), np.array(losses)
    estimator._issue(
        "C",
        [Claim("adaboost_r2.rounds", witness={"said": np.array(said)}), Claim("bagging.members")],
        problem=pose(estimator, X, y, weights),
        model=("estimator_weights_", "estimator_errors_"),
        sample=(X, y, weights),
        run={
            "solver": type(base).__name__,
            "reason": str(reason or "done"),
            "passes": len(members),
            "seconds": float(seconds),
        },
    )
    return estimator


def _fitted(member, X, y: np.ndarray, counts: np.ndarray):
    rows = np.flatnonzero(counts)
    if has_fit_parameter(member, "sample_weight"):
        member.fit(X[rows], y[rows], sample_weight=counts[rows].astype(np.float64))
        return member
    drawn = np.repeat(rows, counts[rows])
    member.fit(X[drawn], y[drawn])
    return member


def relative_losses(said: np.ndarray, y: np.ndarray, counted: np.ndarray, loss: str) -> np.ndarray:
    """Return the loss of each row's error relative to the largest error among the rows of positive weight."""
    errors = np.abs(said - y)
    largest = float(np.max(errors[counted]))
    relative = np.minimum(errors / largest, 1.0) if largest > 0 else np.zeros(len(y))
    if loss == "square":
        return relative**2
    return 1.0 - np.exp(-relative) if loss == "exponential" else relative


def weighted_medians(said: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the lower weighted median of each column of ``said``, an array of shape (members, rows)."""
    order = np.argsort(said, axis=0, kind="stable")
    reached = np.cumsum(weights[order], axis=0)
    place = np.argmax(reached >= 0.5 * reached[-1], axis=0)
    columns = np.arange(said.shape[1])
    return said[order[place, columns], columns]
