from __future__ import annotations

from surefit.clusters.k_means import KMeans
from surefit.clusters.mini_batch_training import fit_mini_batch, update_mini_batch
from surefit.core.callbacks import with_callbacks
from surefit.core.validation import (
    ANYTHING,
    BOOLEAN,
    COUNT,
    FRACTION,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    check_params,
    one_of,
)


class MiniBatchKMeans(KMeans):
    r"""K-means clustering by mini-batches of the rows.

    .. math:: J(l, c) = \sum_i s_i \|x_i - c_{l(i)}\|^2

    Hypothesis class: partitions into k cells of nearest centers. Loss: squared distance. Optimizer: stochastic; every
    batch moves the centers toward the means of its rows. For a locally optimal partition, use :class:`KMeans`.

    Guarantee: every row is at its nearest center, and no partition has an inertia below ``lower_bound_`` (theory:
    :ref:`k-means`). It is not claimed that the centers are means of their clusters.

    Parameters
    ----------
    n_clusters : int >= 1, default=8
        Number of clusters k.
    init : {"k-means++", "random"}, callable or array of shape (n_clusters, n_features), default="k-means++"
        Starting centers, as in :class:`KMeans`, chosen from a sample of ``init_size`` rows.
    max_iter : int >= 1, default=100
        Passes over the data: the number of batches is at most ``max_iter * n_rows // batch_size``.
    batch_size : int >= 1, default=1024
        Rows per batch, drawn by their weights.
    verbose : int, default=0
        Ignored; accepted for compatibility with scikit-learn.
    compute_labels : bool, default=True
        Ignored; labels are always computed, because the certificate needs them.
    random_state : int, RandomState or None, default=None
        Seed of starts and batches. The draws do not depend on the order of the rows.
    tol : float >= 0, default=0.0
        Stop when a batch moves the centers by at most ``tol`` times the mean variance of the columns (sum of squares); 0: not used.
    max_no_improvement : int >= 1 or None, default=10
        Stop after this many batches without a smaller average inertia.
    init_size : int >= 1 or None, default=None
        Number of rows from which a start is drawn; None is ``3 * batch_size``, but at least ``3 * n_clusters``.
    n_init : int >= 1 or "auto", default="auto"
        Number of starts; the start with the smallest inertia on a sample is used. "auto" is 3 for ``init="random"`` or
        a callable, else 1.
    reassignment_ratio : float from 0 to 1, default=0.01
        Centers with fewer rows than this fraction of the largest cluster are drawn again.
    lower_bound : {"auto", "spectral"} or None, default="auto"
        Lower bound on the inertia of all partitions, as in :class:`KMeans`.
    max_time : float > 0 or None, default=None
        Time limit in seconds; the current centers are returned. Ctrl-C has the same effect.
    n_jobs : int or None, default=None
        Number of threads; None is one, -1 all cores.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centers c.
    labels_ : ndarray of int, shape (n_rows,)
        Nearest center of each row; ties go to the lowest index.
    inertia_ : float
        Inertia J of the fitted partition.
    lower_bound_ : float
        No partition into k clusters has a smaller inertia.
    cluster_sizes_, cluster_inertias_ : ndarrays of shape (n_clusters,)
        Weight of each cluster, and its contribution to the inertia.
    total_scatter_ : float
        Sum of squared distances to the mean of all rows.
    n_iter_, n_steps_ : int
        Passes and batches.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them. After ``partial_fit``, the claims are about
        the rows of the last call.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import MiniBatchKMeans
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(500, 2)), rng.normal(size=(500, 2)) + 8.0])
    >>> model = MiniBatchKMeans(n_clusters=2, random_state=0).fit(X)
    >>> np.sort(model.cluster_centers_[:, 0]).round(0).tolist()
    [-0.0, 8.0]
    >>> bool(model.lower_bound_ <= model.inertia_), model.verify(X)["k_means.nearest"].ok
    (True, True)
    """

    _rules = {
        "n_clusters": COUNT,
        "init": KMeans._rules["init"],
        "max_iter": COUNT,
        "batch_size": COUNT,
        "verbose": ANYTHING,
        "compute_labels": BOOLEAN,
        "random_state": RANDOM_STATE,
        "tol": KMeans._rules["tol"],
        "max_no_improvement": NOTHING | COUNT,
        "init_size": NOTHING | COUNT,
        "n_init": one_of("auto") | COUNT,
        "reassignment_ratio": FRACTION,
        "lower_bound": NOTHING | one_of("auto", "spectral"),
        "max_time": NOTHING | POSITIVE,
        "n_jobs": KMeans._rules["n_jobs"],
    }
    algorithm = "lloyd"

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        max_iter=100,
        batch_size=1024,
        verbose=0,
        compute_labels=True,
        random_state=None,
        tol=0.0,
        max_no_improvement=10,
        init_size=None,
        n_init="auto",
        reassignment_ratio=0.01,
        lower_bound="auto",
        max_time=None,
        n_jobs=None,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio
        self.lower_bound = lower_bound
        self.max_time = max_time
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None):
        """Find the clusters, with ``sample_weight`` as frequency weights. Returns the estimator."""
        check_params(self)
        return fit_mini_batch(self, X, sample_weight)

    def partial_fit(self, X, y=None, sample_weight=None):
        """Update the centers with the given rows as one batch. Returns the estimator."""
        check_params(self)
        return update_mini_batch(self, X, sample_weight)
