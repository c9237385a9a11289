"""Bias, variance and mean squared error of coefficients, if the true coefficients are known."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from surefit.core import tables
from surefit.core.errors import DataWarning, InvalidData, InvalidParameter

LINEAR = 1e-6  # relative difference up to which coefficients count as linear in the targets


@dataclass(frozen=True, eq=False, repr=False)
class CoefficientRisk:
    """Decomposition of the mean squared error of coefficients; ``mse = squared_bias + variance``.

    Attributes
    ----------
    truth : ndarray of shape (n_coefficients,)
        True coefficients, the intercept last if there is one.
    bias : ndarray of shape (n_coefficients,)
        Mean estimate minus truth.
    covariance : ndarray of shape (n_coefficients, n_coefficients)
        Covariance of the estimates.
    estimates : ndarray of shape (n_repeats, n_coefficients) or None
        The simulated estimates; None if the numbers are exact.
    """

    truth: np.ndarray
    bias: np.ndarray
    covariance: np.ndarray
    estimates: np.ndarray | None = None

    @property
    def squared_bias(self) -> float:
        """Squared norm of the bias."""
        return float(self.bias @ self.bias)

    @property
    def variance(self) -> float:
        """Trace of the covariance."""
        return float(np.trace(self.covariance))

    @property
    def mse(self) -> float:
        """Mean squared distance of the estimate from the true coefficients."""
        return self.squared_bias + self.variance

    def __repr__(self) -> str:
        line = tuple(f"{value:.4g}" for value in (self.squared_bias, self.variance, self.mse))
        foot = "exact: the estimate is linear in the targets." if self.estimates is None else "Monte-Carlo."
        return tables.text_table(
            "Risk of the coefficients", ("squared bias", "variance", "mean squared error"), [line], foot
        )


def coefficient_risk(
    estimator,
    X,
    coef,
    *,
    noise: float,
    intercept: float = 0.0,
    n_repeats: int = 200,
    exact: bool = False,
    random_state=None,
) -> CoefficientRisk:
    r"""Decompose the mean squared error of the coefficients of a linear model over training sets with the design ``X``.

    .. math:: E\|\hat\theta - \theta^*\|^2 = \|E\hat\theta - \theta^*\|^2 + \operatorname{tr}\operatorname{Cov}\hat\theta, \qquad
              y = X \theta^* + \theta_0^* + \epsilon

    Guarantee: exact for estimators that are linear in the targets (least squares: bias 0, covariance :math:`\sigma^2 (X^\top X)^{-1}`);
    in a simulation, the identity also holds for the simulated draws.

    Parameters
    ----------
    estimator : linear regressor
        An estimator with ``coef_`` (and ``intercept_``) after ``fit``; it is cloned for each fit.
    X : array of shape (n, d)
        Design, fixed.
    coef : array of shape (d,)
        True coefficients.
    noise : float >= 0
        Standard deviation of the targets about the truth.
    intercept : float, default=0.0
        True intercept; it counts as a coefficient if the estimator fits one.
    n_repeats : int >= 2, default=200
        Number of simulated training sets, with normal noise, unless ``exact``.
    exact : bool, default=False
        Compute the numbers from fits to unit targets; raises an error if estimates are not linear in the targets.
    random_state : int or None, default=None
        Seed of the noise.

    Examples
    --------
    >>> from surefit import LinearRegression, coefficient_risk
    >>> risk = coefficient_risk(LinearRegression(), [[0.0], [1.0], [2.0]], [1.5], noise=1.0, exact=True)
    >>> round(risk.variance, 6), round(risk.squared_bias, 6)  # the trace of the inverse of X'X
    (1.333333, 0.0)
    """
    X, theta = np.asarray(X, dtype=np.float64), np.atleast_1d(np.asarray(coef, dtype=np.float64))
    if X.ndim != 2 or theta.shape != (X.shape[1],):
        raise InvalidData(
            f"coefficient_risk: coef must have one number per column of X; got {theta.shape} and {X.shape}."
        )
    if not (np.isfinite(noise) and noise >= 0):
        raise InvalidParameter("coefficient_risk", "noise", "a finite number >= 0", noise)
    if not (isinstance(n_repeats, (int, np.integer)) and n_repeats >= 2):
        raise InvalidParameter("coefficient_risk", "n_repeats", "an integer >= 2", n_repeats)
    mean, random = X @ theta + float(intercept), np.random.default_rng(random_state)
    truth = np.append(theta, float(intercept)) if getattr(estimator, "fit_intercept", False) else theta
    if exact:
        scale = 10 * (1 + float(np.max(np.abs(mean))) + noise)  # large enough to reveal thresholds
        base = _estimate(estimator, X, np.zeros(len(X)))
        A = np.stack([_estimate(estimator, X, scale * unit) - base for unit in np.eye(len(X))], axis=1) / scale
        probes = [mean, scale * random.standard_normal(len(X))]
        errors = [np.max(np.abs(_estimate(estimator, X, probe) - base - A @ probe)) for probe in probes]
        if max(errors) > LINEAR * scale * (1 + np.max(np.abs(A))):
            words = f"False: the coefficients of {type(estimator).__name__} are not linear in the targets"
            raise InvalidParameter("coefficient_risk", "exact", words, exact)
        return CoefficientRisk(truth, base + A @ mean - truth, noise**2 * (A @ A.T))
    drawn = np.stack([_estimate(estimator, X, mean + noise * random.standard_normal(len(X))) for _ in range(n_repeats)])
    return CoefficientRisk(truth, drawn.mean(axis=0) - truth, np.atleast_2d(np.cov(drawn.T, bias=True)), drawn)


def _estimate(estimator: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # warnings about simulated targets are irrelevant to the user
        model = clone(estimator).fit(X, y)
    w = np.ravel(np.asarray(model.coef_, dtype=np.float64))
    return np.append(w, np.ravel(model.intercept_)) if getattr(estimator, "fit_intercept", False) else w
