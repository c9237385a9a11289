"""Quadratic programs with a possibly singular Hessian, and the lasso as an example."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidData
from surefit.duality.base import Optimum
from surefit.duality.quadratic import QuadraticProgram

MOST_STEPS = 200


class ConvexQuadraticProgram(QuadraticProgram):
    r"""Minimize :math:`\tfrac12 x^\top H x + c^\top x` subject to :math:`Ax \ge b`, with :math:`H` positive semidefinite.

    ``solve`` uses the proximal point method, :math:`x_{k+1} = \arg\min f(x) + \tfrac\rho2 \|x - x_k\|^2`, where each
    step is a strictly convex program. On quadratic programs it ends after finitely many steps. Guarantee: the
    Karush-Kuhn-Tucker conditions, which :func:`surefit.kkt_report` measures. The dual value is finite only if
    :math:`A^\top \lambda - c` is in the range of H, up to the relative error ``slack``.

    Parameters
    ----------
    H, A, b, c
        As for :class:`surefit.duality.QuadraticProgram`; H may be singular.
    slack : float, default=1e-7
        Relative distance from the range of H that is treated as rounding in the lower bound.

    Examples
    --------
    Minimize the square of a sum of two numbers that must be at least 1:

    >>> from surefit.duality import ConvexQuadraticProgram, kkt_report
    >>> program = ConvexQuadraticProgram([[1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0]], [1.0])
    >>> optimum = program.solve()
    >>> round(program.objective(optimum.x), 9), kkt_report(program, *optimum).optimal(1e-7)
    (0.5, True)
    """

    def __init__(self, H, A, b, c=None, *, slack: float = 1e-7):
        H = np.atleast_2d(np.asarray(H, dtype=np.float64))
        values, vectors = np.linalg.eigh((H + H.T) / 2)
        largest = max(float(np.max(np.abs(values), initial=0.0)), np.finfo(float).tiny)
        if values[0] < -1e-10 * largest:
            raise InvalidData(
                f"ConvexQuadraticProgram: H must be positive semidefinite; its least eigenvalue is {values[0]:.3g}."
            )
        self.rho = 1e-3 * largest
        super().__init__(H + self.rho * np.eye(len(H)), A, b, c)
        self.regular_factor, self.H, self.slack = self.factor, H, float(slack)
        kept = values > 1e-12 * largest
        self.range = vectors[:, kept], values[kept]

    def solve(self) -> Optimum:
        """Return an optimum with its multipliers."""
        x, linear = np.zeros(len(self.H)), self.c
        for _ in range(MOST_STEPS):
            step = QuadraticProgram(self.H + self.rho * np.eye(len(self.H)), self.A, self.b, linear - self.rho * x)
            found = step.solve()
            moved = float(np.max(np.abs(found.x - x)))
            x = found.x
            if moved <= 1e-13 * (1 + float(np.max(np.abs(x)))):
                break
        else:
            raise InvalidData(
                "ConvexQuadraticProgram: the objective has no lower bound on the feasible set, or is too badly scaled."
            )
        return Optimum(x, found.multipliers, None)

    def lower_bound(self, x, multipliers, equality_multipliers) -> float:
        """Return the dual value; minus infinity if the Lagrangian is unbounded below."""
        multipliers = np.asarray(multipliers, dtype=np.float64)
        m = self.A.T @ multipliers - self.c
        vectors, values = self.range
        along = vectors.T @ m
        if float(np.linalg.norm(m - vectors @ along)) > self.slack * (1 + float(np.linalg.norm(m))):
            return -np.inf
        return float(multipliers @ self.b - 0.5 * np.sum(along**2 / values))


def lasso_program(X, y, lam: float) -> ConvexQuadraticProgram:
    r"""Write the lasso :math:`\min \lambda \|w\|_1 + \sum_i (y_i - w^\top x_i - b)^2` as a quadratic program in :math:`w = w^+ - w^-`.

    Variables are :math:`(w^+, w^-, b)` with :math:`w^\pm \ge 0`. Guarantee: same optimum; there :math:`w_j^+ w_j^- = 0` for every j. The
    objective of the program is that of the lasso minus :math:`\sum_i y_i^2`.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows.
    y : array of shape (n,)
        Targets.
    lam : float > 0
        :math:`\lambda`; ``Lasso(alpha=lam / (2 n))`` has the same minimizer.

    Examples
    --------
    >>> from surefit.duality import lasso_program
    >>> program = lasso_program([[-1.0], [0.0], [1.0]], [-2.0, 0.0, 2.0], 2.0)
    >>> x = program.solve().x
    >>> bool(abs(x[0] - x[1] - 1.5) < 1e-8), round(program.objective(x) + 8.0, 6)
    (True, 3.5)
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if X.ndim != 2 or y.shape != (len(X),) or not lam > 0:
        raise InvalidData("lasso_program: expected a matrix X, one target per row and lam > 0.")
    d = X.shape[1]
    Z = np.column_stack([X, -X, np.ones(len(X))])
    H = 2 * Z.T @ Z
    linear = np.append(np.full(2 * d, float(lam)), 0.0) - 2 * Z.T @ y
    return ConvexQuadraticProgram((H + H.T) / 2, np.eye(2 * d, 2 * d + 1), np.zeros(2 * d), linear)
