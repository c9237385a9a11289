from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin

from surefit.clusters.partition_count import partition_count
from surefit.clusters.scatter import scatter
from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import CallbackSupportMixin, progress_reporter, with_callbacks
from surefit.core.claims import Claim
from surefit.core.distinct import unique_rows
from surefit.core.errors import ConvergenceWarning, InvalidData
from surefit.core.estimator import CertifiedMixin
from surefit.core.threads import one_blas_thread
from surefit.core.validation import COUNT, NOTHING, POSITIVE, check_params, one_of, read_data, read_weights
from surefit.core.warn import warn
from surefit.problems import pose
from surefit.solvers.clustering.exhaustive import search

MOST_ROWS = 4096  # distinct rows: all their distances are stored


class ExhaustiveClustering(CertifiedMixin, CallbackSupportMixin, ClusterMixin, BaseEstimator):
    r"""Optimal clustering of a small data set by exhaustive search.

    .. math::

        I = \sum_k \sum_{i \in k} s_i \|x_i - \bar x_k\|^2, \qquad
        W = \tfrac12 \sum_k \sum_{i, i' \in k} s_i s_{i'} \|x_i - x_{i'}\|^2
          = \sum_k N_k \sum_{i \in k} s_i \|x_i - \bar x_k\|^2

    Hypothesis class: all partitions into k clusters. Loss: inertia I, or within scatter W. Optimizer: branch and bound.

    There are :math:`S(n, k)` partitions (:func:`surefit.partition_count`). Bounds exclude most of them, so the problem
    is solved quickly for a few dozen rows in well-separated clusters. The two criteria differ: the best split of {0, 1,
    2, 4} is {0, 1, 2}, {4} by I and {0, 1}, {2, 4} by W.

    Guarantee: no partition is better than this one by more than the gap in the certificate, which is zero up to rounding if the search
    was completed (theory: :ref:`k-means-bound`).

    Parameters
    ----------
    n_clusters : int >= 1, default=2
        Number of clusters k.
    criterion : {"inertia", "scatter"}, default="inertia"
        Criterion to minimize: I or W.
    max_partitions : int >= 1, default=1000000
        Maximum number of partial partitions; reaching it issues a ``ConvergenceWarning``, and the best partition so far is returned.
    max_time : float > 0 or None, default=None
        Time limit in seconds; the best partition so far is returned. Ctrl-C has the same effect.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_rows,)
        The cluster of each row, numbered in the order of first appearance among the sorted distinct rows.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means of the clusters; fewer if there are fewer distinct rows.
    objective_ : float
        The criterion.
    inertia_, within_scatter_ : float
        I and W of the partition; see also :func:`surefit.scatter`.
    n_partitions_ : int
        Number of partitions of the distinct rows.
    n_visited_ : int
        Number of partial partitions considered.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import ExhaustiveClustering
    >>> X = [[0.0], [1.0], [2.0], [4.0]]
    >>> ExhaustiveClustering(criterion="inertia").fit(X).labels_
    array([0, 0, 0, 1], dtype=int32)
    >>> model = ExhaustiveClustering(criterion="scatter").fit(X)
    >>> model.labels_, model.objective_, model.n_partitions_
    (array([0, 0, 1, 1], dtype=int32), 5.0, 7)
    """

    _rules = {
        "n_clusters": COUNT,
        "criterion": one_of("inertia", "scatter"),
        "max_partitions": COUNT,
        "max_time": NOTHING | POSITIVE,
    }

    def __init__(self, n_clusters=2, *, criterion="inertia", max_partitions=1_000_000, max_time=None):
        self.n_clusters = n_clusters
        self.criterion = criterion
        self.max_partitions = max_partitions
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None):
        """Find the optimal partition, with ``sample_weight`` as frequency weights. Returns the estimator."""
        check_params(self)
        X = read_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        given = read_weights(self, sample_weight, X.shape[0])
        if X.shape[0] < self.n_clusters:
            raise InvalidData(
                f"ExhaustiveClustering: n_samples={X.shape[0]} should be >= n_clusters={self.n_clusters}."
            )
        rows, place, mass = distinct_rows(X, given)
        reporter = progress_reporter(self, X, None)
        with Budget(None, self.max_time, reporter) as budget, one_blas_thread():
            distances = _finite(pairwise_distances(rows, metric="sqeuclidean"))
            k = min(self.n_clusters, len(rows))
            found = search(distances, mass, k, self.criterion == "scatter", self.max_partitions, budget)
            reason = Reason.CONVERGED if found.first_solved == 0 else budget.stopped or Reason.MAX_ITER
        if reporter is not None:
            reporter.finish()
        self.cluster_centers_ = np.vstack(
            [
                np.average(rows[found.labels == c], axis=0, weights=mass[found.labels == c])
                for c in range(found.labels.max() + 1)
            ]
        )
        self.labels_ = found.labels[place]
        unused = place < 0  # rows of weight zero
        if unused.any():
            self.labels_[unused] = pairwise_distances_argmin(X[np.flatnonzero(unused)], self.cluster_centers_)
        self.objective_ = float(found.value)
        found_scatter = scatter(X, self.labels_, sample_weight=given)
        self.inertia_, self.within_scatter_ = found_scatter.inertia, found_scatter.within
        self.n_partitions_ = partition_count(len(rows), k)
        self.n_visited_ = int(found.visited)
        self._issue(
            "A",
            [
                Claim(
                    "partition.gap",
                    witness={"order": np.asarray(found.order), "least": found.least[found.first_solved :]},
                ),
                Claim("partition.objective"),
            ],
            problem=pose(self, X, None, given),
            model=("labels_", "objective_"),
            sample=(X, None, given),
            run={
                "solver": "branch and bound",
                "reason": str(reason),
                "visited": self.n_visited_,
                "seconds": budget.seconds,
            },
        )
        if reason is not Reason.CONVERGED:
            gap = self.certificate_["partition.gap"].value
            warn(
                f"ExhaustiveClustering: stopped after {self.n_visited_} partial partitions ({reason}); the partition is "
                f"within {gap:.3g} of the best. Raise max_partitions or max_time, or use KMeans.",
                ConvergenceWarning,
            )
        return self

    def fit_predict(self, X, y=None, sample_weight=None):
        """Fit and return ``labels_``."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def distinct_rows(X, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct rows of positive weight, the index of each row among them (-1: weight zero), and their weights."""
    weights = np.ones(X.shape[0]) if weights is None else weights
    used = np.flatnonzero(weights > 0)
    part = X[used]
    part = np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64)
    rows, inverse = unique_rows(part, return_inverse=True)
    if len(rows) > MOST_ROWS:
        raise InvalidData(
            f"ExhaustiveClustering: X must have at most {MOST_ROWS} distinct rows; got {len(rows)}. Use KMeans, which bounds the "
            "suboptimality of its partition."
        )
    place = np.full(X.shape[0], -1)
    place[used] = inverse.ravel()
    return rows, place, np.bincount(inverse.ravel(), weights=weights[used])


def _finite(distances: np.ndarray) -> np.ndarray:
    if not np.isfinite(distances).all():
        raise InvalidData("ExhaustiveClustering: the squares of X overflow; divide X by its largest absolute value.")
    return distances
