r"""Exact bias, variance and mean squared error of ridge regression for known true coefficients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit.core.errors import InvalidData, InvalidParameter


class RidgeRisk(NamedTuple):
    """Squared bias, variance and their sum, the mean squared error, as functions of ``alphas``.

    Attributes
    ----------
    alphas, squared_bias, variance, mse : ndarray of shape (n_alphas,)
        The penalties and the three curves.
    best_alpha : float
        Penalty in ``alphas`` with the smallest mean squared error.
    """

    alphas: np.ndarray
    squared_bias: np.ndarray
    variance: np.ndarray
    mse: np.ndarray

    @property
    def best_alpha(self) -> float:
        """Penalty in ``alphas`` with the smallest mean squared error."""
        return float(self.alphas[np.argmin(self.mse)])


def ridge_risk(X, alphas, *, truth, sigma2: float, at=None) -> RidgeRisk:
    r"""Return the exact bias-variance curves of ridge regression for a fixed design and known true coefficients.

    With :math:`y = X w^* + \epsilon`, uncorrelated noise of variance :math:`\sigma^2`, :math:`G = X^\top X` and
    :math:`M = (G + \alpha I)^{-1}`, the estimate has bias :math:`-\alpha M w^*` and covariance :math:`\sigma^2 M G M`,
    so

    .. math:: E\|\hat w - w^*\|^2 = \sigma^2\, \mathrm{tr}(M G M) + \alpha^2\, w^{*\top} M^2 w^* .

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Design matrix, used without centering; for an intercept, append a column of ones, which is then penalized too.
    alphas : array of numbers >= 0
        Penalties; 0 requires linearly independent columns.
    truth : array of shape (n_features,)
        True coefficients :math:`w^*`.
    sigma2 : float >= 0
        Noise variance.
    at : array of shape (n_features,) or None, default=None
        If given, the curves refer to the prediction at this point instead of the coefficients.

    Returns
    -------
    RidgeRisk

    Examples
    --------
    Two points at -1 and 1 with an intercept: the best penalty is :math:`2\sigma^2 / \|w^*\|^2`.

    >>> from surefit import ridge_risk
    >>> risk = ridge_risk([[-1, 1], [1, 1]], [0, 0.5, 2, 4.8], truth=[1, 0.5], sigma2=3)
    >>> risk.mse.round(6)
    array([3.      , 1.97    , 1.0625  , 0.882353])
    >>> risk.best_alpha
    4.8
    """
    X, w = np.asarray(X, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    alphas = np.ravel(np.asarray(alphas, dtype=np.float64))
    if X.ndim != 2 or w.shape != (X.shape[1],):
        raise InvalidData(
            f"ridge_risk: truth must have one number per column of X; got shapes {w.shape} and {X.shape}."
        )
    if not len(alphas) or not np.all((alphas >= 0) & np.isfinite(alphas)):
        raise InvalidParameter("ridge_risk", "alphas", "finite numbers >= 0", alphas)
    if not (np.isfinite(sigma2) and sigma2 >= 0):
        raise InvalidParameter("ridge_risk", "sigma2", "a finite number >= 0", sigma2)
    values, V = linalg.eigh(X.T @ X)
    values = np.maximum(values, 0.0)
    if np.any(alphas == 0) and values[0] <= max(X.shape) * np.finfo(float).eps * values[-1]:
        raise InvalidParameter("ridge_risk", "alphas", "numbers > 0, the columns of X being dependent", 0)
    shrink = 1 / (values[:, None] + alphas)
    along = V.T @ w
    if at is None:
        squared_bias = alphas**2 * (along[:, None] ** 2 * shrink**2).sum(axis=0)
        variance = sigma2 * (values[:, None] * shrink**2).sum(axis=0)
    else:
        v = V.T @ np.asarray(at, dtype=np.float64)
        squared_bias = (alphas * ((v * along)[:, None] * shrink).sum(axis=0)) ** 2
        variance = sigma2 * ((v**2 * values)[:, None] * shrink**2).sum(axis=0)
    return RidgeRisk(alphas, squared_bias, variance, squared_bias + variance)
