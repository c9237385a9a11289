"""Averages of the logistic function over a normal law."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

REACH = 8.5  # standard deviations
NODES = np.linspace(-REACH, REACH, 273)  # the trapezoidal rule is exact to rounding for deviations up to 10
WEIGHTS = np.exp(-0.5 * NODES**2) / np.sum(np.exp(-0.5 * NODES**2))
ROWS = 4096


def averaged_logistic(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    r"""Return :math:`\int l(t) \, dN(m, v)(t)`; above 1/2 exactly where the mean is above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.gaussian_processes.quadrature import averaged_logistic
    >>> averaged_logistic(np.array([0.3, -0.3, 0.0]), np.array([4.0, 4.0, 4.0])).round(4)
    array([0.5453, 0.4547, 0.5   ])
    """
    mean, deviation = np.asarray(mean, dtype=np.float64), np.sqrt(np.maximum(variance, 0.0))
    result = np.empty(mean.shape)
    half = len(NODES) // 2
    for start in range(0, len(mean), ROWS):
        m, s = mean[start : start + ROWS, None], deviation[start : start + ROWS, None]
        right = s * NODES[half + 1 :]
        # l(m + t) + l(m - t) - 1 has the sign of m: the boundary is exact, whatever the variance
        pairs = expit(m + right) - expit(right - m)
        centre = WEIGHTS[half] * (expit(m[:, 0]) - 0.5)
        result[start : start + ROWS] = 0.5 + (centre + pairs @ WEIGHTS[half + 1 :])
    return result
