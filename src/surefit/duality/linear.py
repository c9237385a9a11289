"""Linear programs in standard form and their duals."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog

from surefit.core.errors import InvalidData
from surefit.duality.base import Optimum, Program


class LinearProgram(Program):
    r"""Minimize :math:`c^\top x` subject to :math:`Ax = b` and :math:`x \ge 0`.

    The dual is :math:`\max_\nu -b^\top \nu` subject to :math:`\lambda = c + A^\top \nu \ge 0`; for multipliers with another
    :math:`\lambda` the dual function is minus infinity.

    Parameters
    ----------
    c : array of shape (n,)
        Cost vector.
    A : array of shape (m, n)
        Matrix of the equality constraints.
    b : array of shape (m,)
        Right-hand sides.

    Examples
    --------
    >>> from surefit.duality import LinearProgram, kkt_report
    >>> program = LinearProgram([1.0, 2.0], [[1.0, 1.0]], [1.0])
    >>> optimum = program.solve()
    >>> print(optimum.x, optimum.multipliers, optimum.equality_multipliers)
    [1. 0.] [0. 1.] [-1.]
    >>> kkt_report(program, *optimum).gap
    0.0
    """

    def __init__(self, c, A, b):
        self.c, self.A, self.b = (
            np.asarray(c, float),
            np.atleast_2d(np.asarray(A, float)),
            np.atleast_1d(np.asarray(b, float)),
        )
        if self.A.shape != (len(self.b), len(self.c)):
            raise InvalidData(
                f"LinearProgram: A must have shape {(len(self.b), len(self.c))}, one row per equality and one column per "
                f"variable; got {self.A.shape}."
            )

    def solve(self) -> Optimum:
        """Return the optimum with both kinds of multipliers; raise ``InvalidData`` if there is none."""
        found = linprog(self.c, A_eq=self.A, b_eq=self.b, bounds=(0, None), method="highs")
        if found.status != 0:
            reason = {2: "no point is feasible", 3: "the objective has no lower bound"}.get(found.status, found.message)
            raise InvalidData(f"LinearProgram: the program has no optimum: {reason}.")
        nu = -found.eqlin.marginals
        # Reduced costs of basic variables are zero up to the rounding of HiGHS; the others are kept.
        reduced = self.c + self.A.T @ nu
        rounding = 1e-14 * (1.0 + np.abs(self.c) + np.abs(self.A.T) @ np.abs(nu))
        return Optimum(found.x, np.where(np.abs(reduced) <= rounding, 0.0, reduced), nu)

    def objective(self, x) -> float:
        return float(self.c @ np.asarray(x, float))

    def infeasibility(self, x) -> float:
        x = np.asarray(x, float)
        return float(max(0.0, np.max(-x), np.max(np.abs(self.A @ x - self.b))))

    def dual_infeasibility(self, multipliers, equality_multipliers) -> float:
        return float(max(0.0, np.max(-np.asarray(multipliers, float))))

    def stationarity(self, x, multipliers, equality_multipliers) -> float:
        gradient = self.c - np.asarray(multipliers, float) + self.A.T @ np.asarray(equality_multipliers, float)
        return float(np.max(np.abs(gradient)))

    def complementarity(self, x, multipliers) -> float:
        return float(np.max(np.abs(np.asarray(multipliers, float) * np.asarray(x, float))))

    def lower_bound(self, x, multipliers, equality_multipliers) -> float:
        """Return the dual value; minus infinity unless the Lagrangian is constant in x, up to rounding."""
        nu = np.asarray(equality_multipliers, float)
        rounding = 1e-12 * (1.0 + float(np.max(np.abs(self.c))) + float(np.max(np.abs(self.A.T) @ np.abs(nu))))
        constant = self.stationarity(x, multipliers, equality_multipliers) <= rounding
        return -float(self.b @ nu) if constant else -math.inf

    def slater_point(self) -> np.ndarray | None:
        """Return a feasible point with all entries positive (affine constraints do not need one for strong duality)."""
        m, n = self.A.shape
        # Maximize t <= 1 subject to Ax = b, x >= t.
        found = linprog(
            np.r_[np.zeros(n), -1.0],
            A_eq=np.c_[self.A, np.zeros(m)],
            b_eq=self.b,
            A_ub=np.c_[-np.eye(n), np.ones(n)],
            b_ub=np.zeros(n),
            bounds=[(0, None)] * n + [(None, 1.0)],
            method="highs",
        )
        return found.x[:-1] if found.status == 0 and found.x[-1] > 0 else None
