"""Feature maps of the Gaussian kernel: the terms of its power series, and Gaussian densities."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammainc

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, POSITIVE
from surefit.kernels.polynomial import monomials

MOST = 100_000  # largest number of features


def gaussian_features(X, degree: int, gamma: float = 0.5) -> np.ndarray:
    r"""Return the features of :math:`\exp(-\gamma\|x - x'\|^2)` up to a degree.

    .. math:: \phi_k(x) = e^{-\gamma \|x\|^2} \prod_i \sqrt{\frac{(2\gamma)^{k_i}}{k_i!}}\, x_i^{k_i}, \qquad |k| \le J

    This follows from :math:`e^{-\gamma\|x\|^2} e^{2\gamma\langle x, x'\rangle} e^{-\gamma\|x'\|^2}` and the exponential
    series. Guarantee: inner products approximate the kernel with the error bounded by
    :func:`surefit.kernels.gaussian_features_error`.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows.
    degree : int >= 1
        Largest total degree J.
    gamma : float > 0, default=0.5
        Factor of the squared distance.

    Examples
    --------
    >>> from surefit.kernels import RBF, gaussian_features
    >>> F = gaussian_features([[0.3], [-0.9]], 10)
    >>> round(float(F[0] @ F[1]), 9) == round(float(RBF(gamma=0.5)([[0.3], [-0.9]])[0, 1]), 9)
    True
    """
    X = _read("gaussian_features", X, gamma)
    if not COUNT.allows(degree):
        raise InvalidParameter("gaussian_features", "degree", COUNT.words, degree)
    d = X.shape[1]
    if math.comb(d + degree, degree) > MOST:
        raise InvalidParameter(
            "gaussian_features", "degree", f"an integer that gives at most {MOST} features for {d} columns", degree
        )
    envelope, columns = np.exp(-gamma * np.sum(X**2, axis=1)), []
    for power in (each for k in range(degree + 1) for each in monomials(d, k)):
        column = envelope.copy()
        for j, exponent in power.items():
            column *= X[:, j] ** exponent * math.exp(0.5 * (exponent * math.log(2 * gamma) - math.lgamma(exponent + 1)))
        columns.append(column)
    return np.column_stack(columns)


def gaussian_features_error(X, Y, degree: int, gamma: float = 0.5) -> np.ndarray:
    r"""Bound the error of :func:`surefit.kernels.gaussian_features` for each pair of rows.

    .. math:: |k(x, y) - \langle\phi(x), \phi(y)\rangle| \le e^{-\gamma(\|x\|^2 + \|y\|^2)} \sum_{j > J}
              \frac{|2\gamma\langle x, y\rangle|^j}{j!}

    Examples
    --------
    >>> from surefit.kernels import gaussian_features_error
    >>> bool(gaussian_features_error([[0.3]], [[-0.9]], 10)[0, 0] < 1e-13)
    True
    """
    X, Y = _read("gaussian_features_error", X, gamma), _read("gaussian_features_error", Y, gamma)
    t = np.abs(2 * gamma * (X @ Y.T))
    # sum over j > J of t^j / j! is e^t times the regularized incomplete gamma function of (J + 1, t)
    shift = t - gamma * (np.sum(X**2, axis=1)[:, None] + np.sum(Y**2, axis=1))
    return np.exp(shift) * gammainc(int(degree) + 1, t)


def gaussian_density_feature(x, z, gamma: float = 0.5) -> np.ndarray:
    r"""Return the feature :math:`z \mapsto c\, N(z; x, \tfrac{1}{4\gamma} I)` of the Gaussian kernel, :math:`c^4 = (\pi/\gamma)^d`.

    With :math:`\beta = 2\gamma` the covariance is :math:`1/(2\beta)` and :math:`c^2 = (2\pi/\beta)^{d/2}`. Guarantee: the integral of the
    product of two such features is the kernel; see :func:`surefit.kernels.gaussian_density_product`.

    Parameters
    ----------
    x : array of shape (d,)
        The element.
    z : array of shape (m, d)
        Points at which the feature is evaluated.
    gamma : float > 0, default=0.5
        Factor of the squared distance.

    Examples
    --------
    >>> from surefit.kernels import gaussian_density_feature
    >>> gaussian_density_feature([0.0], [[0.0], [1.0]]).round(4)
    array([0.8932, 0.3286])
    """
    x = np.atleast_1d(np.asarray(x, dtype=np.float64))
    z = _read("gaussian_density_feature", z, gamma)
    if z.shape[1] != len(x):
        raise InvalidData(f"gaussian_density_feature: z needs {len(x)} columns; got {z.shape[1]}.")
    d = len(x)
    log_c = 0.25 * d * math.log(math.pi / gamma)
    log_norm = 0.5 * d * math.log(2 * gamma / math.pi)
    return np.exp(log_c + log_norm - 2 * gamma * np.sum((z - x) ** 2, axis=1))


def gaussian_density_product(x, y, gamma: float = 0.5) -> float:
    r"""Integrate the product of two feature functions of the Gaussian kernel by the trapezoidal rule, column by column.

    Examples
    --------
    >>> from surefit.kernels import gaussian_density_product
    >>> round(gaussian_density_product([0.3], [-0.9], gamma=1.7 / 2), 7)
    0.2940516
    """
    x, y = (np.atleast_1d(np.asarray(v, dtype=np.float64)) for v in (x, y))
    total = 1.0
    for a, b in zip(x, y, strict=True):  # the integrand is a product over the columns
        reach = 9 / math.sqrt(4 * gamma)
        grid = np.linspace(min(a, b) - reach, max(a, b) + reach, 4001)
        product = gaussian_density_feature([a], grid[:, None], gamma) * gaussian_density_feature(
            [b], grid[:, None], gamma
        )
        total *= float(np.trapezoid(product, grid))
    return total


def _read(who: str, X, gamma: float) -> np.ndarray:
    if not POSITIVE.allows(gamma):
        raise InvalidParameter(who, "gamma", POSITIVE.words, gamma)
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise InvalidData(
            f"{who}: expected an array with two dimensions; got {X.ndim}. Pass a single column as X[:, None]."
        )
    return X
