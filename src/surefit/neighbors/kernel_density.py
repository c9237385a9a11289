from __future__ import annotations

import math
from functools import partial

import numpy as np
from scipy import integrate
from scipy.spatial.distance import cdist
from scipy.special import gammainc
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.threads import map_blocks
from surefit.core.validation import (
    BOOLEAN,
    COUNT,
    N_JOBS,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    check_params,
    one_of,
    read_data,
    read_weights,
)
from surefit.neighbors.claims import sampled_rows
from surefit.neighbors.inputs import METRIC, OPTIONS
from surefit.neighbors.search import by_name
from surefit.problems import pose
from surefit.problems.neighbors import bandwidth_of

PIECE = 1 << 20  # distances held in memory at a time
SHAPES = ("gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine")


class KernelDensity(CertifiedMixin, BaseEstimator):
    r"""Kernel density estimate.

    .. math:: \hat p(x) = \frac{1}{S\,h^d} \sum_i s_i\, \kappa\!\left(\frac{d(x, x_i)}{h}\right), \qquad S = \textstyle\sum_i s_i,

    with a kernel :math:`\kappa` that integrates to one over Euclidean space. Hypothesis class: mixtures with one kernel
    per row. Loss: none; nothing is optimized.

    Guarantee: densities are sums over all rows, regardless of ``algorithm``, ``atol`` and ``rtol``. The certificate
    states that the rows are stored, and bounds the error of the log density at a sample of the rows (theory:
    :ref:`kernel-density`).

    Parameters
    ----------
    bandwidth : float > 0, "scott" or "silverman", default=1.0
        The bandwidth :math:`h`. The two rules are :math:`n^{-1/(d+4)}` and :math:`(n (d + 2) / 4)^{-1/(d+4)}`, where n
        is the total weight of the rows.
    algorithm : {"kd_tree", "ball_tree", "auto"}, default="auto"
        Ignored; the sum is over all rows.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, default="gaussian"
        Shape :math:`\kappa`.
    metric : str, callable or DistanceMetric, default="euclidean"
        As in scikit-learn; densities integrate to one for "euclidean" only.
    atol, rtol : float >= 0, default=0
        Ignored; sums are over all rows.
    breadth_first : bool, default=True
        Ignored.
    leaf_size : int >= 1, default=40
        Ignored.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth :math:`h`.
    n_samples_fit_ : int
        Number of rows.
    sample_indices_ : ndarray
        Indices of these rows in the training data.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import KernelDensity
    >>> model = KernelDensity(bandwidth=0.5, kernel="tophat").fit([[0.0], [0.2], [3.0]])
    >>> np.exp(model.score_samples([[0.1], [3.0]])).round(6).tolist()
    [0.666667, 0.333333]
    """

    _rules = {
        "bandwidth": one_of("scott", "silverman") | POSITIVE,
        "algorithm": one_of("kd_tree", "ball_tree", "auto"),
        "kernel": one_of(*SHAPES),
        "metric": METRIC,
        "atol": NON_NEGATIVE,
        "rtol": NON_NEGATIVE,
        "breadth_first": BOOLEAN,
        "leaf_size": COUNT,
        "metric_params": NOTHING | OPTIONS,
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        *,
        bandwidth=1.0,
        algorithm="auto",
        kernel="gaussian",
        metric="euclidean",
        atol=0,
        rtol=0,
        breadth_first=True,
        leaf_size=40,
        metric_params=None,
        n_jobs=None,
    ):
        self.bandwidth = bandwidth
        self.algorithm = algorithm
        self.kernel = kernel
        self.metric = metric
        self.atol = atol
        self.rtol = rtol
        self.breadth_first = breadth_first
        self.leaf_size = leaf_size
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X, y=None, sample_weight=None):
        """Store the rows; an integer weight is equivalent to repeating the row, and ``y`` is ignored. Returns the estimator."""
        check_params(self)
        X = read_data(self, X, dtype=np.float64)
        weights = read_weights(self, sample_weight, X.shape[0])
        self.sample_indices_ = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights > 0)
        self._fit_X = X if weights is None else X[self.sample_indices_]
        self._row_weight = None if weights is None else weights[self.sample_indices_]
        self.n_samples_fit_ = len(self._fit_X)
        self.bandwidth_ = bandwidth_of(self.bandwidth, X, weights)
        places = sampled_rows(*self._fit_X.shape)
        values = {"log_density": self._log_density(self._fit_X[places])}
        self._issue(
            "C",
            [Claim("kernel_density.values", witness=values), Claim("knn.rows")],
            problem=pose(self, X, None, weights),
            model=("n_samples_fit_", "bandwidth_"),
            sample=(X, None, weights),
        )
        return self

    def score_samples(self, X) -> np.ndarray:
        """Return the log density at each row."""
        check_is_fitted(self)
        return self._log_density(read_data(self, X, reset=False, dtype=np.float64))

    def score(self, X, y=None) -> float:
        """Return the sum of the log densities of the rows."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples=1, random_state=None) -> np.ndarray:
        """Draw rows from the density, for the kernels "gaussian" and "tophat"."""
        check_is_fitted(self)
        if self.kernel not in ("gaussian", "tophat"):
            raise InvalidParameter("KernelDensity", "kernel", "'gaussian' or 'tophat' to draw rows", self.kernel)
        draws, d = check_random_state(random_state), self._fit_X.shape[1]
        u = draws.uniform(0, 1, size=n_samples)
        if self._row_weight is None:
            centers = self._fit_X[(u * self.n_samples_fit_).astype(np.int64)]
        else:
            below = np.cumsum(self._row_weight)
            centers = self._fit_X[np.searchsorted(below, u * below[-1])]
        if self.kernel == "gaussian":
            return np.atleast_2d(draws.normal(centers, self.bandwidth_))
        step = draws.normal(size=(n_samples, d))
        squares = np.sum(step**2, axis=1)  # gammainc of half of them is uniformly distributed
        length = gammainc(0.5 * d, 0.5 * squares) ** (1.0 / d) * self.bandwidth_ / np.sqrt(squares)
        return centers + step * length[:, None]

    def _log_density(self, Q: np.ndarray) -> np.ndarray:
        found, h = np.empty(len(Q)), self.bandwidth_
        total = float(self.n_samples_fit_ if self._row_weight is None else self._row_weight.sum())
        direct = self.metric in ("euclidean", "l2", "minkowski") and not self.metric_params
        distances = (
            partial(_differences, self._fit_X) if direct else by_name(self._fit_X, self.metric, 2.0, self.metric_params)
        )

        def evaluate(start, stop):
            logs = log_shape(self.kernel, np.asarray(distances(Q[start:stop])) / h)
            top = np.max(logs, axis=1)
            shift = np.where(np.isfinite(top), top, 0.0)
            values = np.exp(logs - shift[:, None])
            sums = values.sum(axis=1) if self._row_weight is None else values @ self._row_weight
            with np.errstate(divide="ignore"):
                found[start:stop] = np.log(sums) + shift

        map_blocks(evaluate, len(Q), max(1, PIECE // max(1, self.n_samples_fit_)), self.n_jobs)
        return found + log_norm(self.kernel, h, self._fit_X.shape[1]) - math.log(total)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


def _differences(X: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Return Euclidean distances from differences, so that the distance of a row from itself is exactly zero."""
    return cdist(Q, X)


def log_shape(kernel: str, u: np.ndarray) -> np.ndarray:
    """Return the logarithm of the unnormalized kernel, which is one at zero, at distances in units of the bandwidth."""
    if kernel == "gaussian":
        return -0.5 * u * u
    if kernel == "exponential":
        return -u
    inside = u < 1.0
    if kernel == "tophat":
        return np.where(inside, 0.0, -np.inf)
    u = np.where(inside, u, 0.0)
    values = {"epanechnikov": lambda: 1.0 - u * u, "linear": lambda: 1.0 - u, "cosine": lambda: np.cos(0.5 * np.pi * u)}
    return np.where(inside, np.log(values[kernel]()), -np.inf)


def log_norm(kernel: str, h: float, d: int) -> float:
    """Return minus the logarithm of the integral of the kernel over d-dimensional space."""
    ball = 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1)
    sphere = math.log(d) + ball  # surface area of the unit sphere
    if kernel == "gaussian":
        integral = 0.5 * d * math.log(2 * math.pi)
    elif kernel == "exponential":
        integral = sphere + math.lgamma(d)
    elif kernel == "cosine":
        integral = sphere + math.log(cosine_moment(d))
    else:
        integral = ball + {"tophat": 0.0, "epanechnikov": math.log(2 / (d + 2)), "linear": -math.log(d + 1)}[kernel]
    return -integral - d * math.log(h)


def cosine_moment(d: int) -> float:
    r"""Return :math:`\int_0^1 \cos(\pi u / 2)\, u^{d-1} du` without the cancellation of integration by parts."""
    found, _ = integrate.quad(lambda v: math.cos(0.5 * math.pi * v ** (1 / d)) / d, 0.0, 1.0, epsabs=0.0, epsrel=1e-13)
    return found
