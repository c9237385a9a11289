"""Ball in ten dimensions: single decision stumps have errors near one half, but boosted stumps do not."""

from __future__ import annotations

import numpy as np
from scipy import stats
from scipy.integrate import cumulative_trapezoid
from sklearn.utils import check_random_state

from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT
from surefit.data.points import Sample

RADIUS_SQUARE = 9.34  # the median of chi-squared with ten degrees of freedom, 9.3418, to two places


def make_chi2_10(n_samples: int = 2000, *, random_state=None) -> Sample:
    r"""Draw ten independent standard normal columns, with label 1 if :math:`\|x\|^2 > 9.34` and -1 inside the ball.

    Parameters
    ----------
    n_samples : int >= 1, default=2000
        Number of rows.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Sample
        ``truth`` has ``bayes_risk`` (zero), ``positive_rate``, and ``best_stump_error`` with its ``best_stump_threshold``: the best stump
        on one column predicts -1 below about 1 and has an error rate near one half.

    Examples
    --------
    >>> from surefit.data import make_chi2_10
    >>> X, y, truth = make_chi2_10(random_state=0)
    >>> X.shape, round(truth["positive_rate"], 4), round(truth["best_stump_error"], 4)
    ((2000, 10), 0.5002, 0.4544)
    """
    if not COUNT.allows(n_samples):
        raise InvalidParameter("make_chi2_10", "n_samples", COUNT.words, n_samples)
    X = check_random_state(random_state).standard_normal((n_samples, 10))
    threshold, error = _best_stump()
    truth = {
        "bayes_risk": 0.0,
        "positive_rate": float(stats.chi2.sf(RADIUS_SQUARE, 10)),
        "best_stump_threshold": threshold,
        "best_stump_error": error,
    }
    return Sample(X, np.where(np.sum(X**2, axis=1) > RADIUS_SQUARE, 1, -1), truth)


def _best_stump() -> tuple[float, float]:
    """Return the best threshold s > 0 on one column and its error, by integrating the density of that column."""
    s = np.linspace(0.0, 3.0, 3001)
    grid = np.linspace(-8.0, 8.0, 16001)
    density = stats.norm.pdf(grid)
    outside = stats.chi2.sf(RADIUS_SQUARE - grid**2, 9)  # given the column, the other nine determine the label
    lost_below = cumulative_trapezoid(density * outside, grid, initial=0.0)
    inside = cumulative_trapezoid(density * (1 - outside), grid, initial=0.0)
    errors = np.interp(s, grid, lost_below + inside[-1] - inside)
    best = int(np.argmin(errors))
    return float(s[best]), float(errors[best])
