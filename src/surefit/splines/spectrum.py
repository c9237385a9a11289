"""Smoothing spline as a low-pass filter: eigenvalues of the hat matrix, their limit, and the truncated series."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, POSITIVE
from surefit.solvers.spline import Problem, starting_at, trace

MOST_KNOTS = 5000  # limit for a dense hat matrix of the cubic spline


def filter_factors(model) -> np.ndarray:
    r"""Return the eigenvalues of the hat matrix of a fitted :class:`surefit.SmoothingSpline`, largest first.

    The fit multiplies the component of the data along each eigenvector by its factor :math:`1 / (1 + S \lambda /
    \gamma_j)`, where :math:`\gamma_j` are the eigenvalues of the prior covariance. Smooth components are kept, and
    rough ones are damped. Factors of the general form start with one (degree 1) or two ones (degree 3). Their sum is
    ``edof_``. With weights w, the symmetric :math:`w^{1/2} H w^{-1/2}` is used, which has the same eigenvalues.

    Parameters
    ----------
    model : SmoothingSpline
        Fitted to one target.

    Returns
    -------
    ndarray of shape (n_distinct,)
        Factors from 1 down to 0.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import SmoothingSpline, filter_factors
    >>> x = np.arange(1, 51) / 50
    >>> model = SmoothingSpline(1, lam=1e-3, form="special").fit(x, np.sin(6 * x))
    >>> filter_factors(model)[[0, 1, 4]].round(5)
    array([0.99759, 0.97871, 0.83707])
    """
    check_is_fitted(model)
    if np.ndim(model.lam_):
        raise InvalidData("filter_factors: the model must be fitted to one target; fit one spline per target.")
    origin = float(model.origin) if model.form == "special" else None
    problem = starting_at(model.knots_, model.knot_weights_, model.degree, origin, float(model.knot_weights_.sum()))
    if model.degree == 3:
        return np.clip(linalg.eigvalsh(_symmetric_hat(problem, float(model.lam_)))[::-1], 0.0, 1.0)
    stiff = 1 / problem.gaps
    diagonal = np.append(stiff, 0.0) + np.concatenate([[0.0 if problem.lead < 0 else 1 / problem.lead], stiff])
    root = np.sqrt(problem.weights)
    values = linalg.eigvalsh_tridiagonal(diagonal / problem.weights, -stiff / (root[1:] * root[:-1]))
    return 1 / (1 + np.maximum(values, 0.0) / problem.rate(float(model.lam_)))


def _symmetric_hat(problem: Problem, lam: float) -> np.ndarray:
    n, root = len(problem.knots), np.sqrt(problem.weights)
    if n > MOST_KNOTS:
        raise InvalidData(f"filter_factors: a cubic spline must have at most {MOST_KNOTS} distinct x; got {n}.")
    hat = np.empty((n, n))
    for j in range(n):
        unit = np.zeros(n)
        unit[j] = 1.0
        hat[:, j] = root * trace(problem._replace(targets=unit), lam).values / root[j]
    return (hat + hat.T) / 2


def sine_filter_factors(lam, n_terms) -> np.ndarray:
    r"""Return :math:`1 / (1 + \lambda \pi^2 (j - \frac12)^2)`, j = 1, ..., ``n_terms``.

    This is the limit of :func:`filter_factors` of the special linear spline for equally spaced points on (0, 1]. The
    j-th factor belongs to :math:`\sqrt2 \sin((j - \frac12) \pi t)`.

    Parameters
    ----------
    lam : float > 0
        Weight of the penalty.
    n_terms : int >= 1
        Number of factors.

    Returns
    -------
    ndarray of shape (n_terms,)
        Factors.

    Examples
    --------
    >>> from surefit import sine_filter_factors
    >>> sine_filter_factors(1e-3, 5)[[0, 1, 4]].round(5)
    array([0.99754, 0.97828, 0.83343])
    """
    _require("sine_filter_factors", "lam", lam, POSITIVE)
    _require("sine_filter_factors", "n_terms", n_terms, COUNT)
    return 1 / (1 + float(lam) * (np.pi * (np.arange(1, n_terms + 1) - 0.5)) ** 2)


class SineSeries(NamedTuple):
    """Sum of ``coef[j - 1] * sqrt(2) * sin((j - 1/2) pi t)``."""

    coef: np.ndarray

    def predict(self, x) -> np.ndarray:
        """Return the sum at each point of ``x``."""
        return sines(np.asarray(x, dtype=np.float64).ravel(), len(self.coef)) @ self.coef


def sines(t: np.ndarray, n_terms: int) -> np.ndarray:
    """Return the first ``n_terms`` eigenfunctions of the min kernel on (0, 1), one per column."""
    return np.sqrt(2.0) * np.sin(np.outer(t, np.pi * (np.arange(1, n_terms + 1) - 0.5)))


def truncated_series(x, y, n_terms) -> SineSeries:
    r"""Project data on the first sine functions: an ideal low-pass filter with ``n_terms`` frequencies.

    The series is the least-squares fit on :math:`\sqrt2 \sin((j - \frac12) \pi t)`, :math:`j \le` ``n_terms``. The
    special linear spline applies a smooth filter (:func:`sine_filter_factors`) instead of this cutoff.

    Parameters
    ----------
    x : array of shape (n,)
        Points from 0 to 1.
    y : array of shape (n,)
        Targets.
    n_terms : int from 1 to n
        Number of functions.

    Returns
    -------
    SineSeries
        With ``coef`` and ``predict``.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import truncated_series
    >>> x = np.arange(1, 101) / 100
    >>> series = truncated_series(x, 3 * np.sqrt(2) * np.sin(1.5 * np.pi * x), 4)
    >>> (series.coef + 0.0).round(6) + 0.0
    array([0., 3., 0., 0.])
    """
    who = "truncated_series"
    x, y = np.asarray(x, dtype=np.float64).ravel(), np.asarray(y, dtype=np.float64).ravel()
    _require(who, "n_terms", n_terms, COUNT)
    if len(x) != len(y) or not len(x) or not np.all(np.isfinite(x) & (x >= 0) & (x <= 1)) or not np.isfinite(y).all():
        raise InvalidData(f"{who}: x must be points from 0 to 1 and y as many finite numbers; rescale x first.")
    if n_terms > len(np.unique(x)):
        raise InvalidParameter(who, "n_terms", f"at most the number of distinct x, {len(np.unique(x))}", n_terms)
    return SineSeries(linalg.lstsq(sines(x, int(n_terms)), y)[0])


def _require(who: str, name: str, value, rule) -> None:
    if not rule.allows(value):
        raise InvalidParameter(who, name, rule.words, value)
