r"""Upper bounds on the number of updates of perceptrons, for several variants of Novikoff's theorem."""

from __future__ import annotations

import math
from typing import NamedTuple

from surefit.core.errors import InvalidParameter
from surefit.core.jit import compiled
from surefit.core.validation import NON_NEGATIVE, POSITIVE, REAL


def novikoff_bound(
    radius: float,
    margin: float,
    *,
    start_norm: float = 0.0,
    start_along: float = 0.0,
    step: float = 1.0,
    constant: float | None = None,
    intercept: float | None = None,
) -> float:
    r"""Bound the number of updates on rows of norm at most ``radius`` that some direction separates with ``margin``.

    .. math::

        k \le \frac{R^2 - 2 a \gamma + \sqrt{(R^2 - 2 a \gamma)^2 + 4 \gamma^2 (s^2 - a^2)}}{2 \gamma^2}

    for a start :math:`w_0` with :math:`s = \|w_0\| / \eta` and :math:`a = \langle w_0, u \rangle / \eta`; from zero
    this is :math:`(R / \gamma)^2`. The bound holds for any order of the rows and any number of passes (theory:
    :ref:`novikoff`).

    An intercept is learned as the weight of a constant feature c. The rows then have norm at most
    :math:`\sqrt{R^2 + c^2}`, and the unit direction with intercept b has norm :math:`\sqrt{1 + b^2 / c^2}`, so from
    zero :math:`k \le (R^2 + c^2)(1 + b^2 / c^2) / \gamma^2`. The perceptron with the bias step :math:`\eta y R^2`
    corresponds to c = R; since :math:`|b| \le R`, its bound is at most :math:`(2R / \gamma)^2`.

    Parameters
    ----------
    radius : float >= 0
        Largest norm of a row, including the constant feature of an intercept.
    margin : float > 0
        Margin of any direction that separates the rows, in the same geometry.
    start_norm, start_along : float
        Norm of the starting weights, and their component along that direction.
    step : float > 0
        Step size of the updates.
    constant : float > 0 or None, default=None
        Constant feature c of the intercept. If given, ``radius`` refers to the rows without c, and ``margin`` is the
        geometric margin. None means no intercept, or one that ``radius`` and ``margin`` already include.
    intercept : float or None, default=None
        Intercept b of the separating direction of norm one; None means the largest possible value, ``radius``.

    Examples
    --------
    >>> from surefit import novikoff_bound
    >>> novikoff_bound(1.0, 0.125)
    64.0
    >>> novikoff_bound(2.0, 1.0, start_norm=3.0, start_along=3.0)  # a good start saves updates, here all of them
    0.0
    >>> round(novikoff_bound(2.0, 1.0, constant=2.0), 9)  # (2R / margin)^2
    16.0
    """
    for name, value, rule in (
        ("radius", radius, NON_NEGATIVE),
        ("margin", margin, POSITIVE),
        ("start_norm", start_norm, NON_NEGATIVE),
        ("start_along", start_along, REAL),
        ("step", step, POSITIVE),
    ):
        if not rule.allows(value):
            raise InvalidParameter("novikoff_bound", name, rule.words, value)
    if abs(start_along) > start_norm * (1 + 1e-12):
        raise InvalidParameter("novikoff_bound", "start_along", f"between -{start_norm} and {start_norm}", start_along)
    if constant is not None:
        for name, value, rule in (
            ("constant", constant, POSITIVE),
            ("intercept", radius if intercept is None else intercept, REAL),
        ):
            if not rule.allows(value):
                raise InvalidParameter("novikoff_bound", name, rule.words, value)
        b = radius if intercept is None else float(intercept)
        margin = margin / math.sqrt(1 + (b / constant) ** 2)
        radius = math.hypot(radius, constant)
    return general_bound(radius * radius, margin, (start_norm / step) ** 2, start_along / step)


def general_bound(
    radius_square: float,
    margin: float,
    start_square: float = 0.0,
    start_along: float = 0.0,
    *,
    least_step: float = 1.0,
    largest_step: float = 1.0,
    threshold: float = 0.0,
) -> float:
    r"""Return the bound for step sizes in a given range and updates at margins up to ``threshold``.

    The bound is the largest :math:`k` with
    :math:`k a_{\min} \gamma + a \le \sqrt{s^2 + k (a_{\max}^2 R^2 + 2 a_{\max} \tau)}`.
    """
    if margin <= 0:
        return math.inf
    slope = least_step * margin
    growth = largest_step * largest_step * radius_square + 2 * largest_step * threshold
    head = growth - 2 * start_along * slope
    root = math.sqrt(head * head + 4 * slope * slope * max(start_square - start_along * start_along, 0.0))
    return float((head + root) / (2 * slope * slope))


ITERATED = 1e9  # the recursion is iterated only for bounds below this


class MarginBounds(NamedTuple):
    """Three bounds on the updates of a margin perceptron; the last is the smallest."""

    textbook: float  # 12 / gamma^2, proved for epsilon = 1/2 only (else infinite)
    closed: float  # closed form of the same proof
    recursive: float  # result of iterating the recursion


def margin_perceptron_bounds(gamma: float, epsilon: float = 0.5) -> MarginBounds:
    r"""Bound the updates of a margin perceptron on unit rows that some direction separates with margin ``gamma``.

    The run accepts a row at margin :math:`(1 - \varepsilon)\gamma`. Every update adds at least :math:`\gamma` along the
    direction, while the norm is at most :math:`s_k` with :math:`s_1 = 1`,
    :math:`s_{k+1}^2 = s_k^2 + 2(1 - \varepsilon)\gamma s_k + 1`. The recursive bound is the largest :math:`k` with
    :math:`k \gamma \le s_k`, and
    :math:`\frac{2}{\varepsilon^2\gamma^2} + \frac{2}{\varepsilon\gamma} - \frac{2}{\varepsilon} + 1` is a larger bound
    in closed form (theory: :ref:`margin-perceptron`).

    Parameters
    ----------
    gamma : float in (0, 1]
        Margin of the direction.
    epsilon : float in (0, 1), default=0.5
        Fraction of ``gamma`` by which the margin reached may be smaller.

    Examples
    --------
    >>> from surefit import margin_perceptron_bounds
    >>> margin_perceptron_bounds(0.5)
    MarginBounds(textbook=48.0, closed=37.0, recursive=8.0)
    """
    if not (POSITIVE.allows(gamma) and gamma <= 1):
        raise InvalidParameter("margin_perceptron_bounds", "gamma", "a number > 0 and <= 1", gamma)
    if not (POSITIVE.allows(epsilon) and epsilon < 1):
        raise InvalidParameter("margin_perceptron_bounds", "epsilon", "a number > 0 and < 1", epsilon)
    textbook = 12 / gamma**2 if epsilon == 0.5 else math.inf
    closed = 2 / (epsilon * gamma) ** 2 + 2 / (epsilon * gamma) - 2 / epsilon + 1
    recursive = float(_recursive(float(gamma), float(epsilon))) if closed < ITERATED else closed
    return MarginBounds(textbook, closed, recursive)


@compiled
def _recursive(gamma, epsilon):
    s, k = 1.0, 1
    while True:
        s = (s * s + 2.0 * (1.0 - epsilon) * gamma * s + 1.0) ** 0.5
        if (k + 1) * gamma > s * (1.0 + 1e-12):
            return k
        k += 1
