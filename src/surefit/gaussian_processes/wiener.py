"""Regression with Brownian motion or its integral as prior: smoothing splines with posterior bands in linear time."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import POSITIVE, REAL, check_params, one_of, read_data
from surefit.problems import pose
from surefit.solvers.gaussian_process.wiener import log_evidence, most_likely, smooth


class WienerProcessRegressor(CertifiedMixin, RegressorMixin, BaseEstimator):
    r"""Regression with a Wiener process (``order=1``) or its integral (``order=2``) as prior, in linear time.

    .. math:: y_i = f(x_i) + \varepsilon_i, \quad \varepsilon_i \sim N(0, \sigma^2), \quad f \sim \sqrt\delta \, W
              \ \text{ or } \ \sqrt\delta \int W, \quad f(a) = 0 \ (= f'(a))

    The posterior mean is the linear or cubic smoothing spline with these boundary conditions at a and the penalty
    :math:`\lambda = \sigma^2 / (n \delta)`. Hypothesis class: linear or cubic splines. Loss: squared. Optimizer: a
    Kalman filter and smoother; :math:`\delta` and :math:`\sigma^2` maximize the evidence, with the scale in closed form
    and the ratio on a refined grid.

    Guarantee: given both variances, the mean is within ``certificate_["wiener.mean"].value`` times
    :math:`\sqrt{k(x, x)}` of the exact one for every x, including rounding errors (theory: :ref:`gp-evidence`).

    Parameters
    ----------
    order : {1, 2}, default=1
        1 means Brownian motion and linear splines; 2 means integrated Brownian motion and cubic splines.
    variance : float > 0 or "evidence", default="evidence"
        Factor :math:`\delta` of the prior covariance.
    noise : float > 0 or "evidence", default="evidence"
        Noise variance :math:`\sigma^2`; either both variances are numbers, or both are learned.
    origin : float, default=0.0
        Point a at which the prior starts; inputs must not be smaller.

    Attributes
    ----------
    variance_, noise_ : float
        Factor of the prior covariance and noise variance that were used.
    alpha_ : ndarray of shape (n,)
        Dual vector: the mean is :math:`\delta \sum_i \alpha_i k(x_i, x)`.
    log_evidence_ : float
        Log evidence of the observations.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import WienerProcessRegressor
    >>> model = WienerProcessRegressor(variance=1.0, noise=1.0).fit([1.0, 2.0], [1.5, 2.5])
    >>> model.predict([1.0, 2.0, 9.0]).round(6), model.alpha_.round(6)
    (array([1.1, 1.8, 1.8]), array([0.4, 0.7]))
    """

    _rules = {
        "order": one_of(1, 2),
        "variance": POSITIVE | one_of("evidence"),
        "noise": POSITIVE | one_of("evidence"),
        "origin": REAL,
    }

    def __init__(self, order=1, *, variance="evidence", noise="evidence", origin=0.0):
        self.order = order
        self.variance = variance
        self.noise = noise
        self.origin = origin

    def fit(self, X, y):
        """Fit the process; X has one column or is a vector. Returns the estimator."""
        check_params(self)
        learn = self.variance == "evidence"
        if learn != (self.noise == "evidence"):
            raise InvalidParameter(
                type(self).__name__, "noise", 'a number if variance is a number, else "evidence"', self.noise
            )
        X, y = read_data(self, _column(X), y, dtype=np.float64, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        x = self._times(X)
        rows = np.argsort(x, kind="stable")
        times, targets = x[rows], y[rows]
        if learn and not (np.any(targets) and times[-1] > 0):
            raise InvalidData(
                f"{type(self).__name__}: variances cannot be learned, because all targets or inputs are zero; pass variance and noise."
            )
        self.variance_, self.noise_ = (
            most_likely(times, targets, self.order) if learn else (float(self.variance), float(self.noise))
        )
        means = smooth(times, targets, np.ones(len(x), dtype=np.bool_), self.variance_, self.noise_, self.order)[0]
        dual = (targets - means) / self.noise_
        self.alpha_ = np.empty(len(x))
        self.alpha_[rows] = dual
        self.log_evidence_ = log_evidence(times, targets, self.variance_, self.noise_, self.order)
        self._sorted = (times, targets)
        self._issue(
            "A",
            [Claim(name) for name in ("wiener.mean", *(("wiener.evidence",) if learn else ()))],
            problem=pose(self, X, y, None, "variance_", "noise_"),
            model=("alpha_", "variance_", "noise_"),
            sample=(X, y, None),
            run={"solver": "filter and smoother", "stopped": "converged"},
        )
        return self

    def predict(self, X, return_std=False):
        """Return the posterior mean and, if requested, the standard deviation of the function (without noise)."""
        check_is_fitted(self)
        x = self._times(read_data(self, _column(X), reset=False, dtype=np.float64))
        times, targets = self._sorted
        joined = np.concatenate([times, x])
        rows = np.argsort(joined, kind="stable")
        seen = rows < len(times)
        values = np.concatenate([targets, np.zeros(len(x))])[rows]
        means, variances, _, _ = smooth(joined[rows], values, seen, self.variance_, self.noise_, self.order)
        places = np.empty(len(rows), dtype=np.intp)
        places[rows] = np.arange(len(rows))
        new = places[len(times) :]
        return (means[new], np.sqrt(np.maximum(variances[new], 0.0))) if return_std else means[new]

    def _times(self, X) -> np.ndarray:
        who = type(self).__name__
        if X.shape[1] != 1:
            raise InvalidData(f"{who}: X must have one column; got {X.shape[1]}.")
        x = X[:, 0] - self.origin
        if np.min(x) < 0:
            row = int(np.argmin(x))
            raise InvalidData(
                f"{who}: inputs must be >= origin = {self.origin!r}; row {row} has {float(X[row, 0])!r}. Pass a smaller origin."
            )
        return x

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False  # only tables with one column are supported
        return tags


def _column(X):
    """Return a vector as one column; other inputs unchanged."""
    return np.asarray(X).reshape(-1, 1) if not hasattr(X, "columns") and np.ndim(X) == 1 else X
