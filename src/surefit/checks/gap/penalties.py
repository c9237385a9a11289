r"""The checker's own penalty: :math:`\sum_j l_{1,j}|w_j| + \tfrac12 l_{2,j} w_j^2`, with signs, boxes, excluded and free columns.

One class covers all penalties. The terms :math:`\Omega_j(w_j) + \Omega_j^*(v_j) - w_j v_j \ge 0` are evaluated by
cases, without cancellation. For a constraint with a radius (``sum_j f_j (r|w_j| + (1 - r) w_j^2/2) <= R``), the bound
is that of a multiplier times the penalty, plus the multiplier times the slack of the constraint. Any multiplier proves
a bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT
from surefit.core.jit import compiled, quietly


@dataclass(frozen=True, eq=False)
class Penalty:
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

    @cached_property
    def excluded(self) -> np.ndarray:
        """Columns whose coefficient must be zero."""
        return np.isinf(self.l1)

    @cached_property
    def hard(self) -> np.ndarray:
        """Columns without curvature, whose ``v_j`` is bounded."""
        unlimited = (self.l2 == 0) & ~self.excluded
        return unlimited if self.box is None else unlimited & np.isinf(self.box)

    @cached_property
    def free(self) -> np.ndarray:
        """Unpenalized columns; their coefficients may still have to be positive."""
        return self.hard & (self.l1 == 0)

    @cached_property
    def limited(self) -> np.ndarray:
        """Columns whose ``v_j`` is at most ``l1`` in absolute value."""
        return self.hard & (self.l1 > 0)

    @cached_property
    def quadratic(self) -> bool:
        """Whether every column has a quadratic term and nothing else."""
        return self.box is None and not self.positive and not self.l1.any() and bool((self.l2 > 0).all())

    @cached_property
    def _terms(self) -> tuple[Any, ...]:
        """The penalty in the form that compiled loops read."""
        box = np.full(len(self.l1), np.inf) if self.box is None else self.box
        return self.l1, self.l2, box, self.limited, self.box is not None, bool(self.positive), self.quadratic

    def _replace(self, **changes: Any) -> Penalty:
        return replace(self, **changes)

    def scaled(self, factor: float) -> Penalty:
        """Return the penalty times ``factor``, without the constraint."""
        l1 = np.where(self.excluded, np.inf, np.where(self.excluded, 0.0, self.l1) * factor)
        return self._replace(l1=l1, l2=self.l2 * factor, radius=None)

    def boxed(self, box: np.ndarray) -> Penalty:
        """Return the penalty with a box on its free columns."""
        return self._replace(box=np.where(self.free, box, np.inf))

    def value(self, w: np.ndarray) -> np.ndarray:
        """Return the terms of the penalty; infinite if a constraint is violated."""
        if self.quadratic:
            return 0.5 * self.l2 * w * w
        l1 = np.where(self.excluded, 0.0, self.l1)
        terms = l1 * np.abs(w) + 0.5 * self.l2 * w * w
        outside = (self.excluded & (w != 0)) | (self.positive & (w < 0))
        if self.box is not None:
            outside |= np.abs(w) > self.box
        return np.where(outside, np.inf, terms)

    def shrink(self, v: np.ndarray, rad: np.ndarray) -> float:
        """Return a factor ``s <= 1`` such that ``s v`` is feasible for every ``v`` in its interval."""
        if not self.limited.any():
            return 1.0
        reach = ((np.maximum(v, 0.0) if self.positive else np.abs(v)) + rad)[self.limited]
        worst = float((reach / self.l1[self.limited]).max())
        return 1.0 if worst <= 1.0 else (1.0 - 8 * UNIT) / worst

    def excess(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the Fenchel-Young terms in plain floats; infinite if ``v`` is infeasible."""
        with quietly(all="ignore"):
            return _excesses(*self._terms, w, v)

    def upper(self, w: np.ndarray, v: np.ndarray, rad: np.ndarray) -> np.ndarray:
        """Return the largest terms for ``v`` within ``rad``, including the rounding of the evaluation.

        The caller has proved that ``v`` is feasible (``shrink``), so bounded entries are clipped to their limits.
        """
        with quietly(all="ignore"):
            return _uppers(*self._terms, w, v, rad)

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
    positive, radius = bool(problem.get("positive", False)), problem.get("radius")
    if factors is None:
        l1, l2 = (np.full(n_features, float(problem[name])) for name in ("l1", "l2"))
        return Penalty(l1, l2, positive, None, radius)
    f = np.asarray(factors, dtype=np.float64)
    if f.shape != (n_features,) or np.isnan(f).any() or np.any(f < 0):
        raise ValueError(f"penalty factors must be {n_features} numbers >= 0")
    excluded = np.isinf(f)
    finite = np.where(excluded, 0.0, f)
    l1 = np.where(excluded, np.inf, finite * float(problem["l1"]))
    return Penalty(l1, finite * float(problem["l2"]), positive, None, radius)


@compiled
def _excess(l1: Any, l2: Any, box: Any, boxed: Any, positive: Any, w: Any, v: Any) -> Any:
    """Return the term of one column, by cases and without cancellation; an infinite ``l1`` excludes the column."""
    if l1 == np.inf:
        return 0.0 if w == 0.0 else np.inf
    size, sign = abs(w), -1.0 if w < 0.0 else 1.0
    if w == 0.0 and not positive:
        sign = np.sign(v)
    along = sign * v - l1  # derivative toward the sign of w
    other = -np.inf if positive else -sign * v - l1  # and toward the opposite sign
    if not l2 > 0.0:
        if v == 0.0:  # a column of zeros has an infinite box
            return l1 * size
        if size == 0.0 and along <= 0.0 and other <= 0.0:
            return 0.0
        return ((box - size) * along if along > 0.0 else -size * along) + (box * other if other > 0.0 else 0.0)
    if along >= 0.0:
        inner = min(along / l2, box) if boxed else along / l2
        term = 0.5 * l2 * ((size - inner) * (size - inner))
    else:
        term = 0.5 * l2 * (size * size) - size * along
    if boxed and along > l2 * box:  # the best coefficient is on the boundary of the box
        term += (box - size) * (along - l2 * box)
    if other > 0.0:
        far = min(other / l2, box)
        term += far * (other - 0.5 * l2 * far)
    return term


@compiled
def _excesses(
    l1: Any, l2: Any, box: Any, limited: Any, boxed: Any, positive: Any, quadratic: Any, w: Any, v: Any
) -> Any:
    out = np.empty(len(w))
    for j in range(len(w)):
        if quadratic:
            apart = w[j] - v[j] / l2[j]
            out[j] = 0.5 * l2[j] * (apart * apart)
        else:
            out[j] = _excess(l1[j], l2[j], box[j], boxed, positive, w[j], v[j])
    return out


@compiled
def _uppers(
    l1: Any, l2: Any, box: Any, limited: Any, boxed: Any, positive: Any, quadratic: Any, w: Any, v: Any, radii: Any
) -> Any:
    out, up = np.empty(len(w)), 1.0 + 32.0 * UNIT
    for j in range(len(w)):
        if quadratic:
            rad = radii[j] + 4.0 * UNIT * (abs(v[j]) + l2[j] * abs(w[j]))
            apart = abs(w[j] - v[j] / l2[j]) + rad / l2[j]
            out[j] = 0.5 * l2[j] * (apart * apart) * up
            continue
        top = 0.0 if l1[j] == np.inf else l1[j]
        rad = radii[j] + 4.0 * UNIT * (abs(v[j]) + top + l2[j] * abs(w[j]))
        least, most = v[j] - rad, v[j] + rad
        if limited[j]:
            least, most = top if least > top else least, top if most > top else most
            if not positive:
                least, most = -top if least < -top else least, -top if most < -top else most
        low = _excess(l1[j], l2[j], box[j], boxed, positive, w[j], least)
        high = _excess(l1[j], l2[j], box[j], boxed, positive, w[j], most)
        out[j] = (low if low > high or low != low else high) * up  # an undefined term stays undefined
    return out
