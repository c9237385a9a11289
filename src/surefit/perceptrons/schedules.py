r"""Step-size schedules of perceptrons, and a test of the conditions of the convergence theorem.

A schedule :math:`\eta(1), \eta(2), \dots \ge 0` leads to a separating direction on all separable data if
:math:`S_m = \sum_{k \le m} \eta(k) \to \infty` and :math:`Q_m / S_m^2 \to 0`, :math:`Q_m = \sum_{k \le m} \eta(k)^2`
(theory: :ref:`variable-increment`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT, NON_NEGATIVE, POSITIVE, REAL, Rule

HORIZON = 2**16  # number of updates over which an arbitrary schedule is examined


class PowerSchedule(NamedTuple):
    r"""Power schedule with step sizes :math:`\eta(k) = s k^p`.

    Examples
    --------
    >>> from surefit import PowerSchedule
    >>> PowerSchedule(-1.0)([1.0, 2.0, 4.0])
    array([1.  , 0.5 , 0.25])
    """

    exponent: float
    scale: float = 1.0

    def __call__(self, k) -> np.ndarray:
        """Return the step sizes of the updates with numbers ``k``."""
        return self.scale * np.power(np.asarray(k, dtype=np.float64), self.exponent)


class GeometricSchedule(NamedTuple):
    r"""Geometric schedule with step sizes :math:`\eta(k) = s r^k`; only ratio 1 guarantees convergence.

    Examples
    --------
    >>> from surefit import GeometricSchedule
    >>> GeometricSchedule(2.0)([1.0, 2.0, 3.0])
    array([2., 4., 8.])
    """

    ratio: float
    scale: float = 1.0

    def __call__(self, k) -> np.ndarray:
        """Return the step sizes of the updates with numbers ``k``."""
        with np.errstate(over="ignore"):
            return self.scale * np.power(self.ratio, np.asarray(k, dtype=np.float64))


NAMED = {
    "constant": PowerSchedule(0.0),
    "linear": PowerSchedule(1.0),
    "inverse": PowerSchedule(-1.0),
    "inverse_sqrt": PowerSchedule(-0.5),
}

SCHEDULE = Rule(
    f"one of {', '.join(map(repr, NAMED))}, a PowerSchedule, a GeometricSchedule or a function of the update number",
    lambda v: v in NAMED if isinstance(v, str) else callable(v),
)


class ScheduleReport(NamedTuple):
    """Whether a schedule satisfies the two conditions; None if finitely many steps do not decide."""

    sum_diverges: bool | None
    ratio_vanishes: bool | None
    ratio_at_horizon: float  # Q_m / S_m^2 after the last update examined
    proved: bool

    @property
    def admissible(self) -> bool | None:
        """Whether both conditions hold."""
        verdicts = (self.sum_diverges, self.ratio_vanishes)
        return False if False in verdicts else None if None in verdicts else True


def as_schedule(schedule: Any) -> Any:
    """Return the schedule function for a name."""
    return NAMED[schedule] if isinstance(schedule, str) else schedule


def check_schedule(schedule: Any, horizon: int = HORIZON) -> ScheduleReport:
    """Decide whether a step-size schedule leads to a separating direction on all separable data.

    Guarantee: for power and geometric schedules the answer is a theorem (theory: :ref:`variable-increment`). Other
    functions cannot be decided from finitely many steps: both conditions are reported as undecided, with the ratio
    reached.

    Parameters
    ----------
    schedule : str or callable
        A name (``constant``, ``linear``, ``inverse``, ``inverse_sqrt``), a :class:`PowerSchedule`, a
        :class:`GeometricSchedule`, or a function that takes an array of update numbers, starting at 1.
    horizon : int >= 1
        Number of steps to examine.

    Examples
    --------
    >>> from surefit import GeometricSchedule, PowerSchedule, check_schedule
    >>> check_schedule("inverse").admissible, check_schedule(PowerSchedule(-2.0)).sum_diverges
    (True, False)
    >>> report = check_schedule(GeometricSchedule(2.0), horizon=50)
    >>> report.ratio_vanishes, round(report.ratio_at_horizon, 6)
    (False, 0.333333)
    """
    if not SCHEDULE.allows(schedule):
        raise InvalidParameter("check_schedule", "schedule", SCHEDULE.words, schedule)
    if not COUNT.allows(horizon):
        raise InvalidParameter("check_schedule", "horizon", COUNT.words, horizon)
    steps = as_schedule(schedule)
    if isinstance(steps, PowerSchedule) and not (POSITIVE.allows(steps.scale) and REAL.allows(steps.exponent)):
        raise InvalidParameter("check_schedule", "schedule", "a power schedule with scale > 0", schedule)
    if isinstance(steps, GeometricSchedule) and not (POSITIVE.allows(steps.scale) and NON_NEGATIVE.allows(steps.ratio)):
        raise InvalidParameter(
            "check_schedule", "schedule", "a geometric schedule with ratio >= 0 and scale > 0", schedule
        )
    ratio = _ratio(steps, horizon)
    if isinstance(steps, PowerSchedule):
        # k^p with p >= -1 has S ~ m^(p+1) (or ln m), Q of at most order max(1, m^(2p+1), ln m): the ratio vanishes.
        good = steps.exponent >= -1
        return ScheduleReport(good, good, ratio, True)
    if isinstance(steps, GeometricSchedule):
        # The ratio tends to |1 - r| / (1 + r), which is zero only for r = 1.
        return ScheduleReport(steps.ratio >= 1, steps.ratio == 1, ratio, True)
    return ScheduleReport(None, None, ratio, False)


def read_steps(who: str, schedule: Callable, k: np.ndarray) -> np.ndarray:
    """Return the step sizes of the updates with numbers ``k``; raise unless they are finite numbers >= 0."""
    steps = np.asarray(schedule(k), dtype=np.float64)
    steps = np.broadcast_to(steps, k.shape) if steps.ndim == 0 else steps
    if steps.shape != k.shape or not np.all(np.isfinite(steps)) or np.any(steps < 0):
        raise InvalidParameter(who, "schedule", "finite numbers >= 0, one for each update number", schedule)
    return np.ascontiguousarray(steps)


def most_scheduled_updates(
    schedule: Any, radius: float, margin: float, threshold: float = 0.0, horizon: int = 10**9
) -> float:
    r"""Bound the number of updates of a scheduled perceptron from zero; infinite if larger than ``horizon``.

    Every prefix of a run satisfies :math:`\gamma^2 S_m^2 \le 2 b S_m + R^2 Q_m` with the threshold :math:`b`; the bound
    is the largest such :math:`m`. For power schedules, sums beyond the first thousand terms are computed by the
    Euler-Maclaurin formula to about twelve digits.

    Examples
    --------
    >>> from surefit.perceptrons.schedules import most_scheduled_updates
    >>> most_scheduled_updates("constant", 1.0, 0.1)
    100.0
    >>> f"{most_scheduled_updates('inverse', 1.0, 0.1, threshold=0.05):.1e}"
    '7.9e+07'
    """
    steps = as_schedule(schedule)

    def allowed(m: int) -> bool:
        S, Q = _sums(steps, m)
        return (margin * S) ** 2 <= (2 * threshold * S + radius * radius * Q) * (1 + 1e-12)

    if not isinstance(steps, PowerSchedule):
        horizon = min(horizon, HORIZON)
        S, Q = (np.cumsum(read_steps("schedule", steps, np.arange(1.0, horizon + 1)) ** p) for p in (1, 2))
        good = np.flatnonzero((margin * S) ** 2 <= (2 * threshold * S + radius * radius * Q) * (1 + 1e-12))
        return math.inf if len(good) and good[-1] == horizon - 1 else float(good[-1] + 1 if len(good) else 0)
    if allowed(horizon):
        return math.inf
    low, high = 0, 1
    while allowed(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if allowed(middle) else (low, middle)
    return float(low)


def _sums(steps: PowerSchedule, m: int) -> tuple[float, float]:
    return steps.scale * _power_sum(m, steps.exponent), steps.scale**2 * _power_sum(m, 2 * steps.exponent)


def _power_sum(m: int, p: float, direct: int = 1000) -> float:
    """Return ``sum_{k<=m} k^p``: the first terms directly, the others by the Euler-Maclaurin formula."""
    head = math.fsum(np.arange(1.0, min(m, direct) + 1) ** p)
    if m <= direct:
        return head
    a, b = float(direct), float(m)
    integral = math.log(b / a) if p == -1 else (b ** (p + 1) - a ** (p + 1)) / (p + 1)
    slope = p * (b ** (p - 1) - a ** (p - 1)) / 12
    third = p * (p - 1) * (p - 2) * (b ** (p - 3) - a ** (p - 3)) / 720
    return head + integral + (b**p - a**p) / 2 + slope - third


def _ratio(steps: Callable, horizon: int) -> float:
    """Return the sum of squares over the square of the sum, without overflow."""
    if isinstance(steps, GeometricSchedule):
        r = float(steps.ratio)
        if r in (0.0, 1.0):
            return 1.0 if r == 0.0 else 1.0 / horizon
        q = min(r, 1.0 / r)  # the ratio is the same for r and 1/r, which reverse the order of the steps
        tail = q**horizon
        return (1.0 - q) * (1.0 + tail) / ((1.0 + q) * (1.0 - tail))
    k = np.arange(1.0, horizon + 1)
    if isinstance(steps, PowerSchedule):
        scaled = (k / horizon) ** steps.exponent if steps.exponent >= 0 else k**steps.exponent
    else:
        values = np.broadcast_to(np.asarray(steps(k), dtype=np.float64), (horizon,))
        largest = float(np.max(values, initial=0.0))
        if largest == 0.0 or not math.isfinite(largest):
            return math.nan
        scaled = values / largest
    return float(np.sum(scaled * scaled)) / float(np.sum(scaled)) ** 2
