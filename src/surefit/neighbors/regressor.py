from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from surefit.neighbors.inputs import read_training
from surefit.neighbors.k_nearest import KNearestBase


class KNeighborsRegressor(RegressorMixin, KNearestBase):
    r"""K-nearest-neighbors regressor: the mean target of the k nearest training rows.

    .. math:: f(x) = \sum_{i \in N_k(x)} v_i y_i \Big/ \sum_{i \in N_k(x)} v_i

    Hypothesis class: functions of the targets of the k nearest rows. Loss: squared error. Optimizer: none; the search is exact.

    Guarantee: the neighbors are those of sorting all double-precision distances by (distance, index), for every search
    algorithm. The fit does not bound the risk, as the certificate states (theory: :ref:`consistency`).

    Memory: the training rows, and 4 (d + 1) bytes per row for the search.

    Training rows in Dask collections and Parquet files stay there: every query is a pass over them (see :doc:`/scaling`).

    Parameters
    ----------
    n_neighbors : int >= 1, default=5
        Number of neighbors whose targets are averaged.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Equal weights, the reciprocal of the distance (only rows at distance zero count if there are any), or a function
        of the distances.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Matrix products or a k-d tree (both tree names select it); the result is the same. "auto" uses the tree for up to 8 columns.
    leaf_size : int >= 1, default=30
        Ignored; accepted for compatibility with scikit-learn.
    p : float > 0, default=2
        Exponent of metric="minkowski".
    metric : str, callable or kernel, default="minkowski"
        As in scikit-learn; "precomputed" expects distances as X. With a kernel of ``surefit.kernels``, distances are those between its
        features (:func:`surefit.kernel_distances`); for a string kernel, X is a list of strings.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.
    kernel : str, callable, kernel or None, default=None
        Kernel (also as a name or a function) whose feature-space distances are used; ``metric`` is then ignored.

    Attributes
    ----------
    n_samples_fit_ : int
        Number of training rows of positive weight.
    sample_indices_ : ndarray
        Indices of these rows in the training data.
    effective_metric_, effective_metric_params_
        As in scikit-learn.
    kernel_ : Kernel
        The kernel, if one was given.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import KNeighborsRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0]
    >>> model = KNeighborsRegressor(n_neighbors=2).fit(X, y)
    >>> print(model.predict([[1.5]]))
    [0.5]
    """

    def fit(self, X, y, sample_weight=None):
        """Store the training rows, with ``sample_weight`` as frequency weights. Returns the estimator."""
        X, y = read_training(self, X, y, multi_output=True, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        self._column = y.ndim == 2 and y.shape[1] == 1  # predictions then have one column too
        self._remember(X, y.ravel() if self._column else y, sample_weight)
        return self

    def _keep_targets(self, y: np.ndarray) -> None:
        self._targets = y[self.sample_indices_]

    def predict(self, X) -> np.ndarray:
        """Return the weighted mean of the neighbors' targets."""
        check_is_fitted(self)
        distances, targets, counts = self._ballot(X, self._targets)
        shares = self._shares(distances, counts)
        total = shares.sum(axis=1, keepdims=True)
        shares = np.where(total == 0, counts, shares)
        shares = shares / shares.sum(axis=1, keepdims=True)
        means = np.einsum("qk,qk...->q...", shares, targets)
        return means[:, None] if self._column else means

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
