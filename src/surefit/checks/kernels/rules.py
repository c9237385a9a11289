"""Enclosed values of kernels on the real line, of string kernels, and of kernels composed of other kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit import kernels as k
from surefit.checks import balls
from surefit.checks.balls import ball
from surefit.checks.enclosure import UNIT, Enclosed, gamma
from surefit.checks.kernels.values import Itself, enclose


def _ordered(kernel: Any, pairs: Any) -> tuple[Enclosed, Enclosed]:
    """Return the smaller and the larger of two numbers, minus the origin."""
    a, b = pairs.column(0)
    origin = float(kernel.origin)
    parts = (np.minimum(a, b), np.maximum(a, b))
    smaller, larger = (balls.add(ball(np.broadcast_to(part, pairs.shape)), ball(np.asarray(-origin))) for part in parts)
    return (smaller, larger) if origin else (ball(smaller.mid), ball(larger.mid))


@enclose.register
def _(kernel: k.Min, pairs: Any) -> Any:
    return _ordered(kernel, pairs)[0]


@enclose.register
def _(kernel: k.IntegratedBrownian, pairs: Any) -> Any:
    small, large = _ordered(kernel, pairs)
    rest = balls.add(balls.scale(large, 3.0), balls.negative(small))
    return balls.scale(balls.multiply(balls.multiply(small, small), rest), 1 / 6, UNIT)


@enclose.register
def _(kernel: k.CommonWords, pairs: Any) -> Any:
    return ball(pairs.values(kernel))  # integers


@enclose.register
def _(kernel: k.StringSubsequence, pairs: Any) -> Any:
    # All terms are non-negative, so the relative error is at most the number of roundings on the longest path.
    longest = max(map(len, pairs.A)) + max(map(len, pairs.B))
    relative = gamma(4 * longest + 4 * kernel.length + 24)
    if pairs.same:
        own = ball(kernel.raw_diagonal(pairs.A), relative)
        return ball((own.mid > 0).astype(float)) if kernel.normalized else own
    values = ball(kernel.raw(pairs.A, pairs.B), relative)
    if not kernel.normalized:
        return values
    a, b = (ball(kernel.raw_diagonal(S), relative) for S in (pairs.A, pairs.B))
    return _over_roots(values, a, b)


@enclose.register
def _(kernel: k.Normalized, pairs: Any) -> Any:
    if pairs.same:
        own = enclose(kernel.kernel, pairs)
        return ball((own.mid > 0).astype(float))
    a, b = (enclose(kernel.kernel, Itself(S)) for S in (pairs.A, pairs.B))
    return _over_roots(enclose(kernel.kernel, pairs), a, b)


def _over_roots(values: Enclosed, a: Enclosed, b: Enclosed) -> Enclosed:
    """Return values divided by the square roots of both diagonals; zero if a diagonal entry is exactly zero."""
    norms = balls.multiply(
        Enclosed(balls.root(a).mid[:, None], balls.root(a).rad[:, None]),
        Enclosed(balls.root(b).mid[None, :], balls.root(b).rad[None, :]),
    )
    none = (a.mid == 0)[:, None] | (b.mid == 0)
    quotient = balls.divide(values, Enclosed(np.where(none, 1.0, norms.mid), np.where(none, 0.0, norms.rad)))
    return Enclosed(np.where(none, 0.0, quotient.mid), np.where(none, 0.0, quotient.rad))


@enclose.register
def _(kernel: k.Exponential, pairs: Any) -> Any:
    return balls.exponential(enclose(kernel.kernel, pairs))


@enclose.register
def _(kernel: k.PolynomialOf, pairs: Any) -> Any:
    inner = enclose(kernel.kernel, pairs)
    result = ball(np.zeros(pairs.shape))
    for coefficient in reversed(list(kernel.coefficients)):
        result = balls.add(balls.multiply(result, inner), ball(np.asarray(float(coefficient))))
    return result


@enclose.register
def _(kernel: k.Warped, pairs: Any) -> Any:
    # The floating-point values of the weights define the kernel.
    a = ball(kernel.weights(pairs.A))
    inner = enclose(kernel.kernel, pairs)
    if pairs.same:
        return balls.multiply(balls.multiply(a, a), inner)
    b = ball(kernel.weights(pairs.B))
    return balls.multiply(balls.multiply(ball(a.mid[:, None]), ball(b.mid[None, :])), inner)
