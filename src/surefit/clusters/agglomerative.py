from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import linkage_tree, ward_tree
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_memory

from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import (
    ANYTHING,
    ARRAY,
    BOOLEAN,
    COUNT,
    NON_NEGATIVE,
    NOTHING,
    Rule,
    check_params,
    one_of,
    read_data,
)
from surefit.problems import pose
from surefit.problems.clusters import MOST_LEAVES
from surefit.solvers.clustering.linkage import cut, ward_merges

WIDEST = 100  # number of columns up to which Ward's distances are computed when needed; for more, a matrix of distances is faster
METRIC = Rule("the name of a distance or a function of two rows", lambda v: isinstance(v, str) or callable(v))

LINKS = Rule(
    "an array, a sparse matrix or a function of X", lambda v: callable(v) or sparse.issparse(v) or ARRAY.allows(v)
)


class AgglomerativeClustering(CertifiedMixin, ClusterMixin, BaseEstimator):
    r"""Agglomerative clustering: the two nearest clusters are merged until one remains, and the tree is cut.

    .. math:: d(A, B) = \min_{a, b} d(a, b), \quad \max_{a, b} d(a, b), \quad \frac{1}{|A||B|} \sum_{a, b} d(a, b), \quad
              \sqrt{\frac{2 |A| |B|}{|A| + |B|}} \, \|\bar a - \bar b\|

    for the linkages "single", "complete", "average" and "ward". Hypothesis class: partitions obtained by cutting a
    binary tree of merges. Loss: none. Optimizer: greedy merges.

    Guarantee: for up to 1000 rows without ``connectivity``, the checker repeats every merge. It bounds the difference
    between the distance of the merged clusters and the smallest distance, and derives the labels from the merges
    (theory: :ref:`agglomerative`). Nothing is claimed about the quality of the partition.

    Parameters
    ----------
    n_clusters : int >= 1 or None, default=2
        Number of clusters; None with ``distance_threshold``.
    metric : str or callable, default="euclidean"
        Distance of rows, as in scikit-learn; "precomputed" expects distances as X. Linkage "ward" needs "euclidean".
    memory : str, joblib.Memory or None, default=None
        Cache of the tree.
    connectivity : array, sparse matrix, callable or None, default=None
        Rows that may be merged, as in scikit-learn, whose tree is used in this case.
    compute_full_tree : bool or "auto", default="auto"
        Ignored without ``connectivity``: the tree is always complete.
    linkage : {"ward", "complete", "average", "single"}, default="ward"
        Distance of clusters.
    distance_threshold : float >= 0 or None, default=None
        Clusters at this distance or farther are not merged.
    compute_distances : bool, default=False
        Ignored: distances are always computed.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters.
    labels_ : ndarray of int, shape (n_rows,)
        Cluster of each row; clusters are numbered by their first row.
    children_ : ndarray of shape (n_rows - 1, 2)
        The merged nodes; node ``n_rows + i`` is the i-th merge.
    distances_ : ndarray of shape (n_rows - 1,)
        Distances of the merged clusters.
    n_leaves_, n_connected_components_ : int
        As in scikit-learn.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import AgglomerativeClustering
    >>> X = [[0.0], [1.0], [5.0], [5.5]]
    >>> model = AgglomerativeClustering(linkage="single").fit(X)
    >>> model.labels_.tolist(), model.distances_.tolist()
    ([0, 0, 1, 1], [0.5, 1.0, 4.0])
    """

    _rules = {
        "n_clusters": NOTHING | COUNT,
        "metric": METRIC,
        "memory": ANYTHING,
        "connectivity": NOTHING | LINKS,
        "compute_full_tree": BOOLEAN | one_of("auto"),
        "linkage": one_of("ward", "complete", "average", "single"),
        "distance_threshold": NOTHING | NON_NEGATIVE,
        "compute_distances": BOOLEAN,
    }

    def __init__(
        self,
        n_clusters=2,
        *,
        metric="euclidean",
        memory=None,
        connectivity=None,
        compute_full_tree="auto",
        linkage="ward",
        distance_threshold=None,
        compute_distances=False,
    ):
        self.n_clusters = n_clusters
        self.metric = metric
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.compute_distances = compute_distances

    def fit(self, X, y=None):
        """Merge the rows and cut the tree; ``y`` is ignored. Returns the estimator."""
        check_params(self)
        X = read_data(self, X, dtype=np.float64, ensure_min_samples=2)
        self._require_possible(X)
        free = self.connectivity is None
        tree = check_memory(self.memory).cache(merges if free else connected_merges)
        links = () if free else (self.connectivity(X) if callable(self.connectivity) else self.connectivity,)
        self.children_, self.distances_, self.n_connected_components_ = tree(X, self.linkage, self.metric, *links)
        self.n_leaves_ = X.shape[0]
        far = self.distance_threshold is not None and self.distances_ >= self.distance_threshold
        self.n_clusters_ = int(np.count_nonzero(far)) + 1 if self.n_clusters is None else int(self.n_clusters)
        self.labels_ = cut(self.children_, self.n_leaves_, self.n_clusters_)
        proved = free and self.n_leaves_ <= MOST_LEAVES and np.all(np.isfinite(self.distances_))
        self._issue(
            "C",
            [Claim(f"agglomerative.{name}") for name in (("merges", "labels") if proved else ("unchecked",))],
            problem=pose(self, X),
            model=("children_", "distances_", "labels_", "n_clusters_"),
            sample=(X, None, None),
        )
        return self

    def fit_predict(self, X, y=None):
        """Fit and return ``labels_``."""
        return self.fit(X).labels_

    def _require_possible(self, X) -> None:
        who = "AgglomerativeClustering"
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise InvalidParameter(
                who,
                "n_clusters",
                "given if and only if distance_threshold is None: exactly one of them has to be set",
                self.n_clusters,
            )
        if self.n_clusters is not None and self.n_clusters > X.shape[0]:
            raise InvalidData(
                f"{who}: Cannot extract more clusters than samples: {self.n_clusters} clusters were requested, and X has "
                f"{X.shape[0]} rows."
            )
        if self.linkage == "ward" and self.metric not in ("euclidean", "l2"):
            raise InvalidParameter(
                who, "metric", "'euclidean': Ward can only work with euclidean distances", self.metric
            )
        if self.metric == "precomputed" and X.shape[0] != X.shape[1]:
            raise InvalidData(f"{who}: Distance matrix should be square, got matrix of shape {X.shape}.")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def merges(X: np.ndarray, linkage: str, metric) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the merged nodes and their distances, nearest first."""
    if linkage == "ward":
        if X.shape[1] <= WIDEST:
            return *ward_merges(X), 1
        Z = scipy_linkage(X, "ward")
    else:
        D = X if metric == "precomputed" else pairwise_distances(X, metric=metric)
        Z = scipy_linkage(squareform(0.5 * (D + D.T), checks=False), linkage)
    return Z[:, :2].astype(np.int64), Z[:, 2].copy(), 1


def connected_merges(X: np.ndarray, linkage: str, metric, connectivity) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the merges among connected clusters, by scikit-learn's tree."""
    if linkage == "ward":
        children, parts, _, _, distances = ward_tree(X, connectivity=connectivity, return_distance=True)
    else:
        children, parts, _, _, distances = linkage_tree(
            X, connectivity=connectivity, linkage=linkage, affinity=metric, return_distance=True
        )
    return np.asarray(children, dtype=np.int64), np.asarray(distances, dtype=np.float64), int(parts)
