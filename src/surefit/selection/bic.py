"""Bayesian information criterion and Bayes factors."""

from __future__ import annotations

import math

from surefit.core.errors import InvalidParameter


def bic(log_likelihood: float, n_parameters: int, n_rows: float, *, convention: str = "larger") -> float:
    r"""Return the Bayesian information criterion (Schwarz).

    .. math:: \ell(\hat\theta) - \frac d2 \ln n \quad (\text{larger is better}), \qquad -2\ell + d \ln n \quad (\text{smaller is better})

    Guarantee: divided by n, the criterion converges to the log evidence divided by n. The difference between the
    criterion and the log evidence stays bounded but does *not* converge to zero (theory: :ref:`laplace-approximation`).

    Parameters
    ----------
    log_likelihood : float
        Maximized log-likelihood.
    n_parameters : int
        Number of free parameters.
    n_rows : float
        Number of rows, or the sum of their weights.
    convention : {"larger", "smaller"}, default="larger"
        Sign convention: the first form, or minus two times it, as in most software.

    Examples
    --------
    A model with six parameters is preferred to a model with three and a log-likelihood smaller by 50, up to 3e14 rows:

    >>> from surefit import bic
    >>> bic(-50, 6, 1e14) > bic(-100, 3, 1e14), bic(-50, 6, 4e14) > bic(-100, 3, 4e14)
    (True, False)
    """
    if convention not in ("larger", "smaller"):
        raise InvalidParameter("bic", "convention", "'larger' or 'smaller'", convention)
    if not n_rows > 0 or n_parameters < 0:
        raise InvalidParameter(
            "bic", "n_rows, n_parameters", "a number > 0 and an integer >= 0", (n_rows, n_parameters)
        )
    value = float(log_likelihood) - 0.5 * n_parameters * math.log(n_rows)
    return value if convention == "larger" else -2 * value


def bayes_factor(log_evidence: float, other_log_evidence: float) -> float:
    """Return the Bayes factor of the first model against the second, or infinity if it overflows.

    Examples
    --------
    >>> from surefit import bayes_factor
    >>> round(bayes_factor(-10.0, -12.0), 3)
    7.389
    """
    try:
        return math.exp(float(log_evidence) - float(other_log_evidence))
    except OverflowError:
        return math.inf
