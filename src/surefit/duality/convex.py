"""Convex programs defined by functions for the objective, inequalities and equalities."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.duality.base import Program


@dataclass(frozen=True)
class Constraint:
    r"""A convex inequality :math:`g(x) \le 0` with its gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.duality import Constraint
    >>> disc = Constraint(lambda x: x @ x - 1.0, lambda x: 2.0 * x)
    >>> float(disc.value(np.array([1.0, 1.0]))), disc.gradient(np.array([1.0, 1.0]))
    (1.0, array([2., 2.]))
    """

    value: Callable[[np.ndarray], float]
    gradient: Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class ConvexProgram(Program):
    r"""Minimize a differentiable convex function under convex inequalities and linear equalities.

    Parameters
    ----------
    value, gradient : callable
        The objective and its gradient.
    constraints : tuple of Constraint, default=()
        Inequalities :math:`g_j(x) \le 0`.
    equalities : tuple (A, b) or None, default=None
        Equalities :math:`Ax = b`.
    dual : callable or None, default=None
        The dual function :math:`\phi(\lambda, \nu)` if it is known in closed form.
    curvature : float, default=0.0
        A number :math:`\mu` such that the objective minus :math:`\tfrac\mu2 \|x\|^2` is convex. With :math:`\mu > 0` a bound
        follows without ``dual``: :math:`\phi \ge L(x) - \|\nabla L(x)\|^2 / (2 \mu)`.
    slater : array or None, default=None
        A point at which every inequality is strict.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.duality import Constraint, ConvexProgram, kkt_report
    >>> disc = Constraint(lambda x: x @ x - 1.0, lambda x: 2.0 * x)
    >>> program = ConvexProgram(lambda x: x[0], lambda x: np.array([1.0, 0.0]), (disc,), slater=np.zeros(2))
    >>> kkt_report(program, [-1.0, 0.0], [0.5]).optimal()
    True
    """

    value: Callable[[np.ndarray], float]
    gradient: Callable[[np.ndarray], np.ndarray]
    constraints: tuple[Constraint, ...] = ()
    equalities: tuple | None = None
    dual: Callable[[np.ndarray, np.ndarray], float] | None = None
    curvature: float = 0.0
    slater: np.ndarray | None = None

    def objective(self, x) -> float:
        return float(self.value(_vector(x)))

    def infeasibility(self, x) -> float:
        x = _vector(x)
        return max([0.0, *self._slacks(x), *np.abs(self._residual(x))])

    def dual_infeasibility(self, multipliers, equality_multipliers) -> float:
        return max([0.0, *(-self._multipliers(multipliers))])

    def stationarity(self, x, multipliers, equality_multipliers) -> float:
        return float(np.max(np.abs(self._lagrangian_gradient(_vector(x), multipliers, equality_multipliers))))

    def complementarity(self, x, multipliers) -> float:
        return max([0.0, *np.abs(self._multipliers(multipliers) * self._slacks(_vector(x)))])

    def lower_bound(self, x, multipliers, equality_multipliers) -> float:
        """Return the value of ``dual`` if given, else a bound by ``curvature`` or a zero gradient, else -inf."""
        x, weights = _vector(x), self._multipliers(multipliers)
        free = np.zeros(0) if equality_multipliers is None else _vector(equality_multipliers)
        if self.dual is not None:
            return float(self.dual(weights, free))
        residual = self._lagrangian_gradient(x, multipliers, equality_multipliers)
        value = self.objective(x) + float(weights @ self._slacks(x)) + float(free @ self._residual(x))
        if self.curvature > 0:
            return value - float(residual @ residual) / (2 * self.curvature)
        return value if not np.any(residual) else -math.inf

    def slater_point(self) -> np.ndarray | None:
        if self.slater is None:
            return None
        point = _vector(self.slater)
        strict = all(g < 0 for g in self._slacks(point)) and not np.any(self._residual(point))
        if not strict:
            raise InvalidParameter(
                "ConvexProgram", "slater", "a point at which every inequality is strict", self.slater
            )
        return point

    def _slacks(self, x) -> np.ndarray:
        return np.array([float(constraint.value(x)) for constraint in self.constraints])

    def _residual(self, x) -> np.ndarray:
        if self.equalities is None:
            return np.zeros(0)
        A, b = self.equalities
        return np.atleast_2d(A) @ x - _vector(b)

    def _multipliers(self, multipliers) -> np.ndarray:
        found = np.zeros(len(self.constraints)) if multipliers is None else _vector(multipliers)
        if len(found) != len(self.constraints):
            expected = f"one number per constraint, {len(self.constraints)} in total"
            raise InvalidParameter("ConvexProgram", "multipliers", expected, multipliers)
        return found

    def _lagrangian_gradient(self, x, multipliers, equality_multipliers) -> np.ndarray:
        total = np.array(self.gradient(x), dtype=float)
        for weight, constraint in zip(self._multipliers(multipliers), self.constraints, strict=True):
            total = total + weight * np.asarray(constraint.gradient(x), dtype=float)
        if self.equalities is not None and equality_multipliers is not None:
            total = total + np.atleast_2d(self.equalities[0]).T @ _vector(equality_multipliers)
        return total


def _vector(x) -> np.ndarray:
    return np.atleast_1d(np.asarray(x, dtype=float))
