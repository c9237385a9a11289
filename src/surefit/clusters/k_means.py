from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted

from surefit.clusters.k_means_fit import READ, fit_k_means, inertia_of, labels_of
from surefit.clusters.scatter import Scatter, scatter_of_parts
from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import (
    ANYTHING,
    ARRAY,
    BOOLEAN,
    COUNT,
    N_JOBS,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    Rule,
    check_params,
    one_of,
    read_data,
    read_weights,
)


class KMeans(
    CertifiedMixin,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    r"""Partition of the rows into k clusters around means.

    .. math:: J(l, c) = \sum_i s_i \|x_i - c_{l(i)}\|^2

    Hypothesis class: partitions into k cells of nearest centres. Loss: squared distance. Optimiser: Lloyd's algorithm from
    several starts, with distance bounds that leave out most distances; or, on a line, dynamic programming.

    Guarantee: every row is at its nearest centre and every centre is the mean of its rows (up to ``tol``), J never rose on the
    way, and no partition at all has an inertia below ``lower_bound_`` (theory: :ref:`k-means`). With one column the lower
    bound is the optimum itself. The answer has the same bits for any ``n_jobs``.

    Parameters
    ----------
    n_clusters : int >= 1, default=8
        Number of clusters k.
    init : {"k-means++", "random"}, callable or array of shape (n_clusters, n_features), default="k-means++"
        Starting centres: greedy k-means++; distinct rows, drawn by weight; or given ones. A callable is called with
        ``(X, n_clusters, random_state)``.
    n_init : int >= 1 or "auto", default="auto"
        Number of starts, the best of which is kept. "auto" is 10 for ``init="random"`` or a callable, else 1.
    max_iter : int >= 1, default=300
        Steps of one start.
    tol : float >= 0, default=1e-4
        Stop when the squared moves of the centres add up to at most ``tol`` times the mean variance of the columns. With 0 a
        start ends when no row changes cluster.
    verbose : int, default=0
        Accepted so that code written for scikit-learn runs; use callbacks to watch a fit.
    random_state : int, RandomState or None, default=None
        Seed of the starts. The draws do not depend on the order of the rows.
    copy_x : bool, default=True
        Accepted; X is never changed.
    algorithm : {"lloyd", "elkan", "exact"}, default="lloyd"
        "lloyd" and "elkan" name the same steps (bounds change the time, not the answer). "exact" returns the best partition
        of data with one column.
    lower_bound : {"auto", "spectral", "sdp"} or None, default="auto"
        How to bound the inertia of all partitions from below. "auto": the optimum for one column, else the spectral bound
        if X has at most 2000 rows or columns. "sdp": the semidefinite bound, much tighter, for at most 1000 rows.
    max_time : float > 0 or None, default=None
        Seconds after which the best partition so far is returned. Ctrl-C does the same.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres c.
    labels_ : ndarray of int, shape (n_rows,)
        Nearest centre of each row; the lowest index wins a tie.
    inertia_ : float
        J of the fitted partition.
    lower_bound_ : float
        No partition into k clusters has a smaller inertia.
    cluster_sizes_, cluster_inertias_ : ndarrays of shape (n_clusters,)
        Weight of each cluster, and its share in the inertia.
    total_scatter_ : float
        Sum of squared distances to the mean of all rows: the inertia of one cluster.
    scatter_ : Scatter
        Total, within and between scatter, by pairs and by means.
    n_iter_ : int
        Steps of the best start.
    objective_history_ : ndarray of shape (n_iter, 3)
        Of the best start: seconds, J after the assignment, J after the centres moved.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A cluster that loses all its rows is put on the row farthest from its own centre. If there are fewer distinct rows than
    clusters, the clusters that are left over stay empty and a ``DataRemark`` says so. Columns that are constant change
    nothing. Rows of weight zero take no part but get a label.

    Examples
    --------
    The corners of a rectangle; the spectral bound proves that no other pairing is better:

    >>> import numpy as np
    >>> from surefit import KMeans
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]])
    >>> model = KMeans(n_clusters=2, random_state=0).fit(X)
    >>> print(model.inertia_, round(model.lower_bound_, 6))
    1.0 1.0
    >>> model.verify(X)["k_means.gap"].level
    'enclosed'
    """

    _rules = {
        "n_clusters": COUNT,
        "init": one_of("k-means++", "random") | Rule("a callable", callable) | ARRAY,
        "n_init": one_of("auto") | COUNT,
        "max_iter": COUNT,
        "tol": NON_NEGATIVE,
        "verbose": ANYTHING,
        "random_state": RANDOM_STATE,
        "copy_x": BOOLEAN,
        "algorithm": one_of("lloyd", "elkan", "exact"),
        "lower_bound": NOTHING | one_of("auto", "spectral", "sdp"),
        "max_time": NOTHING | POSITIVE,
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        n_init="auto",
        max_iter=300,
        tol=1e-4,
        verbose=0,
        random_state=None,
        copy_x=True,
        algorithm="lloyd",
        lower_bound="auto",
        max_time=None,
        n_jobs=None,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.lower_bound = lower_bound
        self.max_time = max_time
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None):
        """Find the clusters; a row counts as often as ``sample_weight`` says. Returns the estimator."""
        check_params(self)
        return fit_k_means(self, X, sample_weight)

    def fit_predict(self, X, y=None, sample_weight=None):
        """Fit and return ``labels_``."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def fit_transform(self, X, y=None, sample_weight=None):
        """Fit and return the distances of the rows to the centres."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def predict(self, X) -> np.ndarray:
        """Return the index of the nearest centre of each row."""
        return labels_of(self, self._read(X))

    def transform(self, X) -> np.ndarray:
        """Return the distance of each row to each centre."""
        return euclidean_distances(self._read(X), self.cluster_centers_)

    def score(self, X, y=None, sample_weight=None) -> float:
        """Return minus the inertia of the rows at their nearest centres."""
        X = self._read(X)
        return -inertia_of(self, X, read_weights(self, sample_weight, X.shape[0]))

    def _read(self, X):
        check_is_fitted(self)
        return read_data(self, X, reset=False, **READ)

    @property
    def scatter_(self) -> Scatter:
        """Total, within and between scatter of the fitted partition."""
        return scatter_of_parts(self.cluster_sizes_, self.cluster_inertias_, self.total_scatter_)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
