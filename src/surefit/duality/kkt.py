"""What a point and multipliers prove: the four Kuhn-Tucker residuals, and the gap of weak duality."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from surefit.core import tables
from surefit.core.errors import InvalidParameter
from surefit.duality.base import Programme


@dataclass(frozen=True)
class DualityGap:
    """What weak duality says of a pair: the point is at most ``gap`` above the optimum."""

    primal: float  # plus infinity if the point is not feasible
    dual: float  # minus infinity if the multipliers are not

    @property
    def gap(self) -> float:
        """Primal minus dual value: an upper bound of how far the point is from the optimum, infinite if it says nothing."""
        return math.inf if math.isinf(self.primal) or math.isinf(self.dual) else self.primal - self.dual

    @property
    def relative(self) -> float:
        """The gap over the larger of the two values in absolute size, at least 1e-300."""
        return self.gap / max(abs(self.primal), abs(self.dual), 1e-300) if math.isfinite(self.gap) else math.inf


@dataclass(frozen=True)
class KKTReport:
    """The four residuals of a point and its multipliers, the values they give, and Slater's point."""

    primal_infeasibility: float
    dual_infeasibility: float
    stationarity: float
    complementarity: float
    values: DualityGap
    slater_point: np.ndarray | None

    @property
    def gap(self) -> float:
        """How far the point is from the optimum, at most."""
        return self.values.gap

    @property
    def residuals(self) -> tuple[float, float, float, float]:
        """The four residuals in the order primal, dual, stationarity, complementarity."""
        return self.primal_infeasibility, self.dual_infeasibility, self.stationarity, self.complementarity

    def optimal(self, tol: float = 1e-9) -> bool:
        """Whether no residual exceeds ``tol``: all four at zero are necessary and sufficient for a convex programme
        with a Slater point, and sufficient for any.
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
            ("objective", tables.number(self.values.primal), "value of the point, infinite if it is not feasible"),
            ("lower bound", tables.number(self.values.dual), "what the multipliers prove about every feasible point"),
            ("gap", tables.number(self.gap), "the point is at most this far above the optimum"),
            ("Slater point", "", strict),
        ]
        return "Kuhn-Tucker conditions", ("condition", "residual", "meaning"), rows, ""


def weak_duality(
    programme: Programme, x, multipliers=None, equality_multipliers=None, *, tol: float = 0.0
) -> DualityGap:
    r"""Bound the distance of a feasible point from the optimum by any non-negative multipliers.

    For feasible :math:`x` and :math:`\lambda \ge 0`: :math:`\phi(\lambda, \nu) \le p^* \le g_0(x)`, however the two were found.

    Parameters
    ----------
    programme : Programme
        The programme.
    x : array
        A point.
    multipliers : array or None, default=None
        Multipliers of the inequalities.
    equality_multipliers : array or None, default=None
        Multipliers of the equalities.
    tol : float, default=0.0
        Violations up to this size count as feasible; zero is the theorem, anything else its reading in floating point.

    Returns
    -------
    DualityGap
        An infeasible point has primal value plus infinity, infeasible multipliers dual value minus infinity.

    Examples
    --------
    >>> from surefit.duality import LinearProgramme, weak_duality
    >>> programme = LinearProgramme([1.0, 2.0], [[1.0, 1.0]], [1.0])
    >>> weak_duality(programme, [0.5, 0.5], multipliers=[0.0, 1.0], equality_multipliers=[-1.0]).gap
    0.5
    """
    _require(programme, tol)
    feasible = programme.infeasibility(x) <= tol
    dual_feasible = programme.dual_infeasibility(multipliers, equality_multipliers) <= tol
    return DualityGap(
        float(programme.objective(x)) if feasible else math.inf,
        float(programme.lower_bound(x, multipliers, equality_multipliers)) if dual_feasible else -math.inf,
    )


def kkt_report(programme: Programme, x, multipliers=None, equality_multipliers=None, *, tol: float = 1e-9) -> KKTReport:
    r"""Measure how far a point and multipliers are from the conditions of Kuhn and Tucker.

    Primal feasibility :math:`g_j(x) \le 0`, :math:`Ax = b`; dual feasibility :math:`\lambda \ge 0`; stationarity
    :math:`\nabla g_0 + \sum_j \lambda_j \nabla g_j + A^\top \nu = 0`; complementarity :math:`\lambda_j g_j(x) = 0`.

    Parameters
    ----------
    programme : Programme
        The programme.
    x : array
        A point.
    multipliers : array or None, default=None
        Multipliers of the inequalities.
    equality_multipliers : array or None, default=None
        Multipliers of the equalities.
    tol : float, default=1e-9
        Violations up to this size count as feasible when the gap is formed.

    Returns
    -------
    KKTReport
        Four residuals, the gap, and a Slater point where one is known.

    Notes
    -----
    Guarantee: all residuals zero imply that ``x`` is optimal. The converse needs a Slater point or affine constraints:
    :math:`\min x` subject to :math:`x^2 \le 0` has its optimum at zero and no multiplier (theory: :ref:`kkt`).

    Examples
    --------
    The point of [2, 4] nearest to the origin, and the candidate that only fails the sign of its multiplier:

    >>> from surefit.duality import kkt_report, nearest_to_origin
    >>> programme, x, multiplier = nearest_to_origin(3.0)
    >>> report = kkt_report(programme, x, multiplier)
    >>> report.optimal(), report.gap
    (True, 0.0)
    >>> kkt_report(programme, [4.0], [-4.0]).dual_infeasibility
    4.0
    """
    return KKTReport(
        float(programme.infeasibility(x)),
        float(programme.dual_infeasibility(multipliers, equality_multipliers)),
        float(programme.stationarity(x, multipliers, equality_multipliers)),
        float(programme.complementarity(x, multipliers)),
        weak_duality(programme, x, multipliers, equality_multipliers, tol=tol),
        programme.slater_point(),
    )


def _require(programme, tol) -> None:
    if not isinstance(programme, Programme):
        raise InvalidParameter("weak_duality", "programme", "a surefit.duality.Programme", programme)
    if not tol >= 0:
        raise InvalidParameter("weak_duality", "tol", "a number >= 0", tol)
