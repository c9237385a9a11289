"""Bias, variance and error along a complexity parameter, and the interpolation peak of least squares."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.core.validation import COUNT
from surefit.linear.least_squares.regressor import LinearRegression
from surefit.linear.ridge.regressor import Ridge
from surefit.selection.bias_variance import bias_variance


class BiasVarianceSweep(NamedTuple):
    """Means over the points, one entry per value of the parameter; ``error`` is the sum of the other three."""

    values: tuple
    squared_bias: np.ndarray
    variance: np.ndarray
    noise: np.ndarray
    error: np.ndarray

    @property
    def best(self) -> Any:
        """Value with the smallest expected error."""
        return self.values[int(np.argmin(self.error))]


def bias_variance_sweep(
    estimators: Mapping, X, truth, *, noise: float, at=None, n_repeats: int = 200, exact: bool = False, random_state=0
) -> BiasVarianceSweep:
    """Decompose the expected squared error of learners of increasing complexity, with :func:`surefit.bias_variance`.

    Guarantee: for ridge with a fixed design, the variance never increases and the squared bias never decreases with the penalty.

    Parameters
    ----------
    estimators : dict
        Learner for each value of the parameter (a degree, a penalty, a depth), in order.
    X, truth, noise, at, n_repeats, exact
        As for :func:`surefit.bias_variance`.
    random_state : int, default=0
        Seed; all learners use the same noise.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import Ridge, bias_variance_sweep
    >>> X = np.arange(-2.0, 3.0)[:, None]
    >>> models = {alpha: Ridge(alpha, penalize_intercept=True) for alpha in (1e-9, 1.0, 10.0)}
    >>> sweep = bias_variance_sweep(models, X, lambda x: 1 + 2 * x[:, 0], noise=1.0, at=[[3.0]], exact=True)
    >>> sweep.variance.round(6), sweep.squared_bias.round(6)
    (array([1.1     , 0.882691, 0.247222]), array([ 0.      ,  0.507117, 13.444444]))
    """
    if not estimators:
        raise InvalidData(
            "bias_variance_sweep: estimators is empty; pass a dictionary from parameter values to estimators."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        parts = [
            bias_variance(
                model, X, truth, noise=noise, at=at, n_repeats=n_repeats, exact=exact, random_state=random_state
            )
            for model in estimators.values()
        ]
    means = [
        np.array([float(np.mean(getattr(p, name))) for p in parts])
        for name in ("squared_bias", "variance", "noise", "error")
    ]
    return BiasVarianceSweep(tuple(estimators), *means)


class InterpolationStudy(NamedTuple):
    """Mean test error of least squares and of ridge by the number of columns."""

    widths: np.ndarray
    n_samples: int
    least_squares: np.ndarray  # (widths,), mean over the repeats
    ridge: np.ndarray

    @property
    def peak(self) -> int:
        """Number of columns with the largest least-squares error."""
        return int(self.widths[int(np.argmax(self.least_squares))])


def interpolation_study(
    n_samples: int = 40, widths: Sequence[int] = (5, 20, 35, 40, 45, 60, 120), *, noise: float = 0.5, alpha: float = 1.0,
    repeats: int = 10, random_state: int = 0,
) -> InterpolationStudy:  # fmt: skip
    """Measure the test error of minimum-norm least squares as the number of columns passes the number of rows.

    Targets are linear in all columns of the widest design, with noise; each width uses the first columns. If there are about as many
    coefficients as rows, the model interpolates and its error on new data is very large; the error of ridge is not.
    This is an illustration, not a theorem.

    Parameters
    ----------
    n_samples : int >= 2, default=40
        Training rows.
    widths : sequence of int, default=(5, 20, 35, 40, 45, 60, 120)
        Numbers of columns.
    noise : float >= 0, default=0.5
        Standard deviation of the noise.
    alpha : float > 0, default=1.0
        Penalty of ridge.
    repeats : int >= 1, default=10
        Training sets per width.
    random_state : int, default=0
        Seed.

    Examples
    --------
    >>> from surefit import interpolation_study
    >>> study = interpolation_study(repeats=5)
    >>> study.peak, bool(study.least_squares.max() > 5 * study.ridge.max())
    (40, True)
    """
    if (
        not COUNT.allows(n_samples)
        or n_samples < 2
        or not COUNT.allows(repeats)
        or not all(COUNT.allows(int(w)) for w in widths)
    ):
        words = "integers >= 1 (two rows or more)"
        raise InvalidParameter("interpolation_study", "n_samples, widths, repeats", words, (n_samples, widths, repeats))
    rng, most = np.random.default_rng(random_state), max(widths)
    errors = np.zeros((2, len(widths)))
    for _ in range(repeats):
        coef = rng.standard_normal(most) / np.sqrt(most)
        X, X_test = rng.standard_normal((n_samples, most)), rng.standard_normal((500, most))
        y = X @ coef + noise * rng.standard_normal(n_samples)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # interpolation is intended here
            for j, width in enumerate(widths):
                for i, model in enumerate((LinearRegression(fit_intercept=False), Ridge(alpha, fit_intercept=False))):
                    fitted = model.fit(X[:, :width], y)
                    errors[i, j] += np.mean((X_test @ coef - fitted.predict(X_test[:, :width])) ** 2) / repeats
    return InterpolationStudy(np.asarray(widths), int(n_samples), errors[0], errors[1])
