"""Shared parts of the two SGD estimators: parameter rules, starting points and validation rows."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import (
    ANYTHING,
    BOOLEAN,
    COUNT,
    FRACTION,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    Rule,
    one_of,
)
from surefit.solvers.sgd.passes import TIME, Walk

INSIDE = Rule("a number between 0 and 1", lambda v: POSITIVE.allows(v) and v < 1)

RULES = {
    "penalty": one_of("l2", "l1", "elasticnet") | NOTHING,
    "alpha": NON_NEGATIVE,
    "l1_ratio": FRACTION | NOTHING,
    "fit_intercept": BOOLEAN,
    "max_iter": COUNT,
    "tol": NON_NEGATIVE | NOTHING,
    "shuffle": BOOLEAN,
    "verbose": ANYTHING,
    "epsilon": NON_NEGATIVE,
    "random_state": RANDOM_STATE,
    "learning_rate": one_of("optimal", "constant", "invscaling", "adaptive", "pa1", "pa2"),
    "eta0": POSITIVE,
    "power_t": NON_NEGATIVE,
    "early_stopping": BOOLEAN,
    "validation_fraction": INSIDE,
    "n_iter_no_change": COUNT,
    "warm_start": BOOLEAN,
    "average": BOOLEAN | COUNT,
    "max_time": NOTHING | POSITIVE,
}


def starting_point(estimator, given, before, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the initial coefficients and intercepts: the given ones, those of the last fit, or zeros."""
    lines, d = shape
    W, b = np.zeros(shape), np.zeros(lines)
    if before[0] is not None and np.size(before[0]) == lines * d:
        W, b = np.reshape(before[0], shape), np.reshape(before[1], lines)
    for name, value, size in (("coef_init", given[0], lines * d), ("intercept_init", given[1], lines)):
        if value is not None and np.size(value) != size:
            raise InvalidParameter(type(estimator).__name__, name, f"{size} numbers for these data", np.shape(value))
    W = W if given[0] is None else np.reshape(given[0], shape)
    b = b if given[1] is None else np.reshape(given[1], lines)
    return np.asarray(W, dtype=np.float64), np.asarray(b, dtype=np.float64)


def set_aside(estimator, splitter, y: np.ndarray) -> np.ndarray | None:
    """Return a mask of the validation rows for early stopping, or None without early stopping."""
    if not estimator.early_stopping:
        return None
    try:
        _, chosen = next(splitter.split(np.zeros((len(y), 1)), y))
    except ValueError as error:
        raise InvalidParameter(
            type(estimator).__name__,
            "validation_fraction",
            f"a fraction that splits {len(y)} rows ({error})",
            estimator.validation_fraction,
        ) from None
    marked = np.zeros(len(y), dtype=bool)
    marked[chosen] = True
    return marked


def take_points(estimator, walks: list[Walk]) -> tuple[np.ndarray, np.ndarray]:
    """Store the state of the runs for later calls; return coefficients (one row per run) and intercepts."""
    estimator._walks = [walk.state for walk in walks]
    estimator.t_ = float(max(walk.numbers[TIME] for walk in walks))
    points = [walk.point for walk in walks]
    return np.vstack([w for w, _ in points]), np.array([b for _, b in points])
