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

BLOCK_ENTRIES = 1 << 18  # 1 MB: a block stays in cache between its scaling and its product
FEWEST_ROWS = 2000  # below, the Hessian costs less than a step
ROWS_A_COLUMN = 400  # rows per column that are enough, and at least MANY_ROWS
MANY_ROWS = 20_000


def first_model(
    rows: Rows, scores: ExponentialScores, l2: float, coef: np.ndarray, offset: np.ndarray, intercept: bool, null: float
) -> tuple[np.ndarray, np.ndarray, Model | None]:
    """Return a point, and a model for the first steps, or None for sparse, wide or few rows.

    The given point is replaced if its coefficients are zero and the other objective is below ``null``.
    """
    n, d = rows.shape
    if rows.sparse or d > NARROW or n < max(FEWEST_ROWS, 4 * d):
        return coef, offset, None
    step = max(n // max(ROWS_A_COLUMN * d, MANY_ROWS), 1)
    some, terms = (rows.part(step), scores.part(step)) if step > 1 else (rows, scores)
    if coef.any() or not scores.y.min() > 0.0:
        Z = some.times(coef) + offset if coef.any() else np.tile(offset, (some.shape[0], 1))
        return coef, offset, _model(some, terms.evaluate(Z)[2], np.zeros(some.shape[0]), intercept)[0]
    logs = np.log(terms.y)
    weights = terms.evaluate(logs[:, None])[2]
    level = float(weights @ logs) / float(weights.sum()) if intercept else 0.0
    model, products = _model(some, weights, logs - level, intercept)
    if model is None:
        return coef, offset, None
    w = minimize_quadratic(model.H, -products, np.zeros(d), 0.0, l2, 0.0)[None]
    b = level - model.back @ w[0] if intercept else np.zeros(1)
    reached = scores.value(rows.times(w, keep=True) + b) + 0.5 * l2 * float(np.vdot(w, w))
    return (w, b, model) if reached < null else (coef, offset, model)


def _model(rows: Rows, weights: np.ndarray, target: np.ndarray, intercept: bool) -> tuple[Model | None, np.ndarray]:
    """Return the Hessian for some curvatures and weighted products with a target; None if single precision overflows."""
    n, d = rows.shape
    total, gram = float(weights.sum()), np.zeros((d + 2, d + 2))
    if not 0.0 < total < np.inf:
        return None, np.zeros(d)
    roots = np.sqrt(weights)
    with np.errstate(over="ignore", invalid="ignore"):
        size = rows_per_block(d + 2, BLOCK_ENTRIES)
        buffer = np.empty((min(size, n), d + 2), dtype=np.float32)
        for start, stop in blocks(n, size):
            block = buffer[: stop - start]
            _scale(rows.X[start:stop], roots[start:stop], target[start:stop], block)
            gram += block.T @ block
        means = gram[d, :d] / total if intercept else np.zeros(d)
        H = gram[:d, :d] - total * np.outer(means, means)
    return (Model(np.arange(d), H, means[None]) if np.isfinite(gram).all() else None), gram[d + 1, :d]


@compiled(relaxed=True)
def _scale(x, roots, target, block):
    """Store the rows with a one and their target, times the roots of their weights."""
    d = x.shape[1]
    for i in range(len(roots)):
        for j in range(d):
            block[i, j] = x[i, j] * roots[i]
        block[i, d], block[i, d + 1] = roots[i], target[i] * roots[i]
