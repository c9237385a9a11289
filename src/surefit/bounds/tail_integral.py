r"""The mean of a variable as the area under its tails: :math:`E X = \int_0^\infty P(X > x) dx - \int_0^\infty P(X < -x) dx`."""

import math
from typing import Any

import numpy as np

from surefit.core.errors import InvalidData


def mean_by_tails(sample: Any) -> float:
    r"""Return the mean of a sample as the signed area under its empirical tails; it equals the plain mean up to rounding.

    .. math:: E X = \int_0^\infty P(X > x)\,dx - \int_0^\infty P(X < -x)\,dx.

    Examples
    --------
    >>> from surefit.bounds import mean_by_tails
    >>> mean_by_tails([1.0, 2.0, 6.0]), mean_by_tails([-1.0, 4.0])
    (3.0, 1.5)
    """
    values = np.asarray(sample, dtype=np.float64).ravel()
    if len(values) == 0 or not np.all(np.isfinite(values)):
        raise InvalidData("mean_by_tails: the sample must be a non-empty array of finite numbers.")
    return _area(values) - _area(-values)


def _area(values: np.ndarray) -> float:
    """Return the area under the fraction of entries above x, for x >= 0."""
    steps = np.sort(values[values > 0])
    widths = np.diff(steps, prepend=0.0)
    fractions = np.arange(len(steps), 0, -1) / len(values)
    return math.fsum(widths * fractions)
