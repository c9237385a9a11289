r"""Minimise :math:`\sum_i s_i (y_i - x_i^\top w - b)^2 + \alpha \|w\|^2` for several targets at once, with an exact gap.

Routes: Cholesky of the normal equations when they are well conditioned, refined with residuals taken from the data; QR by
blocks of rows and the singular values of its triangle when they are not; the matrix of inner products when rows are fewer than
features. In each, the excess over the minimum is :math:`g^\top (X^\top S X + \alpha I)^{-1} g`, :math:`2g` being the slope.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import nnls
from scipy.sparse.linalg import LinearOperator, lsmr

from surefit.solvers.least_squares import moments as rows_of
from surefit.solvers.least_squares.leave_one_out import factor as apply_of
from surefit.solvers.least_squares.moments import Moments, collect, slopes

WORST_CONDITION = 1e12  # of the scaled normal equations; beyond it their Cholesky factor is not trusted
LARGEST_DENSE = 8_000  # order of a dense matrix that is factored; beyond it sparse data are solved by iteration
REFINEMENTS = 4
REACH = 10.0  # how far the bound by slopes alone looks, in lengths of the targets
NEGLIGIBLE = 1e-26  # share of the null objective at which a gap is rounding


class Solution(NamedTuple):
    """A minimiser for each target, and what its factorisation says."""

    coef: np.ndarray  # (features, targets)
    offset: np.ndarray
    gap: np.ndarray  # proved excess over the minimum, by target, up to rounding
    squares: np.ndarray  # weighted sum of squared residuals
    null: np.ndarray  # objective of w = 0
    rank: int
    singular: np.ndarray
    inverse: np.ndarray | None  # (X'SX + alpha I)^-1 about the means, if it exists and was formed
    x_mean: np.ndarray
    spread: np.ndarray  # norm of each column about its mean
    total: float
    route: str
    n_iter: int | None = None
    freedom: float | None = None  # trace of the matrix that takes centred targets to fitted values, if a factor gave it
    nearby: float | None = None  # by iteration, without penalty: bound of the excess over coefficients within ``REACH``


class Factor(NamedTuple):
    """How to apply the (pseudo-)inverse of the normal equations."""

    solve: Any  # A^+ v
    rank: int
    singular: np.ndarray
    route: str
    freedom: float | None = None


def solve(
    X, Y, weights, alpha: float, *, centred: bool, positive: bool = False, spectrum: bool = False, basis=None
) -> Solution:
    """Solve for all columns of ``Y`` with one ``alpha``.

    ``spectrum`` asks for singular values and the inverse; ``basis`` is a decomposition of the same data, to be used again.
    """
    n, d = X.shape
    if basis is not None and basis.Q is not None:
        return _by_inner_products(X, Y, weights, alpha, centred, apply_of(basis, alpha))
    if basis is not None and np.max(basis.values) + alpha <= WORST_CONDITION * (np.min(basis.values) + alpha):
        reused = Factor(apply_of(basis, alpha), d, np.empty(0), "eigenvectors, refined")
        return _refined(X, Y, weights, alpha, basis.moments, reused, spectrum)
    if sparse.issparse(X) and min(n, d) > LARGEST_DENSE and not positive:
        return _by_iteration(X, Y, weights, alpha, centred)
    if positive:
        return _non_negative(X, Y, weights, alpha, centred)
    if n < d:
        return _by_inner_products(X, Y, weights, alpha, centred) if alpha > 0 else _wide(X, Y, weights, centred)
    m = collect(X, Y, weights, centred)
    factor = _cholesky(m.gram, alpha, spectrum) or _triangle(X, Y, weights, m, alpha)
    return _refined(X, Y, weights, alpha, m, factor, spectrum)


def _refined(X, Y, weights, alpha, m: Moments, factor: Factor, spectrum: bool) -> Solution:
    """Correct the solution with slopes taken from the data until the gap is rounding."""
    null = m.squares
    w = factor.solve(m.cross)
    best: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    for _ in range(REFINEMENTS):
        slope, squares = slopes(X, Y, weights, w, m.x_mean, m.y_mean)
        slope -= alpha * w
        step = factor.solve(slope)
        gap = np.maximum((slope * step).sum(axis=0), 0.0)
        if best is not None and not gap.sum() < 0.25 * best[1].sum():
            break
        best = (w, gap, squares)
        if np.all(gap <= NEGLIGIBLE * null):
            break
        w = w + step
    assert best is not None
    w, gap, squares = best
    inverse = factor.solve(np.eye(len(w))) if spectrum and factor.rank == len(w) else None
    return Solution(
        w, m.y_mean - m.x_mean @ w, gap, squares, null, factor.rank, factor.singular, inverse, m.x_mean,
        np.sqrt(np.maximum(np.diag(m.gram), 0.0)), m.total, factor.route, freedom=factor.freedom,
    )  # fmt: skip


def _cholesky(gram: np.ndarray, alpha: float, spectrum: bool) -> Factor | None:
    """Factor the normal equations with columns scaled to one, or None if they are too ill-conditioned for it."""
    diagonal = np.diag(gram) + alpha
    if not np.all(diagonal > 0) or len(diagonal) == 0:
        return None
    scale = 1 / np.sqrt(diagonal)
    A = gram * (scale[:, None] * scale[None, :])
    A[np.diag_indices_from(A)] = 1.0
    norm = np.abs(A).sum(axis=0).max()
    try:
        triangle = linalg.cholesky(A, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    reciprocal, _ = linalg.lapack.dpocon(triangle, norm)
    if reciprocal * WORST_CONDITION < 1:
        return None
    singular = np.sqrt(np.maximum(linalg.eigvalsh(gram)[::-1], 0.0)) if spectrum else np.empty(0)

    def apply(v):
        return scale[:, None] * linalg.cho_solve((triangle, False), scale[:, None] * v, check_finite=False)

    freedom = len(diagonal) - alpha * _trace_of_inverse(triangle, scale[:, None]) if alpha > 0 else float(len(diagonal))
    return Factor(apply, len(diagonal), singular, "normal equations, refined", freedom)


def _trace_of_inverse(triangle: np.ndarray, scale) -> float:
    """Trace of ``D (U'U)^-1 D``: the squared lengths of the rows of ``D U^-1``."""
    return float(np.sum((linalg.lapack.dtrtri(triangle)[0] * scale) ** 2))


def _triangle(X, Y, weights, m: Moments, alpha: float) -> Factor:
    """Factor ``sqrt(s) (X - mean)``, with ``sqrt(alpha) I`` below it, by QR of blocks of rows."""
    d = X.shape[1]
    R = math.sqrt(alpha) * np.eye(d)
    X = X.tocsr() if sparse.issparse(X) else X
    step = max(2 * d, 1024)
    for start in range(0, X.shape[0], step):
        Z = rows_of.any_dense(X[start : start + step]) - m.x_mean
        if weights is not None:
            Z *= np.sqrt(weights[start : start + step])[:, None]
        R = linalg.qr(np.vstack([R, Z]), mode="r", overwrite_a=True, check_finite=False)[0][:d]
    _, singular, Vt = linalg.svd(R, full_matrices=False, check_finite=False)
    kept = singular > rows_of.smallest_kept(X.shape, singular, m.x_mean, m.total)
    V, inverse = Vt[kept].T, singular[kept] ** -2.0

    def apply(v):
        return V @ (inverse[:, None] * (V.T @ v))

    return Factor(apply, len(inverse), singular, "QR by blocks of rows", float(np.sum(1 - alpha * inverse)))


def _wide(X, Y, weights, centred: bool) -> Solution:
    """Minimum-norm least squares with more features than rows, by QR of the transposed rows."""
    total, x_mean, y_mean = rows_of.means(X, Y, weights, centred)
    root = np.ones(X.shape[0]) if weights is None else np.sqrt(weights)
    Z = (rows_of.any_dense(X) - x_mean) * root[:, None]
    Q, R = linalg.qr(Z.T, mode="economic", check_finite=False)
    U, singular, Vt = linalg.svd(R, full_matrices=False, check_finite=False)  # Z' = (Q U) singular Vt
    kept = singular > rows_of.smallest_kept(X.shape, singular, x_mean, total)
    U, V, s = Q @ U[:, kept], Vt[kept].T, singular[kept][:, None]
    w = np.zeros((X.shape[1], Y.shape[1]))
    for _ in range(2):
        r = root[:, None] * (Y - y_mean) - Z @ w
        w = w + U @ ((V.T @ r) / s)
    r = root[:, None] * (Y - y_mean) - Z @ w
    gap, squares = ((V.T @ r) ** 2).sum(axis=0), (r**2).sum(axis=0)
    null = (root[:, None] ** 2 * (Y - y_mean) ** 2).sum(axis=0)
    return Solution(
        w, y_mean - x_mean @ w, gap, squares, null, int(kept.sum()), singular, None, x_mean,
        rows_of.spreads(X, weights, x_mean), total, "QR of the columns", freedom=float(kept.sum()),
    )  # fmt: skip


def _by_inner_products(X, Y, weights, alpha: float, centred: bool, apply=None) -> Solution:
    """Ridge with more features than rows: ``w = Z' (Z Z' + alpha I)^-1 y``, refined."""
    total, x_mean, y_mean = rows_of.means(X, Y, weights, centred)
    root = np.ones((X.shape[0], 1)) if weights is None else np.sqrt(weights)[:, None]
    freedom = None
    if apply is None:
        A = rows_of.gram_of_rows(X, weights, x_mean)
        A[np.diag_indices_from(A)] += alpha
        triangle = linalg.cholesky(A, overwrite_a=True, check_finite=False)
        freedom = len(triangle) - alpha * _trace_of_inverse(triangle, 1.0)

        def apply(v):
            return linalg.cho_solve((triangle, False), v, check_finite=False)

    target, best = root * (Y - y_mean), None
    c = apply(target)
    for _ in range(REFINEMENTS):
        w = rows_of.transposed(X, weights, x_mean, c)
        r = target - root * rows_of.centred_times(X, x_mean, w)
        slope = rows_of.transposed(X, weights, x_mean, r) - alpha * w
        gap = (slope**2).sum(axis=0) / alpha
        if best is not None and not gap.sum() < 0.25 * best[1].sum():
            break
        squares = (r**2).sum(axis=0)
        best = (w, np.minimum(gap, squares + alpha * (w**2).sum(axis=0)), squares)
        if np.all(gap <= NEGLIGIBLE * (target**2).sum(axis=0)):
            break
        c = c + apply(r - alpha * c)
    assert best is not None
    w, gap, squares = best
    return Solution(
        w, y_mean - x_mean @ w, gap, squares, (target**2).sum(axis=0), X.shape[1], np.empty(0), None, x_mean,
        rows_of.spreads(X, weights, x_mean), total, "inner products of rows", freedom=freedom,
    )  # fmt: skip


def _non_negative(X, Y, weights, alpha: float, centred: bool) -> Solution:
    """Non-negative coefficients by the active-set method on the triangle of the data.

    With mu the smallest eigenvalue of the normal equations, a step u from w lowers the objective by at most
    ``sum_j max over u_j >= -w_j of 2 g_j u_j - mu u_j^2``.
    """
    n, d = X.shape
    total, x_mean, y_mean = rows_of.means(X, Y, weights, centred)
    root = np.ones((n, 1)) if weights is None else np.sqrt(weights)[:, None]
    Z, target = root * (rows_of.any_dense(X) - x_mean), root * (Y - y_mean)
    Z, target = np.vstack([Z, math.sqrt(alpha) * np.eye(d)]), np.vstack([target, np.zeros((d, Y.shape[1]))])
    Q, R = linalg.qr(Z, mode="economic", check_finite=False)
    w = np.column_stack([nnls(R, column, maxiter=30 * max(d, 10))[0] for column in (Q.T @ target).T])
    singular = linalg.svdvals(R, check_finite=False)
    kept = singular > rows_of.smallest_kept((n, d), singular, x_mean, total)
    mu = float(singular[-1]) ** 2 if kept.all() and len(singular) == d else 0.0
    r = target - Z @ w
    objective = (r**2).sum(axis=0)
    gap = non_negative_gap(Z.T @ r, w, mu, objective)
    squares = objective - alpha * (w**2).sum(axis=0)
    null = (target**2).sum(axis=0)
    return Solution(
        w, y_mean - x_mean @ w, gap, squares, null, int(kept.sum()), singular, None, x_mean,
        rows_of.spreads(X, weights, x_mean), total, "active set",
    )  # fmt: skip


def non_negative_gap(g: np.ndarray, w: np.ndarray, mu: float, objective: np.ndarray) -> np.ndarray:
    """Bound what feasible steps can gain; the objective itself is a bound too."""
    if mu <= 0.0:
        return objective
    u = np.maximum(g / mu, -w)
    return np.minimum(np.maximum(2 * g * u - mu * u * u, 0.0).sum(axis=0), objective)


def _by_iteration(X, Y, weights, alpha: float, centred: bool) -> Solution:
    """Large sparse data: conjugate-direction iterations, columns scaled; never forms a Gram matrix."""
    total, x_mean, y_mean = rows_of.means(X, Y, weights, centred)
    root = np.ones(X.shape[0]) if weights is None else np.sqrt(weights)
    squares = np.asarray(X.multiply(X).T @ root**2).ravel() - total * x_mean**2
    scale = 1 / np.sqrt(np.maximum(squares, 0.0) + alpha + np.finfo(float).tiny)
    scale[squares + alpha <= 0] = 0.0
    d = X.shape[1]

    def forward(v):
        v = scale * v.ravel()
        return np.concatenate([root * (X @ v - x_mean @ v), math.sqrt(alpha) * v])

    def backward(v):
        v = v.ravel()
        u = root * v[:-d]
        return scale * (X.T @ u - x_mean * u.sum() + math.sqrt(alpha) * v[-d:])

    operator = LinearOperator((X.shape[0] + d, d), matvec=forward, rmatvec=backward, dtype=np.float64)
    coefs, steps = [], 0
    for column in (Y - y_mean).T:
        found = lsmr(operator, np.concatenate([root * column, np.zeros(d)]), atol=1e-13, btol=1e-13, maxiter=4 * d)
        coefs.append(scale * found[0])
        steps = max(steps, int(found[2]))
    w = np.column_stack(coefs)
    slope, rss = slopes(X, Y, weights, w, x_mean, y_mean)
    slope -= alpha * w
    objective = rss + alpha * (w**2).sum(axis=0)
    gap = np.minimum((slope**2).sum(axis=0) / alpha, objective) if alpha > 0 else objective
    null = (root[:, None] ** 2 * (Y - y_mean) ** 2).sum(axis=0)
    return Solution(
        w, y_mean - x_mean @ w, gap, rss, null, d, np.empty(0), None, x_mean,
        rows_of.spreads(X, weights, x_mean), total, "iteration (LSMR)", steps,
        nearby=nearby_gap(X, Y, root**2, slope, rss) if alpha == 0 else None,
    )  # fmt: skip


def nearby_gap(X, Y, s: np.ndarray, slope: np.ndarray, rss: np.ndarray) -> float:
    r"""Bound the excess over all coefficients that are not very far away, from the slopes alone, all targets together.

    The objective is convex, so a step u lowers it by at most :math:`2 g^\top u \le 2 \|D^{-1} g\| \|D u\|`, with D the lengths of the
    columns, the constant among them; steps of length :math:`\|Du\|` up to ``REACH`` times that of the targets are covered.
    """
    lengths = np.sqrt(np.asarray(X.multiply(X).T @ s).ravel())
    scaled = slope / np.where(lengths > 0, lengths, 1.0)[:, None]
    depth = sum(int(np.max(np.diff(part.indptr), initial=0)) for part in (X.tocsc(), X.tocsr())) + 16
    targets = (s[:, None] * Y**2).sum(axis=0)
    rounding = depth * np.finfo(float).eps * math.sqrt(X.shape[1] + 1) * np.sqrt(rss + targets)
    return float(np.sum(2 * REACH * np.sqrt(targets) * (np.linalg.norm(scaled, axis=0) + rounding)))
