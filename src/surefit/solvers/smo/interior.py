r"""Interior points for problems that wear out working sets: few rows, but prices so large that pairs inch along narrow valleys.

The signed vector is split, :math:`\beta_i = v_i^+ - v_i^-` with :math:`0 \le v \le c`, and every step solves

.. math:: (K + E^{-1})\,\Delta\beta + \Delta b\,1 = E^{-1}\rho, \qquad 1^\top\Delta\beta = -1^\top\beta,

with a diagonal :math:`E` that says how freely each row moves. Some thirty steps, each the factorisation of an n x n matrix, reach a gap
that depends on rounding alone; nothing is said of the last digits, which the caller's refinement finds (Mehrotra, 1992).
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from surefit.core.budget import Budget, Reason
from surefit.solvers.smo.problem import BoxProblem

MOST_ROWS = 3000
MOST_STEPS = 80
ENOUGH = 1e-11  # complementarity and what the equations are off by, relative to the objective
IDLE = 6  # steps without coming closer: rounding
REFINEMENTS = 2  # of each solution: large prices make the system ill-conditioned
BACK_OFF = 0.995  # share of the way to the nearest bound
RIDGES = (0.0, 1e-15, 1e-13, 1e-11)  # relative to the largest diagonal entry


def interior_points(gram, problem: BoxProblem, budget: Budget) -> tuple[list[np.ndarray], int]:
    """Return dual vectors near the optimum (as they came, and with entries near a bound put onto it), and the number of steps."""
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
    """One variable for each direction in which a row may move; prices in units of the largest."""

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
        slope = self._slope()
        around = 0.1 * float(np.mean(np.abs(slope))) + 1e-3 * float(np.mean(np.abs(self.cost)))
        self.z, self.t = np.maximum(slope, 0.0) + around, np.maximum(-slope, 0.0) + around

    def beta(self, v: np.ndarray) -> np.ndarray:
        """The signed vector, in the prices of the problem."""
        return self.unit * self._signed(v)

    def onto_bounds(self) -> np.ndarray:
        """Entries put onto a bound whose multiplier is larger than what the move there takes away from it."""
        curvature = np.maximum(np.diagonal(self.K), 0.0)[self.row]
        v = np.where(self.z > curvature * self.v, 0.0, self.v)
        return np.where(self.t > curvature * self.w, self.cap, v)

    @property
    def complementarity(self) -> float:
        """Sum of products that vanish at the optimum: the gap, once the equations hold."""
        return float(self.v @ self.z + self.w @ self.t)

    @property
    def rest(self) -> float:
        """What separates the point from an optimum: complementarity, and the equations at the price of breaking them."""
        off = self.cap @ np.abs(self._slope() - self.z + self.t)
        return self.complementarity + float(off) + abs(self.b * float(self._signed(self.v).sum()))

    @property
    def size(self) -> float:
        """Size of the objective."""
        return float(np.abs(self.cost) @ self.v) + float(self.w @ self.t)

    def step(self) -> bool:
        """Predictor and corrector with one factorisation; False where rounding forbids another."""
        v, w, z, t = self.v, self.w, self.z, self.t
        freedom = 1.0 / (z / v + t / w)
        E = np.bincount(self.row, freedom, minlength=self.n)
        solve = self._factorise(1.0 / E)
        if solve is None:
            return False
        off = self._slope() - z + t
        mu = self.complementarity / (2 * len(v))
        dv, db, dz, dt = self._direction(solve, freedom, E, -off - z + t, -z, -t)
        a, d = _reach(v, dv, w, -dv), _reach(z, dz, t, dt)
        after = float((v + a * dv) @ (z + d * dz) + (w - a * dv) @ (t + d * dt)) / (2 * len(v))
        aim = mu * (after / mu) ** 3
        at_z, at_t = (aim - dv * dz) / v - z, (aim + dv * dt) / w - t
        dv, db, dz, dt = self._direction(solve, freedom, E, -off + at_z - at_t, at_z, at_t)
        if not (np.all(np.isfinite(dv)) and np.isfinite(db)):
            return False
        a = min(1.0, BACK_OFF * _reach(v, dv, w, -dv, 1e300))
        d = min(1.0, BACK_OFF * _reach(z, dz, t, dt, 1e300))
        step = min(a, d)  # the kernel couples both: one length keeps the equations
        self.v, self.w, self.b = v + step * dv, w - step * dv, self.b + step * db
        self.z, self.t = z + step * dz, t + step * dt
        return step > 1e-8

    def _direction(self, solve, freedom, E, r, at_z, at_t):
        right = np.bincount(self.row, self.sign * r * freedom, minlength=self.n) / E
        missing = -float(self._signed(self.v).sum())
        move, db = self._bordered(solve, right, missing)
        for _ in range(REFINEMENTS):
            left = right - self.K @ move - move / E - db
            more, further = self._bordered(solve, left, missing - float(move.sum()))
            move, db = move + more, db + further
        pull = self.K @ move + db
        dv = freedom * (r - self.sign * pull[self.row])
        return dv, db, at_z - self.z / self.v * dv, at_t + self.t / self.w * dv

    def _bordered(self, solve, right: np.ndarray, total: float) -> tuple[np.ndarray, float]:
        """Solve for a move with this sum, and the change of the offset; without an offset the sum is free."""
        move = solve(right)
        if not self.offset:
            return move, 0.0
        ones = solve(np.ones(self.n))
        db = float((move.sum() - total) / ones.sum())
        return move - db * ones, db

    def _factorise(self, diagonal: np.ndarray):
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

    def _slope(self) -> np.ndarray:
        return self.sign * (self.K @ self._signed(self.v) + self.b)[self.row] + self.cost


def _reach(x, dx, y, dy, most: float = 1.0) -> float:
    """Largest step, at most ``most``, that keeps both positive."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return float(min(most, np.min(np.where(dx < 0, -x / dx, most)), np.min(np.where(dy < 0, -y / dy, most))))
