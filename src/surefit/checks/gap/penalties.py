r"""The checker's own penalty: :math:`\sum_j l_{1,j}|w_j| + \tfrac12 l_{2,j} w_j^2`, with signs, boxes, excluded and free columns.

One class covers all penalties. The terms :math:`\Omega_j(w_j) + \Omega_j^*(v_j) - w_j v_j \ge 0` are evaluated by
cases, without cancellation. For a constraint with a radius (``sum_j f_j (r|w_j| + (1 - r) w_j^2/2) <= R``), the bound
is that of a multiplier times the penalty, plus the multiplier times the slack of the constraint. Any multiplier proves
a bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.gap import column_loops
from surefit.core.jit import quietly

FEW = 256  # number of columns up to which penalties are kept


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

    @property
    def excluded(self) -> np.ndarray:
        """Columns whose coefficient must be zero."""
        return self._kinds[0]

    @property
    def free(self) -> np.ndarray:
        """Unpenalized columns; their coefficients may still have to be positive."""
        return self._kinds[1]

    @property
    def limited(self) -> np.ndarray:
        """Columns whose ``v_j`` is at most ``l1`` in absolute value."""
        return self._terms.limited

    @property
    def quadratic(self) -> bool:
        """Whether every column has a quadratic term and nothing else."""
        return self._terms.quadratic

    @property
    def any_free(self) -> bool:
        """Whether some column is free."""
        return self._kinds[3]

    @property
    def nothing(self) -> bool:
        """Whether every column is free and may have any coefficient."""
        return bool(self.free.all()) and not self.positive

    @cached_property
    def _kinds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool, bool]:
        return column_loops.kinds(self.l1, self.l2, self._box)

    @cached_property
    def _box(self) -> np.ndarray:
        return np.full(len(self.l1), np.inf) if self.box is None else self.box

    @cached_property
    def _terms(self) -> column_loops.Terms:
        """The penalty in the form that compiled loops read."""
        boxed, positive = self.box is not None, bool(self.positive)
        _, _, limited, _, simple = self._kinds
        plain = simple and not boxed and not positive
        return column_loops.Terms(self.l1, self.l2, self._box, limited, boxed, positive, plain)

    def _replace(self, **changes: Any) -> Penalty:
        return replace(self, **changes)

    def scaled(self, factor: float) -> Penalty:
        """Return the penalty times ``factor``, without the constraint; the last one is kept, because targets and fits share it."""
        last = self.__dict__.get("_scaled")
        if last is None or last[0] != factor:
            l1 = np.where(self.excluded, 0.0, self.l1) * factor
            l1[self.excluded] = np.inf
            last = self.__dict__["_scaled"] = factor, Penalty(l1, self.l2 * factor, self.positive, self.box)
        return last[1]

    def boxed(self, box: np.ndarray) -> Penalty:
        """Return the penalty with a box on its free columns."""
        return self._replace(box=np.where(self.free, box, np.inf))

    def value(self, w: np.ndarray) -> np.ndarray:
        """Return the terms of the penalty; infinite if a constraint is violated."""
        with quietly(all="ignore"):
            return column_loops.values(self._terms, w)

    def shrinks(self, v: np.ndarray, radii: np.ndarray) -> tuple[float, float]:
        """Return factors ``s <= 1`` for which ``s v`` is feasible if ``v`` is known up to ``radii[0]``, and in another evaluation."""
        worst, other = column_loops.reaches(self._terms, v, radii)
        return _shrink(worst), _shrink(other)

    def shrink(self, v: np.ndarray, rad: np.ndarray) -> float:
        """Return a factor ``s <= 1`` such that ``s v`` is feasible for every ``v`` in its interval."""
        return self.shrinks(v, np.array([rad, rad]))[0]

    def sums(self, w: Any, exact: Any, shrinks: tuple[float, float], v: Any, radii: Any) -> tuple[Any, ...]:
        """Return the sums of the terms at the scaled ``v``, except for ``exact`` columns, and bounds on ``v``.

        The sums are those of the largest terms, of those of another evaluation, of the terms in plain floats, and of the
        contributions of the rounding of ``v`` for a quadratic penalty.
        """
        with quietly(all="ignore"):
            near, far, middle, blur, most, least = column_loops.term_sums(self._terms, exact, w, v, radii, *shrinks)
        up = 1 + gamma(len(w)) + 2 * UNIT
        return near * up, far * up, middle, blur, most, least

    def excess(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the Fenchel-Young terms in plain floats; infinite if ``v`` is infeasible."""
        with quietly(all="ignore"):
            return column_loops.excesses(self._terms, w, v)

    def upper(self, w: np.ndarray, v: np.ndarray, rad: np.ndarray) -> np.ndarray:
        """Return the largest terms for ``v`` within ``rad``, including the rounding of the evaluation.

        The caller has proved that ``v`` is feasible (``shrink``), so bounded entries are clipped to their limits.
        """
        with quietly(all="ignore"):
            return column_loops.uppers(self._terms, w, v, rad)

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
        numbers = float(problem["l1"]), float(problem["l2"]), positive
        uniform = _few_uniform if n_features <= FEW else _uniform
        return uniform(n_features, *numbers) if radius is None else _uniform(n_features, *numbers, radius)
    f = np.asarray(factors, dtype=np.float64)
    if f.shape != (n_features,) or np.isnan(f).any() or np.any(f < 0):
        raise ValueError(f"penalty factors must be {n_features} numbers >= 0")
    excluded = np.isinf(f)
    finite = np.where(excluded, 0.0, f)
    l1 = np.where(excluded, np.inf, finite * float(problem["l1"]))
    return Penalty(l1, finite * float(problem["l2"]), positive, None, radius)


def _uniform(n_features: int, l1: float, l2: float, positive: bool, radius: Any = None) -> Penalty:
    """Return the penalty with the same coefficients for all columns."""
    return Penalty(np.full(n_features, l1), np.full(n_features, l2), positive, None, radius)


_few_uniform = lru_cache(64)(
    _uniform
)  # describing few columns takes longer than bounding their terms; callers only read it


def _shrink(worst: float) -> float:
    return 1.0 if worst <= 1.0 else (1.0 - 8 * UNIT) / worst
