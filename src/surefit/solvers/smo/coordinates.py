r"""Linear kernel with sparse rows and an intercept: dual coordinate ascent at a fixed intercept, and a search for the intercept.

At a fixed intercept b, the rows are not coupled, and a step costs the entries of one row. The sum of the dual vector
decreases as b increases. If the sum is zero, the vector solves the problem with a free intercept. The root is bracketed
and found by false position with warm starts, so that each value of b costs a few passes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from surefit.core.budget import Budget, Reason
from surefit.solvers.dual_start import BLOCK, ascent_pass, shuffle
from surefit.solvers.newton import csr_products
from surefit.solvers.smo.problem import BoxProblem
from surefit.solvers.smo.rows import LinearRows

OFFSETS = 40  # largest number of intercepts
PASSES = 6  # passes per intercept
FIRST_STEP = 0.1
INSIDE = 0.1  # smallest fraction of the bracket that every step removes
NARROW = 1e-5  # a narrower bracket is due to inexact vectors: start a new one


def ascend_coordinates(gram: LinearRows, problem: BoxProblem, budget: Budget) -> Iterator[tuple[np.ndarray, int]]:
    """Yield dual vectors whose sums approach zero, each with its number of passes."""
    X = sparse.csr_array(gram.A)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    ascent = _Ascent(X, problem)
    b, step = 0.0, FIRST_STEP
    low = high = None  # intercepts with a sum above and below zero, and these sums
    for _ in range(OFFSETS):
        if budget.spent(0) not in (None, Reason.MAX_ITER):
            return
        total = ascent.at(b)
        yield ascent.alpha * problem.y, PASSES
        if total > 0.0:
            low = (b, total)
        else:
            high = (b, total)
        if low is None or high is None:
            b, step = (b + step if high is None else b - step), 2.0 * step
        elif high[0] - low[0] < NARROW * (1.0 + abs(b)):
            low, high, step = None, None, 10.0 * NARROW * (1.0 + abs(b))
        else:
            share = low[1] / (low[1] - high[1])
            b = low[0] + min(max(share, INSIDE), 1.0 - INSIDE) * (high[0] - low[0])


class _Ascent:
    """Dual vector and its primal weights, which are reused for the next intercept."""

    def __init__(self, X: sparse.csr_array, problem: BoxProblem):
        self.X, self.y = X, problem.y
        self.upper = np.maximum(problem.high, -problem.low)
        self.squares = csr_products.square_norms(X)
        self.alpha, self.w = np.zeros(X.shape[0]), np.zeros(X.shape[1])
        self.passes = 0

    def at(self, b: float) -> float:
        """Run coordinate ascent at this intercept; return the sum of the dual vector."""
        active, limits = np.arange(len(self.y)), (np.inf, -np.inf)
        bias = np.array([b, 0.0])
        for _ in range(PASSES):
            self.passes += 1
            blocks = np.arange(-(-len(active) // BLOCK))
            shuffle(blocks, self.passes)
            left, up, down, _ = ascent_pass(
                self.X.data, self.X.indices, self.X.indptr, self.y, self.upper, self.squares, 0.0, self.alpha, self.w,
                bias, active, blocks, BLOCK, *limits,
            )  # fmt: skip
            active, limits = active[:left], (up if up > 0 else np.inf, down if down < 0 else -np.inf)
        return float(self.alpha @ self.y)
