r"""Newton's method for :math:`\sum_i c_i \phi(y_i, z_i) + l_1 \|w\|_1 + \tfrac{l_2}{2} \|w\|^2`, stopped by the duality gap.

The derivatives of the loss are a dual point, so the gap costs one product with X. The Hessian is formed for the active
coefficients and reused while it is accurate enough (a chord step costs two products with X). If it would be too large,
conjugate gradients are used instead. Before every gap, the intercept is set to its minimizer for the coefficients.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.solvers.newton import conjugate_gradients
from surefit.solvers.newton.line_search import line_search
from surefit.solvers.newton.model import Model, build
from surefit.solvers.newton.quadratic import minimize_quadratic
from surefit.solvers.newton.rows import Rows

FIRST_COLUMNS = 100  # in the first working set with an l1 penalty
LARGEST_MODEL = 2000  # number of coefficients up to which the Hessian is formed
MOST_FLOPS = 4e10  # limit for forming the Hessian
GOOD_CHORD = 0.03  # a reused Hessian is kept while it reduces the gap to this fraction
GOOD_L1_CHORD = 0.2  # without a quadratic penalty the gap is linear in the error, not quadratic
SHARPER = 0.1  # smallest factor for the smoothing width
ORTHOGONAL = 1e-9  # relative size up to which a product counts as zero
STUCK = 4  # steps without progress after which only rounding remains


class Fit(NamedTuple):
    """Result of the solver."""

    coef: np.ndarray  # (K, d)
    intercept: np.ndarray  # (K,)
    gap: float
    objective: float
    n_iter: int
    reason: Reason
    history: list[tuple[float, int, float]]
    width: float  # smoothing width of the dual point
    separated: bool  # the loss of every row is below that of a zero score: the point separates the classes
    model: Model | None
    dual: np.ndarray | None = None  # negative derivatives (n,), if they do not follow from coef
    proved: bool = True  # False: without a penalty, rounding keeps the dual point from being orthogonal to the columns


class _Stop(Exception):
    def __init__(self, reason: Reason):
        super().__init__(reason)
        self.reason = reason


def minimize(
    rows: Rows, scores, l1: float, l2: float, *, intercept: bool, tolerance: float, budget: Budget,
    coef: np.ndarray | None = None, offset: np.ndarray | None = None, model: Model | None = None, until_separated=None,
    keep_model: bool = False, unseen: float = 0.0,
) -> Fit:  # fmt: skip
    """Minimize until the gap is at most ``tolerance``, the budget is spent, or rounding limits progress.

    ``keep_model`` also returns the Hessian at the last point. ``until_separated(Z)`` stops the search when it is True.
    From a gap of ``unseen`` on, a step is the last one if it would reach ``tolerance`` by reducing the gap like the step
    before. The gap after it is not computed; the gap before it is returned.
    """
    newton = _Newton(rows, scores, l1, l2, intercept, tolerance, budget, coef, offset, model, until_separated)
    newton.unseen = unseen
    fit = newton.run()
    return fit._replace(model=newton.last_model()) if keep_model else fit


class _Newton:
    def __init__(self, rows, scores, l1, l2, intercept, tolerance, budget, coef, offset, model, until_separated):
        self.rows, self.scores, self.l1, self.l2 = rows, scores, float(l1), float(l2)
        self.intercept, self.tolerance = intercept, tolerance
        self.budget, self.until_separated = budget, until_separated
        K, d = scores.n_scores, rows.shape[1]
        self.W = np.zeros((K, d)) if coef is None else np.array(coef, dtype=np.float64)
        self.b = np.zeros(K) if offset is None else np.array(offset, dtype=np.float64)
        self.model, self.fresh = model, False
        self.n_iter, self.gap, self.history, self.began = 0, np.inf, [], time.perf_counter()
        self.best: tuple | None = None
        self.stuck = 0
        self.terms: tuple | None = None  # loss terms at Z, while they are known

    def run(self) -> Fit:
        self.Z = self.rows.times(self.W) + self.b if self.W.any() else np.tile(self.b, (self.rows.shape[0], 1))
        try:
            reason = self._loop()
        except _Stop as stop:
            reason = stop.reason
        separated = reason is Reason.CALLBACK and self.until_separated is not None and self._found
        best = None if separated else self.best  # a separating point is the last one, whatever its gap
        W, b, gap, objective, width = best if best is not None else self._point()
        return Fit(W, b, gap, objective, self.n_iter, reason, self.history, width, separated, None, None, self._proved)

    def last_model(self) -> Model:
        """Hessian at the last point."""
        return build(self.rows, self.scores, self.scores.evaluate(self.Z)[2], self._coordinates(), self.intercept)

    _found, _proved, unseen = False, True, 0.0

    def _loop(self) -> Reason:
        free = self.l1 == 0.0 and self.l2 == 0.0
        while True:
            self._recenter()
            self._evaluate()
            if self.until_separated is not None and self.until_separated(self.Z):
                self._found = True
                return Reason.CALLBACK
            previous = self.gap
            if not free:
                slack = self._note_gap()
                if self.gap <= self.tolerance or self._ends_unseen(previous):
                    return Reason.CONVERGED
                if self._sharpen(slack):
                    continue
            self._ask()
            dW, db = self._direction(previous)
            V = self.rows.times(dW)
            V += db
            if free:
                derivatives = self._note_free_gap(V)
                if self.gap <= self.tolerance:
                    self._proved = self._is_orthogonal(derivatives)
                    return Reason.CONVERGED if self._proved else Reason.STALLED
            self.n_iter += 1
            moved = line_search(self, dW, db, V)
            idle = self.gap > 0.9 * (previous if not self.scores.width or self.best is None else self.best[2])
            self.stuck = self.stuck + 1 if idle or not moved else 0
            if not moved and not self.fresh:
                self.model, self.stuck = None, 0  # a reused Hessian may not give a descent direction; a new one does
            elif not moved and self.scores.width and not self._narrow(0.5):
                return Reason.STALLED
            patience = STUCK if self.gap < 1e-6 * abs(self.value) else 10 * STUCK
            if self.stuck >= (5 * patience if self.scores.width else patience):
                return Reason.STALLED

    def _ends_unseen(self, previous: float) -> bool:
        """Take a last step by the same Hessian without its gap, if it is allowed and would suffice."""
        share = self.gap / previous if previous < np.inf else 1.0
        if self.gap > self.unseen or share > GOOD_CHORD or share * self.gap > self.tolerance:
            return False
        dW, db = self._direction(previous)
        self.W, self.b, self.n_iter = self.W + dW, self.b + db, self.n_iter + 1
        self.best = self._point()
        return True

    def _recenter(self) -> None:
        if self.intercept:
            shift = self.scores.best_shift(self.Z)
            if np.all(np.isfinite(shift)) and np.any(shift):
                self.b = self.b + shift
                self.Z = self.Z + shift
                self.terms = None

    def _evaluate(self) -> None:
        if self.terms is None:
            self.terms = self.scores.evaluate(self.Z)
        loss, self.derivatives, self.state = self.terms
        self.value = loss + self.penalty(self.W)
        self.G = self.rows.transposed(self.derivatives)

    def _ask(self) -> None:
        reason = self.budget.spent(self.n_iter, self.gap)
        if reason is not None:
            raise _Stop(reason)

    def penalty(self, W) -> float:
        """Return the penalty of coefficients W."""
        return self.l1 * float(np.abs(W).sum()) + 0.5 * self.l2 * float(np.vdot(W, W))

    # --- the gap ----------------------------------------------------------------------------------------------------------

    def _note_gap(self) -> float:
        """Compute the gap; return the part of it that is due to smoothing."""
        W, v = self.W, -self.G
        beyond = np.maximum(np.abs(v) - self.l1, 0.0)
        if self.l2 > 0.0:
            slack = self.scores.young(self.Z, self.derivatives) if self.scores.width else 0.0
            differences = self.l1 * np.abs(W) + 0.5 * self.l2 * W**2 - W * v + beyond**2 / (2 * self.l2)
            gap = slack + float(np.sum(np.maximum(differences, 0.0)))
        else:
            largest = float(np.max(np.abs(v)))
            scale = min(1.0, self.l1 / largest) if largest > 0 else 1.0
            slack = self.scores.young(self.Z, scale * self.derivatives) if scale < 1.0 or self.scores.width else 0.0
            gap = slack + float(np.sum(np.maximum(self.l1 * np.abs(W) - scale * W * v, 0.0)))
        gap += self._imbalance()
        self._note(gap)
        return slack

    def _imbalance(self) -> float:
        """Estimate the increase of the gap when the derivatives are made to sum to zero, as the checker does."""
        if not self.intercept:
            return 0.0
        size = np.abs(self.derivatives).sum()
        share = np.abs(self.derivatives.sum(axis=0)).max() / size if size > 0 else 0.0
        return 4.0 * share * abs(self.value)

    def _note_free_gap(self, V: np.ndarray) -> np.ndarray:
        """Compute the gap without a penalty: the dual point is the linearized derivative, which is orthogonal to every column."""
        derivatives = self.derivatives + self.scores.hessian_times(self.state, V)
        self._note(self.scores.young(self.Z, derivatives) if self._in_domain(derivatives) else np.inf)
        return derivatives

    def _is_orthogonal(self, derivatives: np.ndarray) -> bool:
        G = self.rows.transposed(derivatives)
        sizes = np.abs(derivatives)
        terms = np.asarray(abs(self.rows.X).T @ sizes).T
        small = bool(np.all(np.abs(G) <= ORTHOGONAL * terms))
        sums = np.abs(derivatives.sum(axis=0)) <= ORTHOGONAL * sizes.sum(axis=0)
        return small and (not self.intercept or bool(np.all(sums)))

    def _in_domain(self, derivatives) -> bool:
        if self.scores.n_scores > 1:
            return True  # checked by young
        y, c = self.scores.y, self.scores.weights
        p = -derivatives[:, 0] * y
        return bool(np.all(p >= 0.0) and np.all(p <= c))

    def _note(self, gap: float) -> None:
        self.gap = gap
        self.history.append((time.perf_counter() - self.began, self.n_iter, gap))
        if self.best is None or gap <= self.best[2]:
            self.best = self._point()

    def _point(self):
        return self.W.copy(), self.b.copy(), self.gap, self.value, self.scores.width

    # --- steps ------------------------------------------------------------------------------------------------------------

    def _direction(self, previous: float) -> tuple[np.ndarray, np.ndarray]:
        coords = self._coordinates()
        K, d = self.W.shape
        self.fresh = False
        if self.l1 == 0.0 and not self._worth_forming(len(coords)):
            self.fresh = True
            gradient = self.G + self.l2 * self.W
            accuracy = min(conjugate_gradients.FORCING, max(np.sqrt(self.gap / max(abs(self.value), 1e-300)), 1e-4))
            if self.l2 == 0.0:
                accuracy = min(accuracy, 1e-3)
            return conjugate_gradients.direction(
                self.rows, self.scores, self.state, gradient, self.l2, self.intercept, accuracy, lambda: self._ask()
            )
        model, linear = None, self.l1 > 0.0 and self.l2 == 0.0
        if (
            self.model is not None
            and not self.scores.width
            and (previous == np.inf or self.gap <= (GOOD_L1_CHORD if linear else GOOD_CHORD) * previous)
        ):
            model = self.model.restricted(coords)
        if model is None:
            model = self.model = build(self.rows, self.scores, self.state, coords, self.intercept)
            self.fresh = True
        w, g = self.W.ravel()[coords], self.G.ravel()[coords]
        share = self.gap / max(abs(self.value), 1e-300)  # with an l1 penalty the gap is as large as the worst violation
        target = min(0.01, max(0.1 * share, 1e-13)) * self.l1
        step = minimize_quadratic(model.H, g, w, self.l1, self.l2, target)
        dW = np.zeros(K * d)
        dW[coords] = step
        return dW.reshape(K, d), -(model.back @ step) if self.intercept else np.zeros(K)

    def _worth_forming(self, m: int) -> bool:
        n = self.rows.shape[0]  # conjugate gradients need at most one step per row and score
        cheap = m <= n * self.scores.n_scores and m * m * n <= MOST_FLOPS
        free = self.l2 == 0.0  # without a penalty the gap needs exact directions
        return m <= LARGEST_MODEL and (free or m <= 300 or cheap)

    def _coordinates(self) -> np.ndarray:
        """Return the active coefficients: all, or with an l1 penalty those that are non-zero or violate optimality."""
        if self.l1 == 0.0:
            return np.arange(self.W.size)
        w, g = self.W.ravel(), self.G.ravel()
        if self.W.size <= 100:
            return np.arange(self.W.size)
        merit = np.where(w != 0.0, np.inf, np.abs(g) - 0.99 * self.l1)
        near = np.flatnonzero(merit > 0.0)
        used = int(np.count_nonzero(w))
        most = min(max(FIRST_COLUMNS, 2 * used), LARGEST_MODEL)
        if len(near) > most:  # sets grow geometrically from small ones, because the first choices are mostly wrong
            if used > most:
                merit = np.where(w != 0.0, np.abs(g + self.l2 * w + self.l1 * np.sign(w)), merit)
            near = np.sort(near[np.argsort(-merit[near], kind="stable")[:most]])
        return near

    def _sharpen(self, slack: float) -> bool:
        """Reduce the smoothing width once the rest of the gap is smaller than the cost of smoothing."""
        rest = self.gap - slack
        if not self.scores.width or slack <= 0.5 * self.tolerance or rest > 0.5 * slack:
            return False
        wanted = np.sqrt(0.3 * max(self.tolerance, 1e-300) / slack)  # the cost is quadratic in the width
        return self._narrow(min(max(wanted, SHARPER), 0.5))

    def _narrow(self, factor: float) -> bool:
        width = self.scores.width * factor
        if width < 1e-9:
            return False
        self.scores.sharpen(width)
        self.stuck, self.terms = 0, None
        return True
