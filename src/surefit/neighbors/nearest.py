from __future__ import annotations

import numpy as np

from surefit.core.validation import NON_NEGATIVE, check_params, read_data
from surefit.neighbors.base import NeighborsBase
from surefit.neighbors.inputs import READ
from surefit.neighbors.k_nearest import KNearestBase
from surefit.neighbors.radius import RadiusMixin
from surefit.neighbors.search import finite_values


class NearestNeighbors(RadiusMixin, KNearestBase):
    r"""Exact search of nearest rows: the k nearest ones, or all within a radius.

    .. math:: N_k(x) = \text{the first } k \text{ rows sorted by } (d(x, x_i), i), \qquad N_r(x) = \{i : d(x, x_i) \le r\}

    Guarantee: the neighbors are those of sorting all double-precision distances by (distance, index), for every search algorithm
    (theory: :ref:`consistency`). The certificate verifies the neighbors of a sample of rows against all distances.

    Training rows in Dask collections and Parquet files stay there: every query is a pass over them (see :doc:`/scaling`).

    Parameters
    ----------
    n_neighbors : int >= 1, default=5
        Number of neighbors of ``kneighbors``.
    radius : float >= 0, default=1.0
        Largest distance of ``radius_neighbors``.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Matrix products or a k-d tree (both tree names select it); the result is the same.
    leaf_size : int >= 1, default=30
        Ignored; accepted for compatibility with scikit-learn.
    metric : str, callable or kernel, default="minkowski"
        As in scikit-learn; "precomputed" expects distances as X. With a kernel of ``surefit.kernels``, distances are those between its
        features.
    p : float > 0, default=2
        Exponent of metric="minkowski".
    metric_params : dict or None, default=None
        Further arguments of the metric.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.

    Attributes
    ----------
    n_samples_fit_ : int
        Number of rows.
    sample_indices_ : ndarray
        Indices of these rows in the training data.
    effective_metric_, effective_metric_params_
        As in scikit-learn.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import NearestNeighbors
    >>> X = [[0.0], [1.0], [2.0], [4.0]]
    >>> model = NearestNeighbors(n_neighbors=2).fit(X)
    >>> model.kneighbors([[1.0]], return_distance=False).tolist()  # of equal distances the lower index
    [[1, 0]]
    >>> model.radius_neighbors([[1.0]], radius=1.0, return_distance=False)[0].tolist()
    [0, 1, 2]
    """

    _rules = {
        **{name: rule for name, rule in NeighborsBase._rules.items() if name not in ("weights", "kernel")},
        "radius": NON_NEGATIVE,
    }

    def __init__(
        self,
        *,
        n_neighbors=5,
        radius=1.0,
        algorithm="auto",
        leaf_size=30,
        metric="minkowski",
        p=2,
        metric_params=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Store the rows; ``y`` is ignored. Returns the estimator."""
        check_params(self)
        self._remember(read_data(self, X, **READ, ensure_all_finite=finite_values(self)), None, None)
        return self

    def _keep_targets(self, y: np.ndarray) -> None:
        """Do nothing, because there are no targets."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags
