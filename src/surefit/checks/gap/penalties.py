r"""The checker's own penalty: :math:`\sum_j l_{1,j}|w_j| + \tfrac12 l_{2,j} w_j^2`, with signs, boxes, excluded and free columns.

One class covers all penalties. The terms :math:`\Omega_j(w_j) + \Omega_j^*(v_j) - w_j v_j \ge 0` are evaluated by
cases, without cancellation. For a constraint with a radius (``sum_j f_j (r|w_j| + (1 - r) w_j^2/2) <= R``), the bound
is that of a multiplier times the penalty, plus the multiplier times the slack of the constraint. Any multiplier proves
a bound.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT


class Penalty(NamedTuple):
    """Coefficients of the penalty, one per column of the operator.

    A column with infinite ``l1`` is excluded (its coefficient is zero). A column without penalty is free: its dual
    constraint is the equality ``v_j = 0``. ``box`` is the largest absolute coefficient that is considered (infinite: no
    limit).
    """

    l1: np.ndarray
    l2: np.ndarray
    positive: bool = False
    box: np.ndarray | None = None
    radius: float | Fraction | None = (
        None  # of the constraint "value <= radius"; the penalty is then an indicator function
    )

    @property
    def excluded(self) -> np.ndarray:
        """Columns whose coefficient must be zero."""
        return np.isinf(self.l1)

    @property
    def hard(self) -> np.ndarray:
        """Columns without curvature, whose ``v_j`` is bounded."""
        unlimited = (self.l2 == 0) & ~self.excluded
        return unlimited if self.box is None else unlimited & np.isinf(self.box)

    @property
    def free(self) -> np.ndarray:
        """Unpenalized columns; their coefficients may still have to be positive."""
        return self.hard & (self.l1 == 0)

    @property
    def quadratic(self) -> bool:
        """Whether every column has a quadratic term and nothing else."""
        return self.box is None and not self.positive and not self.l1.any() and bool(np.all(self.l2 > 0))

    def scaled(self, factor: float) -> Penalty:
        """Return the penalty times ``factor``, without the constraint."""
        l1 = np.where(self.excluded, np.inf, np.where(self.excluded, 0.0, self.l1) * factor)
        return self._replace(l1=l1, l2=self.l2 * factor, radius=None)

    def boxed(self, box: np.ndarray) -> Penalty:
        """Return the penalty with a box on its free columns."""
        return self._replace(box=np.where(self.free, box, np.inf))

    def value(self, w: np.ndarray) -> np.ndarray:
        """Return the terms of the penalty; infinite if a constraint is violated."""
        l1 = np.where(self.excluded, 0.0, self.l1)
        terms = l1 * np.abs(w) + 0.5 * self.l2 * w * w
        outside = (self.excluded & (w != 0)) | (self.positive & (w < 0))
        if self.box is not None:
            outside |= np.abs(w) > self.box
        return np.where(outside, np.inf, terms)

    def shrink(self, v: np.ndarray, rad: np.ndarray) -> float:
        """Return a factor ``s <= 1`` such that ``s v`` is feasible for every ``v`` in its interval."""
        reach = ((np.maximum(v, 0.0) if self.positive else np.abs(v)) + rad)[self.hard & (self.l1 > 0)]
        limits = self.l1[self.hard & (self.l1 > 0)]
        worst = float(np.max(reach / limits, initial=0.0))
        return 1.0 if worst <= 1.0 else (1.0 - 8 * UNIT) / worst

    def excess(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the Fenchel-Young terms in plain floats, for each row of ``v``; infinite if ``v`` is infeasible."""
        if self.quadratic:
            with np.errstate(over="ignore", invalid="ignore"):
                return 0.5 * self.l2 * (w - v / self.l2) ** 2
        l1 = np.where(self.excluded, 0.0, self.l1)
        size, sign = np.abs(w), np.where((w == 0) & (not self.positive), np.sign(v), np.where(w < 0, -1.0, 1.0))
        along = sign * v - l1  # derivative toward the sign of w
        against = np.full(len(w), -np.inf) if self.positive else -sign * v - l1  # and toward the opposite sign
        box = np.full(len(w), np.inf) if self.box is None else self.box
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inner = np.minimum(along / self.l2, box) if self.box is not None else along / self.l2
            curved = np.where(along >= 0, 0.5 * self.l2 * (size - inner) ** 2, 0.5 * self.l2 * size**2 - size * along)
            if self.box is not None:  # if the best coefficient is on the boundary of the box
                curved = curved + np.where(along > self.l2 * box, (box - size) * (along - self.l2 * box), 0.0)
            other = np.maximum(against, 0.0)
            far = np.minimum(other / self.l2, box)
            curved = curved + np.where(other > 0, far * (other - 0.5 * self.l2 * far), 0.0)
            flat = np.where(along > 0, (box - size) * along, -size * along) + np.where(other > 0, box * other, 0.0)
            flat = np.where((size == 0) & (along <= 0) & (other <= 0), 0.0, flat)
            flat = np.where(v == 0, l1 * size, flat)  # a column of zeros has an infinite box
        terms = np.where(self.l2 > 0, curved, flat)
        return np.where(self.excluded, np.where(w == 0, 0.0, np.inf), terms)

    def upper(self, w: np.ndarray, v: np.ndarray, rad: np.ndarray) -> np.ndarray:
        """Return the largest terms for ``v`` within ``rad``, including the rounding of the evaluation.

        The caller has proved that ``v`` is feasible (``shrink``), so bounded entries are clipped to their limits.
        """
        if self.quadratic:
            rad = rad + 4 * UNIT * (np.abs(v) + self.l2 * np.abs(w))
            with np.errstate(over="ignore", invalid="ignore"):
                return 0.5 * self.l2 * (np.abs(w - v / self.l2) + rad / self.l2) ** 2 * (1 + 32 * UNIT)
        l1 = np.where(self.excluded, 0.0, self.l1)
        rad = rad + 4 * UNIT * (np.abs(v) + l1 + self.l2 * np.abs(w))
        ends = np.array([v - rad, v + rad])
        inside = np.minimum(ends, l1) if self.positive else np.maximum(np.minimum(ends, l1), -l1)
        low, high = self.excess(w, np.where(self.hard & (self.l1 > 0), inside, ends))
        return np.maximum(low, high) * (1 + 32 * UNIT)

    def slack(self, w: np.ndarray) -> Fraction:
        """Return the radius minus the value at ``w``, exactly; excluded coefficients are ignored."""
        assert self.radius is not None
        used = np.flatnonzero((w != 0) & ~self.excluded)
        parts = zip(self.l1[used].tolist(), self.l2[used].tolist(), w[used].tolist(), strict=True)
        size = sum(
            (Fraction(a) * abs(Fraction(u)) + Fraction(b) / 2 * Fraction(u) ** 2 for a, b, u in parts), Fraction(0)
        )
        return Fraction(self.radius) - size


def penalty_of(problem: dict[str, Any], n_features: int, factors: np.ndarray | None = None) -> Penalty:
    """Return the checker's penalty for a problem with ``l1`` and ``l2`` and optional factors per column."""
    f = np.ones(n_features) if factors is None else np.asarray(factors, dtype=np.float64)
    if f.shape != (n_features,) or np.isnan(f).any() or np.any(f < 0):
        raise ValueError(f"penalty factors must be {n_features} numbers >= 0")
    excluded = np.isinf(f)
    finite = np.where(excluded, 0.0, f)
    l1 = np.where(excluded, np.inf, finite * float(problem["l1"]))
    return Penalty(l1, finite * float(problem["l2"]), bool(problem.get("positive", False)), None, problem.get("radius"))
