r"""Interior-point method for few rows and large ``C``, where SMO converges slowly.

The signed vector is split, :math:`\beta_i = v_i^+ - v_i^-` with :math:`0 \le v \le c`, and every step solves

.. math:: (K + E^{-1})\,\Delta\beta + \Delta b\,1 = E^{-1}\rho, \qquad 1^\top\Delta\beta = -1^\top\beta,

where the diagonal matrix :math:`E` contains the inverse barrier curvatures of the rows. About thirty steps, each with
one factorization of an n x n matrix, reach a gap at the level of rounding; the caller's refinement improves the last
digits (Mehrotra, 1992).
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from surefit.core.budget import Budget, Reason
from surefit.solvers.smo.problem import BoxProblem

MOST_ROWS = 3000
MOST_STEPS = 80
ENOUGH = 1e-11  # complementarity and residuals of the equations, relative to the objective
IDLE = 6  # steps without progress, due to rounding
REFINEMENTS = 2  # iterative refinements per solution: a large C makes the system ill-conditioned
BACK_OFF = 0.995  # fraction of the step to the nearest bound
RIDGES = (0.0, 1e-15, 1e-13, 1e-11)  # relative to the largest diagonal entry


def interior_points(gram, problem: BoxProblem, budget: Budget) -> tuple[list[np.ndarray], int]:
    """Return dual vectors near the optimum (unchanged, and with entries near a bound set to it), and the number of steps."""
    K = gram.block(np.arange(gram.n))
    path = _Path(0.5 * (K + K.T), problem)
    best, least, since, steps = [path.v, path.onto_bounds()], np.inf, 0, 0
    while steps < MOST_STEPS and since < IDLE and least > ENOUGH * path.size:
        if budget.spent(0) not in (None, Reason.MAX_ITER) or not path.step():
            break
        steps, since, rest = steps + 1, since + 1, path.rest
        if rest < least:
            best, least, since = [path.v, path.onto_bounds()], rest, 0
    return [path.beta(v) for v in best], steps


class _Path:
    """Iterate with one variable for each direction in which a row may move; ``C`` is in units of the largest weight."""

    def __init__(self, K: np.ndarray, problem: BoxProblem):
        self.K, self.n, self.offset = K, len(K), problem.offset
        up, down = np.flatnonzero(problem.high > 0.0), np.flatnonzero(problem.low < 0.0)
        self.row = np.concatenate([up, down])
        self.sign = np.concatenate([np.ones(len(up)), -np.ones(len(down))])
        self.unit = float(max(np.max(problem.high), -np.min(problem.low)))
        self.cap = np.concatenate([problem.high[up], -problem.low[down]]) / self.unit
        self.cost = problem.epsilon - self.sign * problem.y[self.row]
        self.K *= self.unit
        self.v, self.b = 0.5 * self.cap, 0.0
        self.w = self.cap - self.v
        derivative = self._gradient()
        around = 0.1 * float(np.mean(np.abs(derivative))) + 1e-3 * float(np.mean(np.abs(self.cost)))
        self.z, self.t = np.maximum(derivative, 0.0) + around, np.maximum(-derivative, 0.0) + around

    def beta(self, v: np.ndarray) -> np.ndarray:
        """Return the signed vector, in the units of the problem."""
        return self.unit * self._signed(v)

    def onto_bounds(self) -> np.ndarray:
        """Return the vector with entries set to a bound if the multiplier exceeds the distance to it."""
        curvature = np.maximum(np.diagonal(self.K), 0.0)[self.row]
        v = np.where(self.z > curvature * self.v, 0.0, self.v)
        return np.where(self.t > curvature * self.w, self.cap, v)

    @property
    def complementarity(self) -> float:
        """Return the sum of complementarity products: the gap, once the equations hold."""
        return float(self.v @ self.z + self.w @ self.t)

    @property
    def rest(self) -> float:
        """Return the distance from optimality: complementarity, and the weighted residuals of the equations."""
        off = self.cap @ np.abs(self._gradient() - self.z + self.t)
        return self.complementarity + float(off) + abs(self.b * float(self._signed(self.v).sum()))

    @property
    def size(self) -> float:
        """Magnitude of the objective."""
        return float(np.abs(self.cost) @ self.v) + float(self.w @ self.t)

    def step(self) -> bool:
        """Take a predictor-corrector step with one factorization; return False if rounding prevents another."""
        v, w, z, t = self.v, self.w, self.z, self.t
        degrees_of_freedom = 1.0 / (z / v + t / w)
        E = np.bincount(self.row, degrees_of_freedom, minlength=self.n)
        solve = self._factorize(1.0 / E)
        if solve is None:
            return False
        off = self._gradient() - z + t
        mu = self.complementarity / (2 * len(v))
        dv, db, dz, dt = self._direction(solve, degrees_of_freedom, E, -off - z + t, -z, -t)
        a, d = _largest_step(v, dv, w, -dv), _largest_step(z, dz, t, dt)
        after = float((v + a * dv) @ (z + d * dz) + (w - a * dv) @ (t + d * dt)) / (2 * len(v))
        aim = mu * (after / mu) ** 3
        at_z, at_t = (aim - dv * dz) / v - z, (aim + dv * dt) / w - t
        dv, db, dz, dt = self._direction(solve, degrees_of_freedom, E, -off + at_z - at_t, at_z, at_t)
        if not (np.all(np.isfinite(dv)) and np.isfinite(db)):
            return False
        a = min(1.0, BACK_OFF * _largest_step(v, dv, w, -dv, 1e300))
        d = min(1.0, BACK_OFF * _largest_step(z, dz, t, dt, 1e300))
        step = min(a, d)  # the kernel couples both, so a common step length preserves the equations
        self.v, self.w, self.b = v + step * dv, w - step * dv, self.b + step * db
        self.z, self.t = z + step * dz, t + step * dt
        return step > 1e-8

    def _direction(self, solve, degrees_of_freedom, E, r, at_z, at_t):
        right = np.bincount(self.row, self.sign * r * degrees_of_freedom, minlength=self.n) / E
        missing = -float(self._signed(self.v).sum())
        move, db = self._bordered(solve, right, missing)
        for _ in range(REFINEMENTS):
            left = right - self.K @ move - move / E - db
            more, further = self._bordered(solve, left, missing - float(move.sum()))
            move, db = move + more, db + further
        pull = self.K @ move + db
        dv = degrees_of_freedom * (r - self.sign * pull[self.row])
        return dv, db, at_z - self.z / self.v * dv, at_t + self.t / self.w * dv

    def _bordered(self, solve, right: np.ndarray, total: float) -> tuple[np.ndarray, float]:
        """Solve for a step with this sum, and the change of the intercept; without an intercept the sum is free."""
        move = solve(right)
        if not self.offset:
            return move, 0.0
        ones = solve(np.ones(self.n))
        db = float((move.sum() - total) / ones.sum())
        return move - db * ones, db

    def _factorize(self, diagonal: np.ndarray):
        top = float(np.max(np.diagonal(self.K)))
        for ridge in RIDGES:
            A = self.K.copy()
            A[np.diag_indices_from(A)] += diagonal + ridge * top
            try:
                factor = linalg.cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
            except linalg.LinAlgError:
                continue
            return lambda right, factor=factor: linalg.cho_solve(factor, right, check_finite=False)
        return None

    def _signed(self, v: np.ndarray) -> np.ndarray:
        return np.bincount(self.row, self.sign * v, minlength=self.n)

    def _gradient(self) -> np.ndarray:
        return self.sign * (self.K @ self._signed(self.v) + self.b)[self.row] + self.cost


def _largest_step(x, dx, y, dy, most: float = 1.0) -> float:
    """Return the largest step, at most ``most``, that keeps both positive."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return float(min(most, np.min(np.where(dx < 0, -x / dx, most)), np.min(np.where(dy < 0, -y / dy, most))))
