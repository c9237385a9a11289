r"""Uniform law of large numbers: largest deviation of an empirical distribution from the true one over simple sets."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from surefit.bounds.base import Deviation
from surefit.bounds.three_forms import two_of_three
from surefit.core.errors import InvalidData


def ks_distance(sample: Any, cdf: Callable[..., Any]) -> float:
    r"""Return the Kolmogorov-Smirnov distance: the largest :math:`|Q_n(A) - Q(A)|` over :math:`A = (-\infty, a]`.

    Parameters
    ----------
    sample : array
        Numbers drawn from Q.
    cdf : callable
        Distribution function of Q, continuous, on arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import ks_distance
    >>> ks_distance([0.5], lambda x: np.clip(x, 0, 1))
    0.5
    """
    above, below = _one_sided("ks_distance", sample, cdf)
    return max(above, below)


#: Alias: the largest deviation over half-lines (rays).
ray_deviation = ks_distance


def interval_deviation(sample: Any, cdf: Callable[..., Any]) -> float:
    r"""Return the largest :math:`|Q_n(A) - Q(A)|` over all intervals: the sum of the two one-sided distances (Kuiper).

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import interval_deviation
    >>> interval_deviation([0.5], lambda x: np.clip(x, 0, 1))  # the interval [0.5, 0.5]
    1.0
    """
    above, below = _one_sided("interval_deviation", sample, cdf)
    return above + below


def dkw(*, n: int | None = None, radius: float | None = None, delta: float | None = None) -> Deviation:
    r"""Return the Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant.

    .. math:: P\Bigl(\sup_a |F_n(a) - F(a)| > \varepsilon\Bigr) \le 2 e^{-2n\varepsilon^2}

    Guarantee: the radius of Hoeffding's inequality for one half-line holds for all half-lines; compare :func:`vc` with
    ``set_class("rays")`` (theory: :ref:`vc-inequality`).

    Parameters
    ----------
    n, radius, delta : two of the three
        Observations, deviation, failure probability.

    Examples
    --------
    >>> from surefit.bounds import dkw, set_class, vc
    >>> round(dkw(n=1000, delta=0.05).radius, 4), round(vc(set_class("rays"), n=1000, delta=0.05).radius, 4)
    (0.0429, 0.6193)
    """
    count, eps, log_delta = two_of_three(
        "dkw",
        n=n,
        radius=radius,
        delta=delta,
        log_tail=lambda n, eps: min(0.0, math.log(2) - 2 * n * eps * eps),
        radius_of=lambda n, log_delta: math.sqrt((math.log(2) - log_delta) / (2 * n)),
    )
    about = "largest deviation of the distribution function"
    return Deviation("dkw", count, eps, log_delta, about, ("iid",), 2, of_a_risk=False)


def _one_sided(who: str, sample: Any, cdf: Callable[..., Any]) -> tuple[float, float]:
    """Return the largest excess of the empirical distribution function over the true one, and vice versa."""
    x = np.sort(np.asarray(sample, dtype=np.float64).ravel())
    if len(x) == 0 or not np.all(np.isfinite(x)):
        raise InvalidData(f"{who}: the sample must be a non-empty array of finite numbers.")
    F, n = np.asarray(cdf(x), dtype=np.float64), len(x)
    steps = np.arange(n + 1) / n
    return max(0.0, float(np.max(steps[1:] - F))), max(0.0, float(np.max(F - steps[:-1])))
