from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from surefit.core.errors import DataWarning
from surefit.core.text import counted
from surefit.core.warn import warn
from surefit.neighbors.inputs import read_training
from surefit.neighbors.radius_base import RadiusNeighborsBase


class RadiusNeighborsRegressor(RegressorMixin, RadiusNeighborsBase):
    r"""Radius-neighbors regressor: the mean target of all training rows within a radius.

    .. math:: f(x) = \sum_{i : d(x, x_i) \le r} v_i y_i \Big/ \sum_{i : d(x, x_i) \le r} v_i

    Hypothesis class: functions of the targets of the rows within the radius. Loss: squared error. Optimizer: none; the search is exact.

    Guarantee: the neighbors are all rows whose double-precision distance is at most the radius (theory:
    :ref:`consistency`). The fit does not bound the risk, as the certificate states.

    Parameters
    ----------
    radius : float >= 0, default=1.0
        Largest distance of a neighbor. A row without neighbors is predicted as NaN, with a warning.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Equal weights, the reciprocal of the distance (only rows at distance zero count if there are any), or a function
        of the distances of a query.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Matrix products or a k-d tree (both tree names select it); the result is the same.
    leaf_size : int >= 1, default=30
        Ignored; accepted for compatibility with scikit-learn.
    p : float > 0, default=2
        Exponent of metric="minkowski".
    metric : str, callable or kernel, default="minkowski"
        As in scikit-learn; "precomputed" expects distances as X. With a kernel of ``surefit.kernels``, distances are those between its
        features.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.

    Attributes
    ----------
    n_samples_fit_ : int
        Number of training rows.
    sample_indices_ : ndarray
        Indices of these rows in the training data.
    effective_metric_, effective_metric_params_
        As in scikit-learn.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import RadiusNeighborsRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0]
    >>> print(RadiusNeighborsRegressor(radius=1.0).fit(X, y).predict([[1.5]]))
    [0.5]
    """

    def __init__(
        self,
        radius=1.0,
        *,
        weights="uniform",
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        metric_params=None,
        n_jobs=None,
    ):
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Store the training rows. Returns the estimator."""
        X, y = read_training(self, X, y, multi_output=True, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        self._column = y.ndim == 2 and y.shape[1] == 1  # predictions then have one column too
        self._remember(X, y.ravel() if self._column else y, None)
        return self

    def _keep_targets(self, y: np.ndarray) -> None:
        self._targets = y[self.sample_indices_]

    def predict(self, X) -> np.ndarray:
        """Return the weighted mean of the neighbors' targets; NaN for a row without neighbors."""
        found, shares = self._ballots(X)
        total = np.bincount(found.queries, shares, minlength=len(found.starts) - 1)
        if np.any(total == 0):
            warn(
                f"{type(self).__name__}: {counted(int(np.count_nonzero(total == 0)), 'row has', 'rows have')} no neighbors within "
                f"the radius {self.radius:g}, and the prediction is NaN. Use a larger radius.",
                DataWarning,
            )
        sums = np.zeros((len(total), *self._targets.shape[1:]))
        np.add.at(sums, found.queries, (shares * self._targets[found.indices].T).T)
        with np.errstate(invalid="ignore"):
            means = (sums.T / total).T
        return means[:, None] if self._column else means

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
