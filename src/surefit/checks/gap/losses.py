r"""The checker's own losses of a score: derivatives, and Fenchel-Young terms without cancellation.

A loss :math:`\phi(y, z)` is convex in the score :math:`z`; :math:`g` is a derivative or subgradient (dual variable).
The term :math:`\phi(z) + \phi^*(g) - zg \ge 0` is convex in :math:`z` and in :math:`g`, so its maximum over a box is at
a corner. Each loss evaluates that term directly, because adding the value and the conjugate would cancel digits. A loss
is a NamedTuple with the functions of :mod:`surefit.checks.gap.verbs` registered for it, and an entry in ``LOSSES``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT
from surefit.checks.gap.terms import entropy_term, near_entropy_term
from surefit.checks.gap.tweedie import Tweedie
from surefit.checks.gap.verbs import corners, curvature, domain, edge_size, excess, largest, slope
from surefit.core.errors import CertificateError
from surefit.core.jit import compiled


class Piecewise(NamedTuple):
    r"""Piecewise loss: zero between two edges, then quadratic until the derivative reaches its limit, then linear.

    ``h`` is the second derivative beyond an edge (infinite: the derivative jumps), a power of two. For a real target
    the edges are ``y - epsilon`` and ``y + epsilon``. For labels (``margin``) both edges are ``y * edge``, and the loss
    is zero on the side of the label.
    """

    h: float
    epsilon: float
    low: float
    high: float
    margin: bool
    edge: float


@domain.register(Piecewise)
def _(loss: Any, y: Any) -> Any:
    if loss.margin:
        return (loss.low, 0.0) if y > 0.0 else (0.0, -loss.low)
    return loss.low, loss.high


@edge_size.register(Piecewise)
def _(loss: Any, y: Any) -> Any:
    return loss.edge if loss.margin else abs(y) + loss.epsilon


@slope.register(Piecewise)
def _(loss: Any, y: Any, z: Any, width: Any) -> Any:
    low, high = domain(loss, y)
    middle = y * loss.edge if loss.margin else y
    above, below = z - middle - loss.epsilon, middle - loss.epsilon - z
    if loss.h < math.inf:
        return min(loss.h * max(above, 0.0), high) - min(loss.h * max(below, 0.0), -low)
    if width > 0.0:
        return high * min(max(above / width + 0.5, 0.0), 1.0) + low * min(max(below / width + 0.5, 0.0), 1.0)
    return high if above > 0.0 else (low if below > 0.0 else 0.0)


@compiled
def _barrier(past: Any, top: Any, weight: Any) -> tuple[Any, Any]:
    """Return the maximizer p of ``p past + weight (ln p + ln(top - p))``, and its derivative in ``past``."""
    if top <= 0.0:
        return 0.0, 0.0
    root = math.sqrt(past * past * top * top + 4.0 * weight * weight)
    small = 2.0 * weight * top / (root + abs(past) * top + 2.0 * weight)
    return (top - small if past > 0.0 else small), 1.0 / (weight / small**2 + weight / (top - small) ** 2)


@compiled
def stepped_slopes(loss: Any, y: Any, z: Any, dz: Any, weight: Any) -> np.ndarray:
    """Return derivatives of a loss with kinks smoothed by barriers, extrapolated along ``dz``.

    These are the dual variables after a Newton step of an interior-point method. Any other feasible values would also
    prove a bound.
    """
    out = np.empty(len(y))
    for i in range(len(y)):
        low, high = domain(loss, y[i])
        middle = y[i] * loss.edge if loss.margin else y[i]
        up, up_bend = _barrier(z[i] - middle - loss.epsilon, high, weight)
        down, down_bend = _barrier(middle - loss.epsilon - z[i], -low, weight)
        out[i] = min(max(up - down + (up_bend + down_bend) * dz[i], low), high)
    return out


@curvature.register(Piecewise)
def _(loss: Any, y: Any, z: Any) -> Any:
    low, high = domain(loss, y)
    middle = y * loss.edge if loss.margin else y
    above, below = z - middle - loss.epsilon, middle - loss.epsilon - z
    inside = (0.0 <= above and loss.h * above < high) or (0.0 <= below and loss.h * below < -low)
    return loss.h if inside and loss.h < math.inf else 0.0


@excess.register(Piecewise)
def _(loss: Any, y: Any, z: Any, g: Any) -> Any:
    low, high = domain(loss, y)
    if low == -math.inf and high == math.inf and loss.epsilon == 0.0:  # the squared error
        apart = (z - y) - g / loss.h
        return 0.5 * loss.h * apart * apart * (1.0 + 16.0 * UNIT)
    middle = y * loss.edge if loss.margin else y
    total = 0.0
    for side in (1.0, -1.0):
        past = side * (z - middle) - loss.epsilon
        q = max(side * g, 0.0)
        top = high if side > 0.0 else -low
        beyond = max(past, 0.0)
        bend = 0.0
        if loss.h < math.inf:
            bend = min(beyond, top / loss.h)
            total += 0.5 * loss.h * (bend - q / loss.h) ** 2
        if beyond > bend:
            total += (beyond - bend) * (top - q)
        total += q * max(-past, 0.0)
    return total * (1.0 + 16.0 * UNIT)


@largest.register(Piecewise)
def _(loss: Any, y: Any, z: Any, dz: Any, g: Any, dg: Any) -> Any:
    low, high = domain(loss, y)
    if low == -math.inf and high == math.inf and loss.epsilon == 0.0:
        apart = abs((z - y) - g / loss.h) + dz + dg / loss.h
        return 0.5 * loss.h * apart * apart * (1.0 + 20.0 * UNIT)
    middle = y * loss.edge if loss.margin else y
    total = 0.0
    for side in (1.0, -1.0):  # the largest value of each product
        past = side * (z - middle) - loss.epsilon
        top = high if side > 0.0 else -low
        q, p = min(max(side * g + dg, 0.0), top), min(max(side * g - dg, 0.0), top)
        beyond, bend = max(past + dz, 0.0), 0.0
        if loss.h < math.inf:
            bend = min(beyond, top / loss.h)
            apart = max(bend - p / loss.h, q / loss.h - min(max(past - dz, 0.0), top / loss.h))
            total += 0.5 * loss.h * apart * apart
        if beyond > bend:
            total += (beyond - bend) * (top - p)
        total += q * max(dz - past, 0.0)
    return total * (1.0 + 20.0 * UNIT)


class Logistic(NamedTuple):
    r"""Logistic loss :math:`\ln(1 + e^{-yz})`, labels -1 and 1; its terms are binary relative entropies."""

    margin: bool = True  # Numba resolves the types of every call anew if a tuple is empty


@domain.register(Logistic)
def _(loss: Any, y: Any) -> Any:
    return (-1.0, 0.0) if y > 0.0 else (0.0, 1.0)


@edge_size.register(Logistic)
def _(loss: Any, y: Any) -> Any:
    return 0.0


@slope.register(Logistic)
def _(loss: Any, y: Any, z: Any, width: Any) -> Any:
    e = np.exp(-abs(z))
    return -y * (e if y * z >= 0.0 else 1.0) / (1.0 + e)


@curvature.register(Logistic)
def _(loss: Any, y: Any, z: Any) -> Any:
    e = np.exp(-abs(z))
    return e / (1.0 + e) ** 2


@excess.register(Logistic)
def _(loss: Any, y: Any, z: Any, g: Any) -> Any:
    e = np.exp(-abs(z))
    small, large = e / (1.0 + e), 1.0 / (1.0 + e)
    p = min(abs(g), 1.0)
    if y * z >= 0.0:
        return entropy_term(p, small) + entropy_term(1.0 - p, large)
    return entropy_term(p, large) + entropy_term(1.0 - p, small)


@largest.register(Logistic)
def _(loss: Any, y: Any, z: Any, dz: Any, g: Any, dg: Any) -> Any:
    e = np.exp(-abs(z))
    if g == 0.0 and dg == 0.0:  # the loss itself, whose derivative is at most 1
        return (np.log1p(e) + max(-y * z, 0.0) + dz) * (1.0 + 8.0 * UNIT)
    other, own = (e / (1.0 + e), 1.0 / (1.0 + e)) if y * z >= 0.0 else (1.0 / (1.0 + e), e / (1.0 + e))
    p = min(abs(g), 1.0)
    near = near_entropy_term(p, dg, other, dz) + near_entropy_term(1.0 - p, dg, own, dz)
    return near if near < math.inf else corners(loss, y, z, dz, g, dg)


class Entropic(NamedTuple):
    r"""Exponential losses: half the Poisson deviance for counts, or :math:`e^{-yz}` for labels (``margin``).

    Half the Poisson deviance is :math:`e^z - yz + y\ln y - y`.
    """

    margin: bool

    @property
    def rates(self) -> tuple[float, float] | None:
        """Rates (a, b) of the derivative ``exp(b z) - y exp(-a z)``; None for labels."""
        return None if self.margin else (0.0, 1.0)


@domain.register(Entropic)
def _(loss: Any, y: Any) -> Any:
    if loss.margin:
        return (-math.inf, 0.0) if y > 0.0 else (0.0, math.inf)
    return -y, math.inf


@edge_size.register(Entropic)
def _(loss: Any, y: Any) -> Any:
    return 0.0


@slope.register(Entropic)
def _(loss: Any, y: Any, z: Any, width: Any) -> Any:
    return -y * np.exp(-y * z) if loss.margin else max(np.exp(z) - y, -y)


@curvature.register(Entropic)
def _(loss: Any, y: Any, z: Any) -> Any:
    return np.exp(-y * z) if loss.margin else np.exp(z)


@excess.register(Entropic)
def _(loss: Any, y: Any, z: Any, g: Any) -> Any:
    if loss.margin:
        return entropy_term(abs(g), np.exp(-y * z))
    return entropy_term(max(g + y, 0.0), np.exp(z))


#: Losses by their name in a problem; each is constructed from the numbers of the problem.
LOSSES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "squared_error": lambda problem: Piecewise(1.0, 0.0, -math.inf, math.inf, False, 0.0),
    "absolute_error": lambda problem: Piecewise(math.inf, 0.0, -1.0, 1.0, False, 0.0),
    "huber": lambda problem: Piecewise(1.0, 0.0, -problem["delta"], problem["delta"], False, 0.0),
    "pinball": lambda problem: Piecewise(math.inf, 0.0, -problem["quantile"], 1.0 - problem["quantile"], False, 0.0),
    "epsilon_insensitive": lambda problem: Piecewise(math.inf, problem["epsilon"], -1.0, 1.0, False, 0.0),
    "squared_epsilon_insensitive": lambda problem: Piecewise(2.0, problem["epsilon"], -math.inf, math.inf, False, 0.0),
    "lp": lambda problem: _power(problem["p"]),
    "hinge": lambda problem: Piecewise(math.inf, 0.0, -1.0, 0.0, True, 1.0),
    "squared_hinge": lambda problem: Piecewise(2.0, 0.0, -math.inf, 0.0, True, 1.0),
    "modified_huber": lambda problem: Piecewise(2.0, 0.0, -4.0, 0.0, True, 1.0),
    "perceptron": lambda problem: Piecewise(math.inf, 0.0, -1.0, 0.0, True, 0.0),
    "logistic": lambda problem: Logistic(),
    "poisson": lambda problem: Entropic(False),
    "tweedie": lambda problem: Tweedie(problem["power"]),
    "exponential": lambda problem: Entropic(True),
}


def _power(p: float) -> Piecewise:
    if p != 2.0:
        raise CertificateError(f"The checker supports the loss |y - z|^p for p = 2 only, not for p = {p!r}.")
    return Piecewise(2.0, 0.0, -math.inf, math.inf, False, 0.0)


def loss_of(problem: dict[str, Any]) -> Any:
    """Return the checker's loss for a problem; ``problem["loss"]`` is its name."""
    try:
        make = LOSSES[problem["loss"]]
    except (KeyError, TypeError):
        raise CertificateError(f"The checker does not support the loss {problem.get('loss')!r}.") from None
    return make(problem)


def smoothness(loss: Any) -> float:
    """Return the Lipschitz constant of the derivative; infinite if the loss has a kink or unbounded curvature."""
    return {Piecewise: getattr(loss, "h", 0.0), Logistic: 0.25}.get(type(loss), math.inf)


def has_kinks(loss: Any) -> bool:
    """Return whether the derivative jumps somewhere."""
    return type(loss) is Piecewise and math.isinf(loss.h)


def strong_convexity(loss: Any) -> float:
    """Return the smallest second derivative of the loss: positive for the squared error only."""
    squared = type(loss) is Piecewise and not loss.margin and loss.epsilon == 0.0 and loss.high == math.inf == -loss.low
    return loss.h if squared else 0.0
