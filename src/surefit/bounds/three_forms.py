"""Two of sample size, radius and delta determine the third."""

import math
from collections.abc import Callable

from surefit.bounds.base import check_delta
from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT

#: Largest sample size that a search may return.
LARGEST_N = 2**60


def two_of_three(
    who: str,
    *,
    n: int | None,
    radius: float | None,
    delta: float | None,
    log_tail: Callable[[int, float], float],
    radius_of: Callable[[int, float], float],
) -> tuple[int, float, float]:
    """Return ``(n, radius, log_delta)`` from two of them.

    ``log_tail(n, radius)`` is the logarithm of the probability bound, ``radius_of(n, log_delta)`` its inverse. The sample size is the
    smallest one whose radius is at most the requested one, if the radius decreases with n (otherwise it is some sufficient size).
    """
    if (n is None) + (radius is None) + (delta is None) != 1:
        got = {"n": n, "radius": radius, "delta": delta}
        raise InvalidParameter(who, "n, radius, delta", "two given and one left out", got)
    if n is not None and not COUNT.allows(n):
        raise InvalidParameter(who, "n", COUNT.words, n)
    if delta is not None:
        check_delta(who, delta)
    if radius is not None and not radius > 0:
        raise InvalidParameter(who, "radius", "a number > 0", radius)
    if radius is None:
        assert n is not None and delta is not None
        return int(n), float(radius_of(int(n), math.log(delta))), math.log(delta)
    if delta is None:
        assert n is not None
        return int(n), float(radius), float(log_tail(int(n), float(radius)))
    log_delta = math.log(delta)
    size = least(who, lambda size: radius_of(size, log_delta) <= radius)
    return size, float(radius), log_delta


def least(who: str, suffices: Callable[[int], bool], start: int = 1) -> int:
    """Return the smallest integer >= ``start`` that passes a monotone test."""
    if suffices(start):
        return start
    low, step = start, 1
    while not suffices(low + step):
        low, step = low + step, 2 * step
        if low > LARGEST_N:
            raise InvalidParameter(who, "radius", f"attainable with n <= {LARGEST_N:.3g}", "a smaller radius")
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high
