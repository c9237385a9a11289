"""Dependence of a perceptron on the order of its rows: margins and directions over many shuffles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT
from surefit.separation.margin import maximal_margin


class ShuffleStudy(NamedTuple):
    """Separating hyperplanes of the same rows in different orders."""

    margins: np.ndarray  # (runs,) geometric margins, negative if a run did not separate the rows
    directions: np.ndarray  # (runs, d) unit normals
    n_updates: np.ndarray  # (runs,)
    best_margin: float  # proved upper bound on the margin of every hyperplane

    @property
    def margin_spread(self) -> float:
        """Largest minus smallest margin."""
        return float(np.ptp(self.margins))

    @property
    def largest_angle(self) -> float:
        """Largest angle between two normals, in radians."""
        cosines = np.clip(self.directions @ self.directions.T, -1.0, 1.0)
        return float(np.arccos(cosines.min()))


def shuffle_study(estimator, X, y, *, n_runs: int = 20, random_state=0) -> ShuffleStudy:
    """Fit a linear classifier to the same rows in many orders and compare the hyperplanes.

    Guarantee: no margin exceeds ``best_margin``, that of the maximum-margin hyperplane. Moving the rows by less than
    the margin of a run does not change its training predictions (theory: :ref:`margin-bracket`). The hyperplane of a
    perceptron depends on the order of the rows; that of an SVM does not.

    Parameters
    ----------
    estimator : linear classifier
        For example ``Perceptron(order="cyclic")``; a copy is fitted per order.
    X : array of shape (n, d)
        Rows that a hyperplane separates.
    y : array of shape (n,)
        Labels of two classes.
    n_runs : int >= 2, default=20
        Number of orders; the first is the given one.
    random_state : int, default=0
        Seed for the other orders.

    Examples
    --------
    >>> from surefit import Perceptron, shuffle_study
    >>> X, y = [[3.0, 1.0], [1.0, 3.0], [-1.0, 2.0]], [1, 1, -1]
    >>> study = shuffle_study(Perceptron(fit_intercept=False, order="cyclic"), X, y, n_runs=6)
    >>> bool(study.margins.max() <= study.best_margin), study.margin_spread > 0.5
    (True, True)
    """
    if not COUNT.allows(n_runs) or n_runs < 2:
        raise InvalidParameter("shuffle_study", "n_runs", "an integer >= 2", n_runs)
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    classes = np.unique(y)
    if len(classes) != 2:
        raise InvalidData(f"shuffle_study: two classes are needed; got {len(classes)}.")
    sign = np.where(y == classes[1], 1.0, -1.0)
    rng = np.random.default_rng(random_state)
    margins, directions, updates = [], [], []
    for run in range(n_runs):
        order = np.arange(len(y)) if run == 0 else rng.permutation(len(y))
        model = clone(estimator).fit(X[order], y[order])
        w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
        norm = float(np.linalg.norm(w))
        if norm == 0:
            raise InvalidData(
                "shuffle_study: a run ended with zero weights; the rows are not separable, or max_iter is too small."
            )
        margins.append(float(np.min(sign * (X @ w + b))) / norm)
        directions.append(w / norm)
        updates.append(int(getattr(model, "n_updates_", 0)))
    intercept = bool(getattr(estimator, "fit_intercept", True))
    best = maximal_margin(X, y, intercept).bracket.up
    return ShuffleStudy(np.array(margins), np.array(directions), np.array(updates), float(best))
