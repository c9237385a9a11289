"""Strictly convex quadratic programs and their duals, solved exactly in finitely many steps."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.optimize import linprog, nnls

from surefit.core.errors import InvalidData
from surefit.duality.base import Optimum, Program


class QuadraticProgram(Program):
    r"""Minimize :math:`\tfrac12 x^\top H x + c^\top x` subject to :math:`Ax \ge b`, with :math:`H` positive definite.

    The Lagrangian has its minimum at :math:`x = H^{-1}(A^\top \lambda - c)`, so the dual is :math:`\max_{\lambda \ge 0} \lambda^\top b -
    \tfrac12 m^\top H^{-1} m` with :math:`m = A^\top \lambda - c`.

    Parameters
    ----------
    H : array of shape (n, n)
        Symmetric positive definite.
    A : array of shape (m, n)
        Matrix of the inequality constraints.
    b : array of shape (m,)
        Right-hand sides.
    c : array of shape (n,) or None, default=None
        Linear term; None is zero.

    Examples
    --------
    >>> from surefit.duality import QuadraticProgram, kkt_report
    >>> program = QuadraticProgram([[2.0]], [[1.0]], [2.0])
    >>> optimum = program.solve()
    >>> program.objective(optimum.x), kkt_report(program, *optimum).optimal()
    (4.0, True)
    """

    def __init__(self, H, A, b, c=None):
        self.H, self.A = np.atleast_2d(np.asarray(H, float)), np.atleast_2d(np.asarray(A, float))
        self.b = np.atleast_1d(np.asarray(b, float))
        n = self.H.shape[0]
        self.c = np.zeros(n) if c is None else np.atleast_1d(np.asarray(c, float))
        if self.H.shape != (n, n) or self.A.shape != (len(self.b), n) or self.c.shape != (n,):
            raise InvalidData(
                f"QuadraticProgram: H, A, b, c must have shapes (n, n), (m, n), (m,), (n,); got {self.H.shape}, "
                f"{self.A.shape}, {self.b.shape}, {self.c.shape}."
            )
        if not np.array_equal(self.H, self.H.T):
            raise InvalidData("QuadraticProgram: H must be symmetric; use (H + H.T) / 2.")
        try:
            self.factor = cho_factor(self.H, lower=True)
        except np.linalg.LinAlgError:
            raise InvalidData(
                "QuadraticProgram: H must be positive definite; it has an eigenvalue that is not positive."
            ) from None

    def solve(self) -> Optimum:
        r"""Return the optimum, computed by non-negative least squares on the dual.

        With :math:`H = LL^\top` and :math:`u = L^\top x + L^{-1} c`, the solution is the shortest :math:`u` with :math:`Gu \ge h`. The
        residual of the non-negative fit of :math:`(0, \dots, 0, 1)` by the rows :math:`(G_j, h_j)` is that vector up to scale. A zero
        residual proves that no point is feasible.
        """
        L = np.tril(self.factor[0])
        G = solve_triangular(L, self.A.T, lower=True).T
        h = self.b + self.A @ cho_solve(self.factor, self.c)
        # Scale the right-hand sides to at most 1, because the fit matches the last component of each column.
        scale = max(float(np.max(np.abs(h))), 1.0)
        E = np.vstack([G.T, h[None, :] / scale])
        target = np.r_[np.zeros(len(L)), 1.0]
        z, distance = nnls(E, target)
        residual = E @ z - target
        if distance <= 1e-13 * (1.0 + float(np.max(z, initial=0.0))):
            raise InvalidData(
                "QuadraticProgram: no point is feasible; a non-negative combination of the inequalities is 0 >= 1."
            )
        multipliers = scale * z / -residual[-1]
        active = np.flatnonzero(z)
        if active.size:  # if the active rows determine the multipliers, recompute them without the rounding of the fit
            again = np.linalg.lstsq(G[active] @ G[active].T, h[active], rcond=None)[0]
            if np.all(again >= 0):
                multipliers = np.zeros(len(h))
                multipliers[active] = again
        return Optimum(cho_solve(self.factor, self.A.T @ multipliers - self.c), multipliers, None)

    def objective(self, x) -> float:
        x = np.atleast_1d(np.asarray(x, float))
        return float(0.5 * x @ self.H @ x + self.c @ x)

    def infeasibility(self, x) -> float:
        return float(max(0.0, np.max(self.b - self.A @ np.atleast_1d(np.asarray(x, float)))))

    def dual_infeasibility(self, multipliers, equality_multipliers) -> float:
        return float(max(0.0, np.max(-np.asarray(multipliers, float))))

    def stationarity(self, x, multipliers, equality_multipliers) -> float:
        x = np.atleast_1d(np.asarray(x, float))
        return float(np.max(np.abs(self.H @ x + self.c - self.A.T @ np.asarray(multipliers, float))))

    def complementarity(self, x, multipliers) -> float:
        slack = self.A @ np.atleast_1d(np.asarray(x, float)) - self.b
        return float(np.max(np.abs(np.asarray(multipliers, float) * slack)))

    def lower_bound(self, x, multipliers, equality_multipliers) -> float:
        multipliers = np.asarray(multipliers, float)
        m = self.A.T @ multipliers - self.c
        return float(multipliers @ self.b - 0.5 * m @ cho_solve(self.factor, m))

    def slater_point(self) -> np.ndarray | None:
        m, n = self.A.shape
        # Maximize t <= 1 subject to Ax >= b + t.
        found = linprog(
            np.r_[np.zeros(n), -1.0],
            A_ub=np.c_[-self.A, np.ones(m)],
            b_ub=-self.b,
            bounds=[(None, None)] * n + [(None, 1.0)],
            method="highs",
        )
        return found.x[:-1] if found.status == 0 and found.x[-1] > 0 else None
