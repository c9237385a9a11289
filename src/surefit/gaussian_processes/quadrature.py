"""Averages of the logistic function over a normal distribution."""

from __future__ import annotations

import numpy as np
from scipy.special import erf, expit

HALF_WIDTH = 8.5  # standard deviations
NODES = np.linspace(-HALF_WIDTH, HALF_WIDTH, 273)  # exact up to rounding for standard deviations up to 10
WEIGHTS = np.exp(-0.5 * NODES**2) / np.sum(np.exp(-0.5 * NODES**2))
ROWS = 4096
STEEP = 8.0  # standard deviation of scores above which the logistic function is treated as a step between grid points
SCORES, MASSES = np.polynomial.legendre.leggauss(64)
SCORES = 20.0 * (SCORES + 1.0)  # from 0 to 40, where the logistic function of -t is below rounding
MASSES = 20.0 * MASSES * expit(-SCORES) / np.sqrt(2.0 * np.pi)
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
    result, steep = np.empty(len(mean)), deviation > STEEP
    for rows, rule in ((np.flatnonzero(~steep), _smooth), (np.flatnonzero(steep), _steep)):
        for start in range(0, len(rows), ROWS):
            block = rows[start : start + ROWS]
            result[block] = 0.5 + rule(mean[block], deviation[block])
    return result.reshape(shape) if shape else float(result[0])


def _smooth(mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Return the average minus 1/2 by a sum over a grid."""
    m, half = mean[:, None], len(NODES) // 2
    right = deviation[:, None] * NODES[half + 1 :]
    # l(m + t) + l(m - t) - 1 has the sign of m: the boundary is exact for any variance
    pairs = expit(m + right) - expit(right - m)
    return WEIGHTS[half] * (expit(mean) - 0.5) + pairs @ WEIGHTS[half + 1 :]


def _steep(mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    r"""Return the average minus 1/2 for large deviations: the average of a step, corrected near zero.

    With :math:`m \ge 0` it is :math:`\frac12 \operatorname{erf}(m / \sqrt{2 v})` minus the integral over :math:`t > 0` of
    :math:`\sigma(-t)` times the difference of the normal densities at :math:`t` and :math:`-t`.
    """
    m, s = np.abs(mean)[:, None], deviation[:, None]
    differences = np.exp(-0.5 * ((SCORES - m) / s) ** 2) * -np.expm1(-2.0 * SCORES * (m / s) / s)
    step = 0.5 * erf(m[:, 0] / (np.sqrt(2.0) * deviation))
    return np.sign(mean) * (step - (differences @ MASSES) / deviation)


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
