"""Wiener and integrated Wiener priors in linear time: a forward filter and a backward smoother.

The state is the function and, for the integrated process, its derivative. Points without an observation have infinite noise, so that one
pass gives the posterior at data and new points. The backward pass propagates adjoints instead of inverses, so repeated points and points
at the origin, where covariances are singular, need no special treatment.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from surefit.core.jit import compiled

LOGS = np.linspace(-14, 8, 45)  # natural logarithms of the ratios noise / (variance * scale) on the grid


@compiled
def smooth(times, y, seen, delta, noise, order):
    """Return posterior means and variances at increasing ``times`` from the origin, squared innovations and log determinant.

    The innovations are divided by their variances; ``seen`` marks the points at which ``y`` was observed, with noise
    variance ``noise``.
    """
    n = len(times)
    X, P, V, S = np.zeros((n, 2)), np.zeros((n, 2, 2)), np.zeros(n), np.ones(n)
    x0, x1, p00, p01, p11, last = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    squares, determinant = 0.0, 0.0
    for k in range(n):
        h = times[k] - last
        last = times[k]
        if order == 2:
            x0 += h * x1
            p00 += 2 * h * p01 + h * h * p11 + delta * h * h * h / 3
            p01 += h * p11 + delta * h * h / 2
            p11 += delta * h
        else:
            p00 += delta * h
        X[k, 0], X[k, 1] = x0, x1
        P[k, 0, 0], P[k, 0, 1], P[k, 1, 0], P[k, 1, 1] = p00, p01, p01, p11
        if seen[k]:
            s = p00 + noise
            v = y[k] - x0
            V[k], S[k] = v, s
            squares += v * v / s
            determinant += math.log(s)
            g0, g1 = p00 / s, p01 / s
            x0 += g0 * v
            x1 += g1 * v
            p11 -= g1 * p01
            p01 *= noise / s
            p00 *= noise / s
    means, variances = np.empty(n), np.empty(n)
    l0, l1, a00, a01, a11 = 0.0, 0.0, 0.0, 0.0, 0.0  # adjoints of the state, of first and second order
    for k in range(n - 1, -1, -1):
        p00, p01 = P[k, 0, 0], P[k, 0, 1]
        if seen[k]:
            g0, g1 = p00 / S[k], p01 / S[k]
            c = noise / S[k]  # C = [[c, 0], [-g1, 1]]
            l0 = c * l0 - g1 * l1 - V[k] / S[k]
            b00 = c * c * a00 - 2 * c * g1 * a01 + g1 * g1 * a11 + 1 / S[k]
            a01 = c * a01 - g1 * a11
            a00 = b00
        means[k] = X[k, 0] - (p00 * l0 + p01 * l1)
        variances[k] = p00 - (p00 * p00 * a00 + 2 * p00 * p01 * a01 + p01 * p01 * a11)
        if k > 0 and order == 2:
            h = times[k] - times[k - 1]
            l1 += h * l0
            a11 += 2 * h * a01 + h * h * a00
            a01 += h * a00
    return means, variances, squares, determinant


def log_evidence(times, y, delta: float, noise: float, order: int) -> float:
    """Return the logarithm of the density of the observations."""
    _, _, squares, determinant = smooth(times, y, np.ones(len(y), dtype=np.bool_), delta, noise, order)
    return -0.5 * (squares + determinant + len(y) * math.log(2 * math.pi))


def most_likely(times, y, order: int) -> tuple[float, float]:
    """Return variance and noise with the highest evidence: the scale in closed form, the ratio on a grid with refinement."""
    everything = np.ones(len(y), dtype=np.bool_)
    unit = max(float(times[-1]) / max(len(times), 1), 1e-300) ** (2 * order - 1)

    def profile(log_ratio):
        _, _, squares, determinant = smooth(times, y, everything, 1.0, unit * math.exp(log_ratio), order)
        scale = max(squares / len(y), 1e-300)
        return 0.5 * (len(y) * math.log(scale) + determinant), scale

    logs = LOGS + (2 * order - 1) * math.log(len(y) + 1.0) * (LOGS > 0)  # many rows need a longer grid
    best = int(np.argmin([profile(log)[0] for log in logs]))
    low, high = logs[max(best - 1, 0)], logs[min(best + 1, len(logs) - 1)]
    found = minimize_scalar(lambda log: profile(log)[0], bounds=(low, high), method="bounded", options={"xatol": 1e-8})
    scale = profile(found.x)[1]
    return scale, scale * unit * math.exp(found.x)
