r"""Estimates of the risk that are not bounds: leave-one-out, BIC, evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, NON_NEGATIVE, REAL, one_of


@dataclass(frozen=True)
class Estimate:
    """Number that estimates a risk or ranks models, with the reason why it is not a bound.

    Examples
    --------
    >>> from surefit.bounds import leave_one_out_limit
    >>> leave_one_out_limit(3, 12)
    estimate, not a bound: leave-one-out error, at most 0.25 (unbiased for n - 1 rows, variance unknown)
    """

    name: str
    value: float
    about: str
    caveat: str

    @property
    def statement(self) -> str:
        """The estimate as one sentence."""
        return f"estimate, not a bound: {self.about} {self.value:.4g} ({self.caveat})"

    def __repr__(self) -> str:
        return self.statement


def leave_one_out_limit(n_support: int, n: int) -> Estimate:
    r"""Return the bound :math:`N / n` on the leave-one-out error of a support vector machine with N support vectors.

    Removing a row that is not a support vector does not change the model, so the row stays correctly classified. The
    inequality is exact; the leave-one-out error itself only *estimates* the risk (of a model with one row fewer), and
    its variance is not controlled.

    Examples
    --------
    >>> from surefit.bounds import leave_one_out_limit
    >>> leave_one_out_limit(3, 4).value
    0.75
    """
    if not COUNT.allows(n) or not (n_support == 0 or COUNT.allows(n_support)) or n_support > n:
        raise InvalidParameter("leave_one_out_limit", "n_support", f"an integer from 0 to n = {n}", n_support)
    caveat = "unbiased for n - 1 rows, variance unknown"
    return Estimate("leave_one_out", n_support / n, "leave-one-out error, at most", caveat)


def generalized_cross_validation(mean_square: float, n: int, degrees_of_freedom: float) -> Estimate:
    r"""Return the GCV estimate of the mean squared error on new data for a linear smoother: :math:`\bar r^2 / (1 - \mathrm{df}/n)^2`.

    It is the mean squared leave-one-out residual with every leverage replaced by the mean leverage :math:`\mathrm{df}/n`. The two are
    equal if all rows have the same leverage.

    Parameters
    ----------
    mean_square : float >= 0
        Mean squared residual on the training rows.
    n : int >= 1
        Number of rows.
    degrees_of_freedom : float >= 0
        Trace of the matrix that maps targets to fitted values; must be less than ``n``.

    Examples
    --------
    For the mean of three numbers, leaving one out multiplies each residual by 3/2:

    >>> from surefit.bounds import generalized_cross_validation
    >>> round(generalized_cross_validation(2 / 3, 3, 1).value, 12)
    1.5
    """
    who = "generalized_cross_validation"
    if not NON_NEGATIVE.allows(mean_square):
        raise InvalidParameter(who, "mean_square", NON_NEGATIVE.words, mean_square)
    if not COUNT.allows(n) or not 0 <= degrees_of_freedom < n:
        raise InvalidParameter(who, "degrees_of_freedom", f"a number from 0 to less than n = {n}", degrees_of_freedom)
    value = mean_square / (1 - degrees_of_freedom / n) ** 2
    caveat = f"generalized cross-validation, {degrees_of_freedom:.4g} degrees of freedom in {n} rows"
    return Estimate("gcv", value, "mean squared error on new data", caveat)


def bic(log_likelihood: float, n_params: int, n: int, convention: str = "minimize") -> Estimate:
    r"""Return the Bayesian information criterion :math:`-2\ell + d \ln n` (minimize) or :math:`\ell - \frac d2 \ln n` (maximize).

    The second form is the first divided by -2. It approximates the log evidence up to a constant that does not vanish.

    Parameters
    ----------
    log_likelihood : float
        Maximized log-likelihood.
    n_params, n : int
        Free parameters and rows.
    convention : {"minimize", "maximize"}
        Sign and scale.

    Examples
    --------
    >>> import math
    >>> from surefit.bounds import bic
    >>> simple, complex_ = bic(-100.0, 3, 10**6, "maximize"), bic(-50.0, 6, 10**6, "maximize")
    >>> complex_.value > simple.value, 10**6 < math.exp(100 / 3)
    (True, True)
    """
    rule = one_of("minimize", "maximize")
    if not rule.allows(convention):
        raise InvalidParameter("bic", "convention", rule.words, convention)
    if not REAL.allows(log_likelihood):
        raise InvalidParameter("bic", "log_likelihood", REAL.words, log_likelihood)
    if not COUNT.allows(n) or not (n_params == 0 or COUNT.allows(n_params)):
        raise InvalidParameter("bic", "n_params, n", "integers, n_params >= 0 and n >= 1", (n_params, n))
    score = log_likelihood - 0.5 * n_params * math.log(n)
    value = score if convention == "maximize" else -2 * score
    return Estimate(
        "bic", value, f"BIC ({convention})", "its difference from the log evidence is bounded but does not vanish"
    )


def model_probabilities(log_evidences: Any, log_priors: Any = None) -> np.ndarray:
    """Return the posterior probabilities of models from their log evidences (or BIC, maximize convention), computed stably.

    Examples
    --------
    >>> from surefit.bounds import model_probabilities
    >>> model_probabilities([-1000.0, -1000.0, -1004.0]).round(4).tolist()
    [0.4955, 0.4955, 0.0091]
    """
    scores = np.asarray(log_evidences, dtype=np.float64)
    if scores.ndim != 1 or len(scores) == 0 or np.any(np.isnan(scores)) or not np.isfinite(scores.max()):
        raise InvalidData("model_probabilities: log_evidences must be a vector of numbers, the largest one finite.")
    if log_priors is not None:
        scores = scores + np.asarray(log_priors, dtype=np.float64)
    weights = np.exp(scores - scores.max())
    return weights / math.fsum(weights)
