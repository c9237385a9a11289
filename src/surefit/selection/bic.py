"""Schwarz's criterion and Bayes factors."""

from __future__ import annotations

import math

from surefit.core.errors import InvalidParameter


def bic(log_likelihood: float, n_parameters: int, n_rows: float, *, convention: str = "larger") -> float:
    r"""Return Schwarz's criterion.

    .. math:: \ell(\hat\theta) - \frac d2 \ln n \quad (\text{larger is better}), \qquad -2\ell + d \ln n \quad (\text{smaller is better})

    Guarantee: per row it tends to the logarithm of the evidence; the difference of the two stays bounded and does *not* tend to zero
    (theory: :ref:`laplace-approximation`).

    Parameters
    ----------
    log_likelihood : float
        At the maximum.
    n_parameters : int
        Free parameters.
    n_rows : float
        Rows, or the sum of their weights.
    convention : {"larger", "smaller"}, default="larger"
        Which way is better: the notes' form, or minus two times it, as most software prints.

    Examples
    --------
    A model of six parameters beats one of three that is fifty units of log-likelihood worse, up to 3e14 rows:

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
    """Return how many times more probable the first model makes the data; infinite where that overflows.

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
