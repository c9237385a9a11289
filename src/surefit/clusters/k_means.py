from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted

from surefit.clusters.k_means_training import READ, fit_k_means, inertia_of, labels_of
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
    r"""K-means clustering.

    .. math:: J(l, c) = \sum_i s_i \|x_i - c_{l(i)}\|^2

    Hypothesis class: partitions into k cells of nearest centers. Loss: squared distance. Optimizer: Lloyd's algorithm from several
    starts, with bounds that avoid most distance computations; or, for one column, dynamic programming.

    Guarantee: every row is at its nearest center, every center is the mean of its rows (up to ``tol``), and no partition has an inertia
    below ``lower_bound_`` (theory: :ref:`k-means`). With one column, the lower bound is the optimum. The result is identical for any
    ``n_jobs``.

    Parameters
    ----------
    n_clusters : int >= 1, default=8
        Number of clusters k.
    init : {"k-means++", "random"}, callable or array of shape (n_clusters, n_features), default="k-means++"
        Starting centers: greedy k-means++, distinct rows drawn by weight, or given centers. A callable is called with
        ``(X, n_clusters, random_state)``.
    n_init : int >= 1 or "auto", default="auto"
        Number of starts, the best of which is kept. "auto" is 10 for ``init="random"`` or a callable, else 1.
    max_iter : int >= 1, default=300
        Maximum number of steps per start.
    tol : float >= 0, default=1e-4
        Stop when the total squared movement of the centers is at most ``tol`` times the mean variance of the columns. With 0, a start
        ends when no row changes cluster.
    verbose : int, default=0
        Print one line per check of the stopping rule.
    random_state : int, RandomState or None, default=None
        Seed of the starts. The draws do not depend on the order of the rows.
    copy_x : bool, default=True
        Ignored; X is never modified.
    algorithm : {"lloyd", "elkan", "exact"}, default="lloyd"
        "lloyd" and "elkan" take the same steps (bounds change the time, not the result). "exact" returns the optimal partition of data
        with one column.
    lower_bound : {"auto", "spectral", "sdp"} or None, default="auto"
        Lower bound on the inertia of all partitions. "auto": the optimum for one column, else the spectral bound if X has at most 2000
        rows or columns. "sdp": the semidefinite bound, much tighter, for at most 1000 rows.
    max_time : float > 0 or None, default=None
        Time limit in seconds; the best partition so far is returned. Ctrl-C has the same effect.
    n_jobs : int or None, default=None
        Number of threads; None is one, -1 all cores.
    single_moves : bool or "auto", default="auto"
        Whether to continue after Lloyd's algorithm with moves of single rows (Hartigan), which improve many of its
        local minima. "auto" does so for up to 10 000 rows. False uses Lloyd's algorithm alone, as in scikit-learn.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centers c.
    labels_ : ndarray of int, shape (n_rows,)
        Nearest center of each row; ties go to the lowest index. Not set for rows in partitions.
    inertia_ : float
        Inertia J of the fitted partition.
    lower_bound_ : float
        No partition into k clusters has a smaller inertia.
    cluster_sizes_, cluster_inertias_ : ndarrays of shape (n_clusters,)
        Weight of each cluster, and its contribution to the inertia.
    total_scatter_ : float
        Sum of squared distances to the mean of all rows: the inertia of a single cluster.
    scatter_ : Scatter
        Total, within and between scatter, by pairs and by means.
    n_iter_ : int
        Steps of the best start.
    objective_history_ : ndarray of shape (n_iter, 3)
        For each step of the best start: seconds, J after the assignment, J after the update of the centers.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An empty cluster is moved to the row farthest from its own center. If there are fewer distinct rows than clusters, the remaining
    clusters stay empty and a ``DataWarning`` is issued. Constant columns have no effect. Rows of weight zero are
    ignored in the fit but receive a label.

    On Dask collections and Parquet paths (extra ``cluster``), each step is one pass over the partitions. ``init="k-means++"`` is then
    k-means||, and random draws depend on the index of a row. Labels stay in the partitions: ``labels_`` is not set, and
    ``predict`` returns them as a Dask array. Single moves, ``algorithm="exact"`` and ``lower_bound="sdp"`` need the
    rows in memory.

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

    _shares_rows = True
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
        "single_moves": BOOLEAN | one_of("auto"),
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
        single_moves="auto",
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
        self.single_moves = single_moves

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None):
        """Find the clusters, with ``sample_weight`` as frequency weights. Returns the estimator."""
        check_params(self)
        return fit_k_means(self, X, sample_weight)

    def fit_predict(self, X, y=None, sample_weight=None):
        """Fit and return ``labels_``; a Dask array for rows in partitions."""
        self.fit(X, sample_weight=sample_weight)
        return self.labels_ if hasattr(self, "labels_") else self.predict(X)

    def fit_transform(self, X, y=None, sample_weight=None):
        """Fit and return the distances of the rows to the centers."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def predict(self, X) -> np.ndarray:
        """Return the index of the nearest center of each row."""
        return labels_of(self, self._read(X))

    def transform(self, X) -> np.ndarray:
        """Return the distance of each row to each center."""
        return euclidean_distances(self._read(X), self.cluster_centers_)

    def score(self, X, y=None, sample_weight=None) -> float:
        """Return the negative inertia of the rows at their nearest centers."""
        X = self._read(X)
        return -inertia_of(self, X, read_weights(self, sample_weight, X.shape[0]))

    def _read(self, X):
        check_is_fitted(self)
        return read_data(self, X, reset=False, **READ)

    @property
    def lower_bound_(self) -> float:
        """Lower bound on the inertia of all partitions into k clusters, as certified."""
        return float(min(max(self.certificate_["k_means.gap"].numbers["lower_bound"], 0.0), self.inertia_))

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
