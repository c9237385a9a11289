"""The rate of progressive validation, from the losses of a pilot model on earlier rows."""

import math

import numpy as np

from surefit.checks.judge import Digits

LARGEST_RATE = 8.0


def pilot_rate(losses: np.ndarray, n: int, delta: float, counted: bool) -> Digits:
    """Return the rate determined by the pilot before the tested rows are seen."""
    if not counted:
        variance = max(float(np.var(losses)), 1 / (4 * n))
        x = math.sqrt(-2 * math.log(delta) / (n * variance))
        return Digits(x / (1 + x))
    q = (int(np.rint(losses.sum())) + 0.5) / (len(losses) + 1)
    p = min(_upper_kl(q, -math.log(delta) / n), 1 - 1e-15)
    return Digits(min(LARGEST_RATE, math.log(p / q) + math.log1p(-q) - math.log1p(-p)))


def _upper_kl(q: float, needed: float) -> float:
    """Return the largest p with kl(q || p) <= needed, by bisection."""
    low, high = q, 1.0
    for _ in range(200):
        p = 0.5 * (low + high)
        if p in (low, high):
            break
        kl = q * math.log(q / p) + (1 - q) * (math.log1p(-q) - math.log1p(-p))
        low, high = (p, high) if kl <= needed else (low, p)
    return low
