"""Optimality of a point with multipliers: the four Karush-Kuhn-Tucker residuals and the duality gap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core import tables
from surefit.core.errors import InvalidParameter
from surefit.duality.base import Program
from surefit.duality.models import model_kkt


@dataclass(frozen=True)
class DualityGap:
    """Primal and dual value of a pair; by weak duality, the objective of the point is at most ``gap`` above the optimum.

    Examples
    --------
    >>> from surefit import weak_duality
    >>> from surefit.duality import QuadraticProgram
    >>> gap = weak_duality(QuadraticProgram([[2.0]], [[1.0]], [2.0]), [2.5], [3.0])
    >>> gap.primal, round(gap.dual, 9), round(gap.gap, 9)
    (6.25, 3.75, 2.5)
    """

    primal: float  # infinity if the point is infeasible
    dual: float  # minus infinity if the multipliers are infeasible

    @property
    def gap(self) -> float:
        """Primal minus dual value: an upper bound on the suboptimality, infinite if a point is infeasible."""
        return math.inf if math.isinf(self.primal) or math.isinf(self.dual) else self.primal - self.dual

    @property
    def relative(self) -> float:
        """The gap divided by the larger of the absolute primal and dual values (at least 1e-300)."""
        return self.gap / max(abs(self.primal), abs(self.dual), 1e-300) if math.isfinite(self.gap) else math.inf


@dataclass(frozen=True)
class KKTReport:
    """The four residuals of a point and its multipliers, the primal and dual values, and a Slater point.

    Examples
    --------
    >>> from surefit import kkt_report
    >>> from surefit.duality import QuadraticProgram
    >>> report = kkt_report(QuadraticProgram([[2.0]], [[1.0]], [2.0]), [2.0], [4.0])
    >>> report.stationarity, report.complementarity, report.values.gap < 1e-12
    (0.0, 0.0, True)
    """

    primal_infeasibility: float
    dual_infeasibility: float
    stationarity: float
    complementarity: float
    values: DualityGap
    slater_point: np.ndarray | None

    @property
    def gap(self) -> float:
        """Upper bound on the suboptimality of the point."""
        return self.values.gap

    @property
    def residuals(self) -> tuple[float, float, float, float]:
        """The four residuals in the order primal, dual, stationarity, complementarity."""
        return self.primal_infeasibility, self.dual_infeasibility, self.stationarity, self.complementarity

    def optimal(self, tol: float = 1e-9) -> bool:
        """Return whether no residual exceeds ``tol``.

        Zero residuals are sufficient for optimality, and also necessary for a convex program with a Slater point.
        """
        return max(self.residuals) <= tol

    def __repr__(self) -> str:
        return tables.text_table(*self._parts())

    def _repr_html_(self) -> str:
        return tables.html_table(*self._parts())

    def _parts(self):
        strict = "none known" if self.slater_point is None else "known: strong duality holds"
        rows = [
            ("primal feasibility", tables.number(self.primal_infeasibility), "largest violation of a constraint"),
            ("dual feasibility", tables.number(self.dual_infeasibility), "largest negative part of a multiplier"),
            ("stationarity", tables.number(self.stationarity), "largest entry of the Lagrangian's gradient"),
            ("complementarity", tables.number(self.complementarity), "largest multiplier times its constraint"),
            ("objective", tables.number(self.values.primal), "objective at the point, infinite if it is infeasible"),
            ("lower bound", tables.number(self.values.dual), "lower bound on the objective at every feasible point"),
            ("gap", tables.number(self.gap), "upper bound on the suboptimality of the point"),
            ("Slater point", "", strict),
        ]
        return "Karush-Kuhn-Tucker conditions", ("condition", "residual", "meaning"), rows, ""


def weak_duality(program: Program, x, multipliers=None, equality_multipliers=None, *, tol: float = 0.0) -> DualityGap:
    r"""Bound the suboptimality of a feasible point by any non-negative multipliers.

    For feasible :math:`x` and :math:`\lambda \ge 0`: :math:`\phi(\lambda, \nu) \le p^* \le g_0(x)`, independent of how they were found.

    Parameters
    ----------
    program : Program
        The program.
    x : array
        A point.
    multipliers : array or None, default=None
        Multipliers of the inequalities.
    equality_multipliers : array or None, default=None
        Multipliers of the equalities.
    tol : float, default=0.0
        Violations up to this size count as feasible; the theorem holds for zero.

    Returns
    -------
    DualityGap
        An infeasible point has primal value plus infinity, infeasible multipliers dual value minus infinity.

    Examples
    --------
    >>> from surefit.duality import LinearProgram, weak_duality
    >>> program = LinearProgram([1.0, 2.0], [[1.0, 1.0]], [1.0])
    >>> weak_duality(program, [0.5, 0.5], multipliers=[0.0, 1.0], equality_multipliers=[-1.0]).gap
    0.5
    """
    _require(program, tol)
    feasible = program.infeasibility(x) <= tol
    dual_feasible = program.dual_infeasibility(multipliers, equality_multipliers) <= tol
    return DualityGap(
        float(program.objective(x)) if feasible else math.inf,
        float(program.lower_bound(x, multipliers, equality_multipliers)) if dual_feasible else -math.inf,
    )


def kkt_report(
    program, x, multipliers=None, equality_multipliers=None, *, tol: float = 1e-9, sample_weight=None
) -> Any:
    r"""Measure the residuals of the Karush-Kuhn-Tucker conditions for a point and multipliers.

    Primal feasibility :math:`g_j(x) \le 0`, :math:`Ax = b`; dual feasibility :math:`\lambda \ge 0`; stationarity
    :math:`\nabla g_0 + \sum_j \lambda_j \nabla g_j + A^\top \nu = 0`; complementarity :math:`\lambda_j g_j(x) = 0`.

    For a fitted model, ``kkt_report(model, X, y)`` measures the same conditions on its training data: one number per row (or feature) and
    condition, the gap, and for epsilon-insensitive regression the side of the tube each row is on.

    Parameters
    ----------
    program : Program, or fitted model
        The program; or ``SVC``, ``LinearSVC``, ``SVR``, ``LinearSVR``, ``Lasso``, ``ElasticNet``, ``Ridge``, ``LinearRegression``,
        ``LogisticRegression``, ``KernelRidge``, ``KernelLogisticRegression``.
    x : array
        A point; for a model its training rows X.
    multipliers : array or None, default=None
        Multipliers of the inequalities; for a model its targets y.
    equality_multipliers : array or None, default=None
        Multipliers of the equalities.
    tol : float, default=1e-9
        Violations up to this size count as feasible when the gap is formed.
    sample_weight : array or None, default=None
        For a model: its sample weights.

    Returns
    -------
    KKTReport or ModelKKT
        Four residuals, the gap, and a Slater point if one is known; for a model, the violations of each condition.

    Notes
    -----
    Guarantee: all residuals zero imply that ``x`` is optimal. The converse needs a Slater point or affine constraints:
    :math:`\min x` subject to :math:`x^2 \le 0` has its optimum at zero and no multiplier (theory: :ref:`kkt`).

    Examples
    --------
    The point of [2, 4] nearest to the origin, and a candidate whose multiplier has the wrong sign:

    >>> from surefit.duality import kkt_report, nearest_to_origin
    >>> program, x, multiplier = nearest_to_origin(3.0)
    >>> report = kkt_report(program, x, multiplier)
    >>> report.optimal(), report.gap
    (True, 0.0)
    >>> kkt_report(program, [4.0], [-4.0]).dual_infeasibility
    4.0
    >>> from surefit import Lasso
    >>> X, y = [[-1.0], [0.0], [1.0]], [-2.0, 0.0, 2.0]
    >>> kkt_report(Lasso(alpha=1 / 3, tol=1e-12).fit(X, y), X, y).optimal()
    True
    """
    if not isinstance(program, Program) and hasattr(program, "fit"):
        return model_kkt(program, x, multipliers, sample_weight)
    return KKTReport(
        float(program.infeasibility(x)),
        float(program.dual_infeasibility(multipliers, equality_multipliers)),
        float(program.stationarity(x, multipliers, equality_multipliers)),
        float(program.complementarity(x, multipliers)),
        weak_duality(program, x, multipliers, equality_multipliers, tol=tol),
        program.slater_point(),
    )


def _require(program, tol) -> None:
    if not isinstance(program, Program):
        raise InvalidParameter("weak_duality", "program", "a surefit.duality.Program", program)
    if not tol >= 0:
        raise InvalidParameter("weak_duality", "tol", "a number >= 0", tol)
