"""Regression data with known regression functions: linear models, a polynomial, and a noisy line."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, NON_NEGATIVE
from surefit.data.points import Sample, require


def make_linear(
    n_samples: int = 100,
    n_features: int = 1,
    *,
    coef=None,
    intercept: float = 0.0,
    noise: float = 1.0,
    X=None,
    random_state=None,
) -> Sample:
    r"""Draw rows and targets from the Gaussian linear model :math:`y = \langle\theta, x\rangle + \theta_0 + \epsilon`.

    :math:`\epsilon \sim N(0, \sigma^2)` independently. Under this model least squares is maximum likelihood, unbiased, and has covariance
    :math:`\sigma^2 (X^\top X)^{-1}`.

    Parameters
    ----------
    n_samples : int >= 1, default=100
        Number of rows.
    n_features : int >= 1, default=1
        Number of columns.
    coef : array of shape (n_features,) or None, default=None
        :math:`\theta`; None draws standard normal numbers.
    intercept : float, default=0.0
        :math:`\theta_0`.
    noise : float >= 0, default=1.0
        Standard deviation :math:`\sigma`.
    X : array of shape (n_samples, n_features) or None, default=None
        Fixed design; None draws standard normal rows.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Sample
        ``truth`` has ``coef``, ``intercept``, ``noise`` and ``regression``, the function :math:`E[y | x]`.

    Examples
    --------
    >>> from surefit.data import make_linear
    >>> X, y, truth = make_linear(coef=[2.0], intercept=10.0, noise=0.0, X=[[0.0], [1.0], [2.0]])
    >>> y, truth["intercept"]
    (array([10., 12., 14.]), 10.0)
    """
    require("make_linear", n_samples=(n_samples, COUNT), n_features=(n_features, COUNT), noise=(noise, NON_NEGATIVE))
    random = check_random_state(random_state)
    if X is not None:
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2:
            raise InvalidData(
                f"make_linear: X must have two dimensions; got {X.ndim}. Pass a single column as X[:, None]."
            )
        n_samples, n_features = X.shape
    elif coef is not None:
        n_features = np.size(coef)
    X = random.standard_normal((n_samples, n_features)) if X is None else X
    theta = random.standard_normal(n_features) if coef is None else np.atleast_1d(np.asarray(coef, dtype=np.float64))
    if theta.shape != (n_features,):
        raise InvalidData(f"make_linear: coef must have one number per column, {n_features}; got {theta.shape}.")
    truth = {
        "coef": theta,
        "intercept": float(intercept),
        "noise": float(noise),
        "regression": lambda x: np.asarray(x, dtype=np.float64) @ theta + float(intercept),
    }
    return Sample(X, X @ theta + float(intercept) + float(noise) * random.standard_normal(n_samples), truth)


def make_polynomial(
    n_samples: int = 10,
    *,
    coefficients=(3.0, -2.0, 4.0),
    noise: float = 1.0,
    low: float = -2.0,
    high: float = 2.0,
    random_state=None,
) -> Sample:
    r"""Return equally spaced points and a noisy polynomial, by default :math:`y = 4x^2 - 2x + 3 + \epsilon` on [-2, 2].

    A line underfits (it predicts 5.92 instead of 12.36 at 1.8), a parabola is correct, and degree 9 interpolates the 10
    points. The interpolant is unbiased, with a standard deviation of 6.6 at 1.8.

    Parameters
    ----------
    n_samples : int >= 2, default=10
        Number of rows, including both ends.
    coefficients : sequence of float, default=(3.0, -2.0, 4.0)
        Coefficients of :math:`1, x, x^2, \dots`
    noise : float >= 0, default=1.0
        Standard deviation of the noise.
    low, high : float, default=-2.0 and 2.0
        Ends of the interval.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Sample
        ``truth`` has ``coefficients``, ``degree``, ``noise`` and ``regression``.

    Examples
    --------
    >>> from surefit.data import make_polynomial
    >>> X, y, truth = make_polynomial(noise=0.0)
    >>> X.shape, round(float(truth["regression"](1.8)), 2)
    ((10, 1), 12.36)
    """
    require("make_polynomial", n_samples=(n_samples, COUNT), noise=(noise, NON_NEGATIVE))
    if n_samples < 2 or not low < high:
        raise InvalidParameter(
            "make_polynomial", "n_samples, low, high", "2 rows or more and low < high", (n_samples, low, high)
        )
    polynomial = np.polynomial.Polynomial(np.asarray(coefficients, dtype=np.float64))
    x = np.linspace(low, high, n_samples)
    y = polynomial(x) + float(noise) * check_random_state(random_state).standard_normal(n_samples)
    truth = {
        "coefficients": polynomial.coef,
        "degree": polynomial.degree(),
        "noise": float(noise),
        "regression": lambda x: polynomial(np.asarray(x, dtype=np.float64)),
    }
    return Sample(x[:, None], y, truth)


def make_degree10(
    *, moved: bool = False, slope: float = 2.0, intercept: float = 10.0, noise: float = 2.0, random_state=0
) -> Sample:
    r"""Return eleven points of the noisy line :math:`y = 2x + 10` at -5, ..., 5, which a degree-10 polynomial overfits.

    The middle point is (0, 13). Moving it to (0, 8) changes the straight-line fit by at most 0.4545 and the polynomial
    of degree 10 by up to 30.7.

    Parameters
    ----------
    moved : bool, default=False
        Whether the middle point is (0, 8) instead of (0, 13); the others are the same for the same seed.
    slope, intercept : float, default=2.0 and 10.0
        The line.
    noise : float >= 0, default=2.0
        Standard deviation of the noise of the other ten points.
    random_state : int, RandomState or None, default=0
        Seed.

    Returns
    -------
    Sample
        ``truth`` has ``coef``, ``intercept``, ``noise``, ``regression`` and ``moved_row``, the row of x = 0.

    Examples
    --------
    >>> from surefit.data import make_degree10
    >>> X, y, truth = make_degree10()
    >>> print(y[truth["moved_row"]], make_degree10(moved=True).y[truth["moved_row"]])
    13.0 8.0
    """
    require("make_degree10", noise=(noise, NON_NEGATIVE))
    X = np.arange(-5.0, 6.0)[:, None]
    X, y, truth = make_linear(coef=[slope], intercept=intercept, noise=noise, X=X, random_state=random_state)
    y[5] = 8.0 if moved else 13.0
    return Sample(X, y, {**truth, "moved_row": 5})
