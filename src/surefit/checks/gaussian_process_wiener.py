r"""Checks the posterior mean under Wiener priors in linear time: :math:`K a` by running sums of the closed form of the kernel."""

import math

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, gamma
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


def gram_times(times: np.ndarray, a: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ``K a`` for rising ``times``, and the same with absolute values, which bounds its terms."""

    def sums(v, sign):
        t = times
        until = [np.cumsum(t**k * v) for k in range(4)]
        after = [total[-1] - total for total in until] if sign < 0 else [_after(t**k * v) for k in range(4)]
        if order == 1:
            return until[1] + t * after[0]
        return t / 2 * until[2] - sign * until[3] / 6 + t**2 / 2 * after[1] - sign * t**3 / 6 * after[0]

    return sums(a, 1.0), sums(np.abs(a), -1.0)


def _after(terms: np.ndarray) -> np.ndarray:
    return np.concatenate([np.cumsum(terms[::-1])[::-1][1:], [0.0]])


def mean_bound(times, y, dual, delta: float, noise: float, order: int) -> float:
    """Bound on the error of the mean, in units of ``sqrt(k(x, x))``."""
    value, size = gram_times(times, dual, order)
    residual = y - noise * dual - delta * value
    rounding = gamma(len(y) + 16) * (delta * size * 1.01 + noise * np.abs(dual) + np.abs(y))
    return float(np.linalg.norm(np.abs(residual) + rounding)) / math.sqrt(noise) * (1 + gamma(len(y) + 8))


@checker("wiener.mean")
def check_mean(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The posterior mean is at most ``value * sqrt(k(x, x))`` from the exact one, for every x."""
    problem, order = certificate.problem, int(certificate.problem["order"])
    x = np.asarray(data.X, dtype=np.float64).ravel()
    rows = np.argsort(x, kind="stable")
    y = np.asarray(data.target, dtype=np.float64)[rows]
    times = x[rows] - float(problem["origin"])
    dual = certificate.model["alpha_"][rows]
    found = mean_bound(times, y, dual, float(problem["variance"]), float(problem["noise"]), order)
    found += UNIT * abs(found)
    level = "enclosed" if problem["origin"] == 0 else "recomputed"  # distances from another origin are rounded
    return Finding(claim.name, claim.value, found, found <= claim.value, level, "Ka by running sums.")
