r"""Start of Newton's method for exponential scores: a Hessian in single precision, and for positive targets a point.

At :math:`z = \ln y` the derivatives vanish, so the quadratic model there is least squares of :math:`\ln y`. Its Hessian is close
to that at the optimum, because the noise averages out. Gradients and gaps are those of all rows in double precision, so
the error of the Hessian only affects the number of steps. The solver forms the full Hessian in double precision after
a step that reduces the gap too little.
"""

from __future__ import annotations

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import blocks
from surefit.operators.base import rows_per_block
from surefit.solvers.newton.exponential_scores import ExponentialScores
from surefit.solvers.newton.model import Model
from surefit.solvers.newton.quadratic import minimize_quadratic
from surefit.solvers.newton.rows import NARROW, Rows

BLOCK_ENTRIES = 1 << 16  # 256 KB: a block stays in cache between its scaling and its product
FEWEST_ROWS = 2000  # below, the Hessian costs less than a step
ROWS_A_COLUMN = 400  # rows per column that are enough, and at least MANY_ROWS
MANY_ROWS = 20_000


def first_model(
    rows: Rows, scores: ExponentialScores, l2: float, coef: np.ndarray, offset: np.ndarray, intercept: bool
) -> tuple[np.ndarray, np.ndarray, Model | None]:
    """Return a point at least as good as the given one, and a model for the first steps, or None for sparse, wide or few rows."""
    n, d = rows.shape
    if rows.sparse or d > NARROW or n < max(FEWEST_ROWS, 4 * d):
        return coef, offset, None
    step = max(n // max(ROWS_A_COLUMN * d, MANY_ROWS), 1)
    some, terms = (rows.part(step), scores.part(step)) if step > 1 else (rows, scores)
    if coef.any() or not scores.y.min() > 0.0:
        Z = some.times(coef) + offset if coef.any() else np.tile(offset, (some.shape[0], 1))
        return coef, offset, _model(some, terms.evaluate(Z)[2], intercept)
    Z = np.log(terms.y)[:, None]
    weights = terms.evaluate(Z)[2]
    model = _model(some, weights, intercept)
    if model is None:
        return coef, offset, None
    level = float(weights @ Z[:, 0]) / float(weights.sum()) if intercept else 0.0
    g = -some.transposed(weights[:, None] * (Z - level))[0]
    w = minimize_quadratic(model.H, g, np.zeros(d), 0.0, l2, 0.0)[None]
    b = level - model.back @ w[0] if intercept else np.zeros(1)
    reached = scores.value(rows.times(w) + b) + 0.5 * l2 * float(np.vdot(w, w))
    return (w, b, model) if reached < scores.value(np.tile(offset, (n, 1))) else (coef, offset, model)


def _model(rows: Rows, weights: np.ndarray, intercept: bool) -> Model | None:
    """Return the Hessian for some curvatures, or None if they or single precision overflow."""
    n, d = rows.shape
    if not 0.0 < weights.sum() < np.inf:
        return None
    means, roots = rows.weighted_means(weights) if intercept else np.zeros(d), np.sqrt(weights)
    H = np.zeros((d, d))
    for start, stop in blocks(n, rows_per_block(d, BLOCK_ENTRIES)):
        block = np.empty((stop - start, d), dtype=np.float32)
        _scale(rows.X[start:stop], roots[start:stop], means, block)
        with np.errstate(over="ignore", invalid="ignore"):
            H += block.T @ block
    return Model(np.arange(d), H, means[None] if intercept else np.zeros((1, d))) if np.isfinite(H).all() else None


@compiled(relaxed=True)
def _scale(x, roots, means, block):
    for i in range(len(roots)):
        for j in range(len(means)):
            block[i, j] = (x[i, j] - means[j]) * roots[i]
