from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from surefit.neighbors.base import NeighborsBase, read_training


class KNeighborsRegressor(RegressorMixin, NeighborsBase):
    r"""The mean target of the k nearest training rows.

    .. math:: f(x) = \sum_{i \in N_k(x)} v_i y_i \Big/ \sum_{i \in N_k(x)} v_i

    Hypothesis class: functions that are constant where the k nearest rows are. Loss: squared error. Optimiser: none; the search is
    exact.

    Guarantee: neighbours are those of sorting all double-precision distances by (distance, index), however they were found. No
    bound of the risk comes free, and the certificate says so (theory: :ref:`consistency`).

    Memory: the training rows, and 4 (d + 1) bytes a row for the search.

    Parameters
    ----------
    n_neighbors : int >= 1, default=5
        Neighbours whose targets are averaged.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Equal; one over the distance (rows at distance zero then decide alone); or a function of the distances.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Matrix products or a k-d tree (both names of trees mean it); the answer is the same. "auto" takes the tree up to 8 columns.
    leaf_size : int >= 1, default=30
        Accepted.
    p : float > 0, default=2
        Exponent of metric="minkowski".
    metric : str, callable or kernel, default="minkowski"
        As in scikit-learn; "precomputed" takes distances for X. A kernel of ``surefit.kernels`` measures distances between its features
        (:func:`surefit.kernel_distances`); with a kernel of strings X is a list of strings.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    n_jobs : int or None, default=None
        Threads; same answer for any number.
    kernel : str, callable, kernel or None, default=None
        The same for names and functions: distances in the feature space of a kernel; ``metric`` is then not used.

    Attributes
    ----------
    n_samples_fit_ : int
        Training rows of positive weight.
    sample_indices_ : ndarray
        Their places in the training data.
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
        """Remember the rows; a weight counts a row as many times. Returns the estimator."""
        X, y = read_training(self, X, y, multi_output=True, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
        self._remember(X, y, sample_weight)
        self._targets = y[self.sample_indices_]
        return self

    def predict(self, X) -> np.ndarray:
        """Return the weighted mean of the neighbours' targets."""
        distances, indices, counts = self._voters(X)
        shares = self._shares(distances, counts)
        total = shares.sum(axis=1, keepdims=True)
        shares = np.where(total == 0, counts, shares)
        shares = shares / shares.sum(axis=1, keepdims=True)
        return np.einsum("qk,qk...->q...", shares, self._targets[indices])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
