r"""Standard errors, t tests and intervals of least squares, exact for independent normal noise of equal variance.

The estimates have covariance :math:`\sigma^2 (\tilde X^\top S \tilde X)^{-1}`; with the unbiased variance of the
residuals plugged in, the ratio of an estimate's error to its standard error follows Student's t distribution with
:math:`S - d - 1` degrees of freedom.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from scipy import stats

from surefit.core import tables
from surefit.core.errors import DataWarning, InvalidParameter, SurefitError
from surefit.linear.least_squares.design_report import INFLATED


@dataclass(frozen=True, eq=False, repr=False)
class CoefficientTable:
    """Inference about least-squares coefficients; one entry per coefficient, the intercept first.

    Attributes
    ----------
    names, estimates, standard_errors, t, p_values, low, high
        One entry per coefficient; ``low`` and ``high`` are the ends of the intervals at ``confidence``.
    covariance : ndarray
        Estimated covariance of the estimates.
    degrees_of_freedom, confidence : float
        Degrees of freedom of Student's t distribution, and the confidence level of each interval.
    """

    names: list
    estimates: np.ndarray
    covariance: np.ndarray
    degrees_of_freedom: float
    confidence: float

    @property
    def standard_errors(self) -> np.ndarray:
        """Square roots of the estimated variances."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def t(self) -> np.ndarray:
        """Estimates divided by their standard errors."""
        return self.estimates / self.standard_errors

    @property
    def p_values(self) -> np.ndarray:
        """Two-sided p-values of the hypothesis that a coefficient is zero."""
        return 2 * stats.t.sf(np.abs(self.t), self.degrees_of_freedom)

    @property
    def _reach(self) -> np.ndarray:
        return stats.t.ppf(0.5 + 0.5 * self.confidence, self.degrees_of_freedom) * self.standard_errors

    @property
    def low(self) -> np.ndarray:
        """Lower ends of the confidence intervals."""
        return self.estimates - self._reach

    @property
    def high(self) -> np.ndarray:
        """Upper ends of the confidence intervals."""
        return self.estimates + self._reach

    def __repr__(self) -> str:
        return tables.text_table(*self._parts())

    def _repr_html_(self) -> str:
        return tables.html_table(*self._parts())

    def _parts(self):
        header = ("coefficient", "estimate", "standard error", "t", "p", f"{self.confidence:.0%} interval")
        columns = (self.names, self.estimates, self.standard_errors, self.t, self.p_values, self.low, self.high)
        lines = [
            (name, f"{e:.4g}", f"{s:.3g}", f"{t:.2f}", f"{p:.2g}", f"{low:.4g} to {high:.4g}")
            for name, e, s, t, p, low, high in zip(*columns, strict=True)
        ]
        foot = f"Exact if the noise is independent, normal and of one variance; {self.degrees_of_freedom:g} degrees of freedom."
        return "Inference about least-squares coefficients", header, lines, foot


def coefficient_table(model, confidence: float, target: int) -> CoefficientTable:
    """Return the coefficient table of one target, or raise an error that explains why it is not available."""
    who = type(model).__name__
    if not (isinstance(confidence, (int, float)) and 0 < confidence < 1):
        raise InvalidParameter(who, "confidence", "a number between 0 and 1", confidence)
    W = np.atleast_2d(model.coef_)
    if not (isinstance(target, (int, np.integer)) and 0 <= target < len(W)):
        raise InvalidParameter(who, "target", f"an integer from 0 to {len(W) - 1}", target)
    if not model.degrees_of_freedom_ > 0:
        raise SurefitError(f"{who}: no standard errors: there are no more rows than coefficients; collect more rows.")
    covariance = model._covariance() * float(np.ravel(model.residual_variance_)[target])
    _warn_if_inflated(who, model)
    names = list(getattr(model, "feature_names_in_", [f"x{j}" for j in range(W.shape[1])]))
    estimates = W[target]
    if model.fit_intercept:
        names, estimates = ["intercept", *names], np.append(np.ravel(model.intercept_)[target], estimates)
    return CoefficientTable(names, estimates, covariance, model.degrees_of_freedom_, float(confidence))


def _warn_if_inflated(who: str, model) -> None:
    """Warn if nearly dependent columns inflate the standard errors too much."""
    C = model._covariance()
    C = C[1:, 1:] if model.fit_intercept else C
    inflation = np.diag(C) * np.diag(np.linalg.inv(C)) if len(C) else np.ones(1)
    if inflation.max() > INFLATED:
        column = int(np.argmax(inflation))
        warnings.warn(
            f"{who}: the standard error of column {column} is {math.sqrt(inflation.max()):.2g} times what it would be without the other "
            "columns, which nearly determine it; drop columns, or use Ridge.",
            DataWarning,
            stacklevel=4,
        )


def log_likelihood(sigma2: np.ndarray, total: float) -> float:
    """Return the maximized normal log-likelihood, ``-S/2 (log(2 pi sigma2) + 1)`` summed over the targets."""
    if np.any(sigma2 <= 0):
        return math.inf
    return float(-0.5 * total * np.sum(np.log(2 * math.pi * sigma2) + 1))
