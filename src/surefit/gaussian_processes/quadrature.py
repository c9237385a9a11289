"""Averages of the logistic function over a normal distribution."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

HALF_WIDTH = 8.5  # standard deviations
NODES = np.linspace(-HALF_WIDTH, HALF_WIDTH, 273)  # exact up to rounding for standard deviations up to 10
WEIGHTS = np.exp(-0.5 * NODES**2) / np.sum(np.exp(-0.5 * NODES**2))
ROWS = 4096
STEEP = 8.0  # standard deviation of scores above which the logistic function is treated as a step between grid points
REACH_FREQUENCY = 9.0  # the characteristic function of a log-concave density is below rounding beyond this frequency
FREQUENCIES = 120


def logistic_normal_mean(mean, variance):
    r"""Return :math:`\int \sigma(t) \, dN(m, v)(t)`, the mean of the logistic sigmoid of a normal variable.

    Guarantee: the result is above 1/2 exactly if the mean is positive, and is closer to 1/2 for larger variances.

    Parameters
    ----------
    mean, variance : float or array
        Mean and variance of the normal distribution.

    Examples
    --------
    >>> from surefit import logistic_normal_mean
    >>> logistic_normal_mean([0.3, -0.3, 0.0], 4.0).round(4)
    array([0.5453, 0.4547, 0.5   ])
    """
    mean, variance = np.broadcast_arrays(np.asarray(mean, dtype=np.float64), np.asarray(variance, dtype=np.float64))
    shape, mean, deviation = mean.shape, mean.ravel(), np.sqrt(np.maximum(variance.ravel(), 0.0))
    result = np.empty(len(mean))
    half = len(NODES) // 2
    for start in range(0, len(mean), ROWS):
        m, s = mean[start : start + ROWS, None], deviation[start : start + ROWS, None]
        right = s * NODES[half + 1 :]
        # l(m + t) + l(m - t) - 1 has the sign of m: the boundary is exact for any variance
        pairs = expit(m + right) - expit(right - m)
        center = WEIGHTS[half] * (expit(m[:, 0]) - 0.5)
        result[start : start + ROWS] = 0.5 + (center + pairs @ WEIGHTS[half + 1 :])
    return result.reshape(shape) if shape else float(result[0])


def mean_tanh(scores: np.ndarray, masses: np.ndarray) -> float:
    r"""Return the mean of :math:`\tanh(s / 2)` under masses on a grid, also if it jumps between two grid points.

    Far from the data, scores are large and :math:`\tanh` jumps between neighboring nodes, so a sum over nodes is
    inaccurate. The characteristic function of the scores is still accurate, and
    :math:`\tanh(s/2) = \int_0^\infty 2 \sin(\omega s) / \sinh(\pi \omega) \, d\omega`, so
    :math:`E \tanh(s/2) = \int_0^\infty 2\, E \sin(\omega s) / \sinh(\pi \omega) \, d\omega` (for steps: Gil-Pelaez).
    """
    mean = float(scores @ masses)
    deviation = float(np.sqrt(max((scores - mean) ** 2 @ masses, 0.0)))
    if deviation < STEEP:
        return float(np.tanh(0.5 * scores) @ masses)
    end = min(REACH_FREQUENCY / deviation, 12.0)  # 1 / sinh(12 pi) is below rounding
    omega = np.linspace(0.0, end, FREQUENCIES)[1:]
    height = np.array([np.sin(w * scores) @ masses for w in omega]) / np.sinh(np.pi * omega)
    return float(2 * (end / (FREQUENCIES - 1)) * (0.5 * mean / np.pi + height.sum() - 0.5 * height[-1]))
