from __future__ import annotations

import numbers

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from surefit.clusters.k_means_training import generator
from surefit.clusters.mixture_training import count_parameters, fit_mixture, weighted_log_densities
from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.errors import InvalidParameter
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

COUNT_OR_ZERO = Rule("0", lambda v: isinstance(v, numbers.Integral) and not isinstance(v, bool) and v == 0) | COUNT


class GaussianMixture(CertifiedMixin, CallbackSupportMixin, DensityMixin, BaseEstimator):
    r"""Gaussian mixture model, fitted by expectation maximization.

    .. math::

        \ell(\theta) = \frac{1}{S} \sum_i s_i \ln \sum_k \pi_k \, N(x_i; \mu_k, \Sigma_k), \qquad S = \sum_i s_i

    Hypothesis class: mixtures of k Gaussian densities. Loss: negative log-likelihood. Optimizer: expectation maximization (EM) from
    several starts, with one pass over the data per step.

    Guarantee: the certificate bounds the increase of the log-likelihood by one further step, and states the norm of the score (theory:
    :ref:`expectation-maximization`). Nothing is claimed about the global maximum, which does not exist without a
    covariance floor. The result is identical for any ``n_jobs``.

    Parameters
    ----------
    n_components : int >= 1, default=1
        Number of Gaussians k.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        One matrix per component; one common matrix; one diagonal per component; one variance per component.
    tol : float >= 0, default=1e-3
        Stop when a step changes the mean log-likelihood by less than this.
    reg_covar : float >= 0, default=1e-6
        Covariance floor: added to every variance after each step, so that the density of a component at a single point
        stays finite.
    max_iter : int >= 0, default=100
        Maximum number of steps per start.
    n_init : int >= 1, default=1
        Number of starts, the best of which is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        Start from the clusters of k-means; from small components at rows chosen by k-means++ or by weight; or from random
        responsibilities, drawn once per distinct row.
    weights_init : array of shape (n_components,) or None, default=None
        Starting weights.
    means_init : array of shape (n_components, n_features) or None, default=None
        Starting means.
    precisions_init : array or None, default=None
        Starting inverse covariances, in the form of ``precisions_``.
    random_state : int, RandomState or None, default=None
        Seed of the starts and of :meth:`sample`. The random draws of a fit do not depend on the order of the rows.
    warm_start : bool, default=False
        Start from the parameters of the previous fit.
    verbose : int, default=0
        Print one line per check of the stopping rule.
    verbose_interval : int, default=10
        Ignored.
    max_time : float > 0 or None, default=None
        Time limit in seconds; the best parameters so far are returned. Ctrl-C has the same effect.
    n_jobs : int or None, default=None
        Number of threads; None is one, -1 all cores.

    Attributes
    ----------
    weights_, means_, covariances_ : ndarrays
        The parameters; the shape of ``covariances_`` depends on ``covariance_type`` as in scikit-learn.
    precisions_, precisions_cholesky_ : ndarrays
        Inverse covariances, and upper triangular factors F with F F' = precision.
    converged_ : bool
        Whether the best start reached ``tol``.
    n_iter_ : int
        Steps of the best start.
    lower_bound_ : float
        Mean log-likelihood before the last step of the best start.
    lower_bounds_ : list of float
        The same before each step.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    On Dask collections and Parquet paths (extra ``cluster``), each step is one pass over the partitions. Starts are drawn by k-means||,
    and random responsibilities are drawn once per row.

    Examples
    --------
    With one component, EM gives the closed form; the maximum likelihood variance of 1, 2, 3 is 2/3:

    >>> from surefit import GaussianMixture
    >>> model = GaussianMixture(reg_covar=0.0).fit([[1.0], [2.0], [3.0]])
    >>> print(model.means_[0, 0], round(float(model.covariances_[0, 0, 0]), 6))
    2.0 0.666667
    """

    _shares_rows = True
    _rules = {
        "n_components": COUNT,
        "covariance_type": one_of("full", "tied", "diag", "spherical"),
        "tol": NON_NEGATIVE,
        "reg_covar": NON_NEGATIVE,
        "max_iter": COUNT_OR_ZERO,
        "n_init": COUNT,
        "init_params": one_of("kmeans", "k-means++", "random", "random_from_data"),
        "weights_init": NOTHING | ARRAY,
        "means_init": NOTHING | ARRAY,
        "precisions_init": NOTHING | ARRAY,
        "random_state": RANDOM_STATE,
        "warm_start": BOOLEAN,
        "verbose": ANYTHING,
        "verbose_interval": ANYTHING,
        "max_time": NOTHING | POSITIVE,
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_components=1,
        *,
        covariance_type="full",
        tol=1e-3,
        reg_covar=1e-6,
        max_iter=100,
        n_init=1,
        init_params="kmeans",
        weights_init=None,
        means_init=None,
        precisions_init=None,
        random_state=None,
        warm_start=False,
        verbose=0,
        verbose_interval=10,
        max_time=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.max_time = max_time
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None):
        """Fit the mixture, with ``sample_weight`` as frequency weights. Returns the estimator."""
        check_params(self)
        return fit_mixture(self, X, sample_weight)

    def fit_predict(self, X, y=None, sample_weight=None) -> np.ndarray:
        """Fit and return the most probable component of each row."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def predict(self, X) -> np.ndarray:
        """Return the most probable component of each row; ties go to the lowest index."""
        return self._log_densities(X).argmax(axis=1)

    def predict_proba(self, X) -> np.ndarray:
        """Return the probability of each component for each row."""
        table = self._log_densities(X)
        return np.exp(table - logsumexp(table, axis=1, keepdims=True))

    def score_samples(self, X) -> np.ndarray:
        """Return the log-density at each row."""
        return logsumexp(self._log_densities(X), axis=1)

    def score(self, X, y=None, sample_weight=None) -> float:
        """Return the mean log-density of the rows."""
        values = self.score_samples(X)
        weights = read_weights(self, sample_weight, len(values))
        return float(np.mean(values) if weights is None else np.average(values, weights=weights))

    def bic(self, X, sample_weight=None) -> float:
        """Return ``-2 log-likelihood + p ln S`` for p free parameters and S rows (or the sum of the weights). Smaller is better."""
        total = self._total_weight(X, sample_weight)
        return -2 * self.score(X, sample_weight=sample_weight) * total + count_parameters(self) * float(np.log(total))

    def aic(self, X, sample_weight=None) -> float:
        """Return ``-2 log-likelihood + 2 p`` for p free parameters. Smaller is better."""
        return -2 * self.score(X, sample_weight=sample_weight) * self._total_weight(
            X, sample_weight
        ) + 2 * count_parameters(self)

    def sample(self, n_samples=1) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows from the fitted density; return them and their components, sorted by component."""
        check_is_fitted(self)
        if not COUNT.allows(n_samples):
            raise InvalidParameter(type(self).__name__, "n_samples", COUNT.words, n_samples)
        random = generator(self.random_state)
        counts = random.multinomial(n_samples, self.weights_)
        rows = []
        for c, count in enumerate(counts):
            noise = random.standard_normal((int(count), self.n_features_in_))
            rows.append(self.means_[c] + noise @ self._root(c))
        return np.vstack(rows), np.repeat(np.arange(len(counts)), counts)

    def _root(self, c: int) -> np.ndarray:
        """Return a matrix R with R'R = covariance of component c."""
        if self.covariance_type == "full":
            return np.linalg.cholesky(self.covariances_[c]).T
        if self.covariance_type == "tied":
            return np.linalg.cholesky(self.covariances_).T
        return np.diag(np.broadcast_to(np.sqrt(self.covariances_[c]), (self.n_features_in_,)))

    def _log_densities(self, X) -> np.ndarray:
        check_is_fitted(self)
        return weighted_log_densities(self, read_data(self, X, reset=False, dtype=[np.float64, np.float32]))

    def _total_weight(self, X, sample_weight) -> float:
        n = np.shape(X)[0]
        weights = read_weights(self, sample_weight, n)
        return float(n if weights is None else np.sum(weights))
