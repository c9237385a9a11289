"""Bias, variance and noise of a learner at given points, if the true function is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from surefit.core import tables
from surefit.core.errors import InvalidData, InvalidParameter

LINEAR = 1e-6  # relative difference up to which a learner counts as linear in the targets


@dataclass(frozen=True, eq=False, repr=False)
class BiasVariance:
    """Decomposition of the expected squared error, one entry per point; ``error`` is the sum of the other three.

    Attributes
    ----------
    squared_bias, variance, noise, error : ndarray of shape (n_points,)
        The terms, and their sum.
    bias : ndarray of shape (n_points,)
        Mean prediction minus truth.
    standard_error : ndarray of shape (n_points,)
        Monte Carlo standard error of ``bias``; zero if the numbers are exact.
    predictions : ndarray of shape (n_repeats, n_points) or None
        Predictions of the fits, if any were simulated.
    """

    bias: np.ndarray
    variance: np.ndarray
    noise: np.ndarray
    standard_error: np.ndarray
    predictions: np.ndarray | None = None

    @property
    def squared_bias(self) -> np.ndarray:
        """Square of the bias."""
        return self.bias**2

    @property
    def error(self) -> np.ndarray:
        """Expected squared error for a new observation."""
        return self.squared_bias + self.variance + self.noise

    def __repr__(self) -> str:
        header = ("", "squared bias", "variance", "noise", "error")
        parts = (self.squared_bias, self.variance, self.noise, self.error)
        line = ("mean over points", *(f"{np.mean(part):.4g}" for part in parts))
        foot = "exact: the learner is linear in the targets." if self.predictions is None else "Monte-Carlo."
        return tables.text_table("Bias and variance", header, [line], foot)


def bias_variance(
    estimator, X, truth, *, noise, at=None, n_repeats=200, exact=False, random_state=None
) -> BiasVariance:
    r"""Decompose the expected squared error of a learner over training sets with the design ``X``.

    .. math:: E (y - \hat f(x))^2 = \underbrace{(E \hat f(x) - f(x))^2}_{\text{bias}^2} + \mathrm{Var}\, \hat f(x) + \sigma^2 .

    Parameters
    ----------
    estimator : regressor
        Any regressor; it is cloned for each fit.
    X : array of shape (n_rows, n_features)
        Training inputs, fixed.
    truth : callable
        The true function :math:`f`, which maps an array of rows to one number per row.
    noise : float >= 0
        Standard deviation :math:`\sigma` of the targets about the truth.
    at : array of shape (n_points, n_features) or None, default=None
        Points of evaluation; None: the training rows.
    n_repeats : int >= 2, default=200
        Number of simulated training sets, with normal noise, unless ``exact``.
    exact : bool, default=False
        Compute the numbers from the learner's hat matrix, column by column. This is correct for learners that are linear in the targets
        (least squares, ridge, splines, on any basis) and raises an error for others. The noise need not be normal in
        this case.
    random_state : int or None, default=None
        Seed of the noise.

    Returns
    -------
    BiasVariance

    Examples
    --------
    Ridge on the points -2 to 2, for the true function 1 + 2x, at x = 3:

    >>> import numpy as np
    >>> from surefit import Ridge, bias_variance
    >>> X = np.arange(-2.0, 3.0)[:, None]
    >>> parts = bias_variance(
    ...     Ridge(1.0, penalize_intercept=True), X, lambda x: 1 + 2 * x[:, 0], noise=1.0, at=[[3.0]], exact=True
    ... )
    >>> print(parts.bias.round(6), parts.variance.round(6), parts.error.round(5))
    [-0.712121] [0.882691] [2.38981]
    """
    X = np.asarray(X, dtype=np.float64)
    at = X if at is None else np.asarray(at, dtype=np.float64)
    if X.ndim != 2 or at.ndim != 2 or at.shape[1] != X.shape[1]:
        raise InvalidData(
            f"bias_variance: X and at must be tables with the same columns; got {X.shape} and {at.shape}."
        )
    if not (np.isfinite(noise) and noise >= 0):
        raise InvalidParameter("bias_variance", "noise", "a finite number >= 0", noise)
    if not (isinstance(n_repeats, (int, np.integer)) and n_repeats >= 2):
        raise InvalidParameter("bias_variance", "n_repeats", "an integer >= 2", n_repeats)
    f, goal = (np.asarray(truth(rows), dtype=np.float64).reshape(len(rows)) for rows in (X, at))
    random = np.random.default_rng(random_state)
    noises = np.full(len(at), float(noise) ** 2)

    def predict(y):
        return np.asarray(clone(estimator).fit(X, y).predict(at), dtype=np.float64).ravel()

    if exact:
        base = predict(np.zeros(len(X)))
        H = np.stack([predict(row) - base for row in np.eye(len(X))], axis=1)
        probe = random.standard_normal(len(X))
        straight, found = base + H @ probe, predict(probe)
        if np.max(np.abs(found - straight)) > LINEAR * (1 + np.max(np.abs(found))):
            raise InvalidParameter(
                "bias_variance", "exact", f"False: {type(estimator).__name__} is not linear in the targets", exact
            )
        return BiasVariance(base + H @ f - goal, noise**2 * (H**2).sum(axis=1), noises, np.zeros(len(at)))
    drawn = np.stack([predict(f + noise * random.standard_normal(len(X))) for _ in range(n_repeats)])
    variance = drawn.var(axis=0)
    return BiasVariance(drawn.mean(axis=0) - goal, variance, noises, np.sqrt(variance / (n_repeats - 1)), drawn)
