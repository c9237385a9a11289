"""Constants of a loss on a range of scores, sets of subgradients, and clipping."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import POSITIVE
from surefit.losses.base import is_margin_loss, slope, value


class Subgradients(NamedTuple):
    """Interval of the subgradients of a convex loss at a point."""

    low: float
    high: float

    @property
    def unique(self) -> bool:
        """Whether the loss is differentiable at the point, up to rounding."""
        return self.high - self.low <= 1e-9 * max(1.0, abs(self.low), abs(self.high))


def subgradients(loss, y: float, z: float) -> Subgradients:
    r"""Return the set of subgradients of a loss in the score: all v with :math:`\phi(z') - \phi(z) \ge v (z' - z)` for every z'.

    It is the interval between the one-sided derivatives, a single number at points of differentiability.
    ``losses.slope`` returns one of them.

    Examples
    --------
    >>> from surefit.losses import Hinge, PerceptronLoss, subgradients
    >>> subgradients(PerceptronLoss(), 1.0, 0.0), subgradients(Hinge(), 1.0, 2.0)
    (Subgradients(low=-1.0, high=0.0), Subgradients(low=0.0, high=0.0))
    """
    step = 1e-9 * max(1.0, abs(z))  # derivatives of smooth losses change by less than their rounding error
    near = np.nextafter(z, -np.inf), np.nextafter(z, np.inf)
    low, high = (float(slope(loss, y, at)) for at in near)
    if low == high:  # a kink may be hidden by the rounding of y - z
        low, high = (float(slope(loss, y, z + d)) for d in (-step, step))
        if high - low <= 1e-6 * max(1.0, abs(low)):
            low = high = float(slope(loss, y, z))
    return Subgradients(low + 0.0, high + 0.0)


def lipschitz_on(loss, bound: float) -> float:
    r"""Return the Lipschitz constant of a loss for residuals (scores, for margin losses) of at most ``bound``.

    Derivatives of a convex function are largest at the ends: :math:`p M^{p-1}` for :class:`Lp`, M for :class:`Squared`.

    Examples
    --------
    >>> from surefit.losses import Lp, Squared, lipschitz_on
    >>> lipschitz_on(Lp(2.0), 1.0), lipschitz_on(Lp(3.0), 2.0), lipschitz_on(Squared(), 5.0)
    (2.0, 12.0, 5.0)
    """
    return max(abs(float(slope(loss, y, z))) for y, z in _ends("lipschitz_on", loss, bound))


def bound_on(loss, bound: float) -> float:
    r"""Return the largest value of a loss for residuals (scores, for margin losses) of at most ``bound``: :math:`M^p` for ``Lp``.

    Examples
    --------
    >>> from surefit.losses import EpsilonInsensitive, Lp, bound_on
    >>> bound_on(Lp(2.0), 3.0), bound_on(EpsilonInsensitive(0.5), 3.0)
    (9.0, 2.5)
    """
    return max(float(value(loss, y, z)) for y, z in _ends("bound_on", loss, bound))


def clip(predictions, low: float, high: float) -> np.ndarray:
    """Clip predictions to [low, high]; if all targets lie in that interval, no loss of a residual increases.

    With targets and predictions in [-B, B] residuals are at most 2 B, and squared errors at most 4 B^2.

    Examples
    --------
    >>> from surefit.losses import clip
    >>> clip([-3.0, 0.5, 2.0], -1.0, 1.0)
    array([-1. ,  0.5,  1. ])
    """
    if not low < high:
        raise InvalidParameter("clip", "low, high", "two ends with low < high", (low, high))
    return np.clip(np.asarray(predictions, dtype=np.float64), low, high)


def _ends(who: str, loss: Any, bound: float) -> list[tuple[float, float]]:
    if not POSITIVE.allows(bound):
        raise InvalidParameter(who, "bound", POSITIVE.words, bound)
    targets = (-1.0, 1.0) if is_margin_loss(loss) else (0.0,)
    return [(y, z) for y in targets for z in (-float(bound), float(bound))]
