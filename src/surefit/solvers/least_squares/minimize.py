r"""Minimize :math:`\sum_i s_i (y_i - x_i^\top w - b)^2 + \alpha \|w\|^2` for several targets, with an exact gap.

If the normal equations are well conditioned, they are solved by Cholesky factorization and refined with residuals
computed from the data. Otherwise the solver uses QR by blocks of rows and the singular values of the triangular factor.
If there are fewer rows than features, it uses the Gram matrix of the rows. In each case, the excess over the minimum is
:math:`g^\top (X^\top S X + \alpha I)^{-1} g`, where :math:`2g` is the gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import nnls
from scipy.sparse.linalg import LinearOperator, lsmr

from surefit.core.partitioned import PartitionedRows
from surefit.solvers.least_squares import moments as rows_of
from surefit.solvers.least_squares.leave_one_out import factor as apply_of
from surefit.solvers.least_squares.moments import Moments, collect, gradients
from surefit.solvers.least_squares.partitioned import compress

WORST_CONDITION = 1e12  # condition number of the scaled normal equations beyond which Cholesky is not used
LARGEST_DENSE = 8_000  # order up to which a dense matrix is factorized; larger sparse problems are solved iteratively
REFINEMENTS = 4
NEGLIGIBLE = 1e-26  # fraction of the null objective at which a gap is a rounding error


class Solution(NamedTuple):
    """Minimizer for each target, and properties of its factorization."""

    coef: np.ndarray  # (features, targets)
    offset: np.ndarray
    squares: np.ndarray  # weighted sum of squared residuals
    rank: int
    singular: np.ndarray
    inverse: np.ndarray | None  # (X'SX + alpha I)^-1 about the means, if it was computed
    x_mean: np.ndarray
    total: float
    route: str
    n_iter: int | None = None
    degrees_of_freedom: float | None = None  # trace of the hat matrix, if available


class Factor(NamedTuple):
    """Application of the (pseudo-)inverse of the normal equations."""

    solve: Any  # A^+ v
    rank: int
    singular: np.ndarray
    route: str
    degrees_of_freedom: float | None = None


def solve(
    X, Y, weights, alpha: float, *, centered: bool, positive: bool = False, spectrum: bool = False, basis=None
) -> Solution:
    """Solve for all columns of ``Y`` with one ``alpha``.

    ``spectrum`` requests singular values and the inverse; ``basis`` is an existing decomposition of the same data.
    """
    if isinstance(X, PartitionedRows):
        return _compressed(X, alpha, centered, positive, spectrum)
    n, d = X.shape
    if basis is not None and basis.Q is not None:
        known = (basis.total, basis.x_mean, basis.y_mean)
        return _by_inner_products(X, Y, weights, alpha, known, apply_of(basis, alpha))
    if basis is not None and np.max(basis.values) + alpha <= WORST_CONDITION * (np.min(basis.values) + alpha):
        reused = Factor(apply_of(basis, alpha), d, np.empty(0), "eigenvectors, refined")
        return _refined(X, Y, weights, alpha, basis.moments, reused, spectrum)
    if sparse.issparse(X) and min(n, d) > LARGEST_DENSE and not positive:
        return _by_iteration(X, Y, weights, alpha, centered)
    if positive:
        return _non_negative(X, Y, weights, alpha, centered)
    if n < d:
        if alpha > 0:
            return _by_inner_products(X, Y, weights, alpha, rows_of.means(X, Y, weights, centered))
        return _wide(X, Y, weights, centered)
    m = collect(X, Y, weights, centered)
    factor = _cholesky(m.gram, alpha, spectrum) or _triangle(X, Y, weights, m, alpha)
    return _refined(X, Y, weights, alpha, m, factor, spectrum)


def _compressed(rows: PartitionedRows, alpha: float, centered: bool, positive: bool, spectrum: bool) -> Solution:
    """Solve for the triangular factor that represents all partitions, centered at the means."""
    few = compress(rows, centered)
    found = solve(few.X, few.Y, None, alpha, centered=False, positive=positive, spectrum=spectrum)
    return found._replace(
        offset=few.intercepts(found.coef),
        x_mean=few.x_mean,
        total=few.total,
        route=f"QR over the partitions, {found.route}",
    )


def _refined(X, Y, weights, alpha, m: Moments, factor: Factor, spectrum: bool) -> Solution:
    """Refine the solution with gradients computed from the data until the gap is a rounding error."""
    null = m.squares
    w = factor.solve(m.cross)
    best: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # w, gap, squares
    for _ in range(REFINEMENTS):
        gradient, squares = gradients(X, Y, weights, w, m.x_mean, m.y_mean)
        gradient -= alpha * w
        step = factor.solve(gradient)
        gap = np.maximum((gradient * step).sum(axis=0), 0.0)
        if best is not None and not gap.sum() < 0.25 * best[1].sum():
            break
        best = (w, gap, squares)
        if (gap <= NEGLIGIBLE * null).all():
            break
        w = w + step
    assert best is not None
    w, _, squares = best
    inverse = factor.solve(np.eye(len(w))) if spectrum and factor.rank == len(w) else None
    return Solution(
        w, m.y_mean - m.x_mean @ w, squares, factor.rank, factor.singular, inverse, m.x_mean, m.total, factor.route,
        degrees_of_freedom=factor.degrees_of_freedom,
    )  # fmt: skip


def _cholesky(gram: np.ndarray, alpha: float, spectrum: bool) -> Factor | None:
    """Factorize the normal equations with columns scaled to one; return None if they are too ill-conditioned."""
    diagonal = np.diag(gram) + alpha
    if not (diagonal > 0).all() or len(diagonal) == 0:
        return None
    scale = 1 / np.sqrt(diagonal)
    A = gram * (scale[:, None] * scale[None, :])
    A.flat[:: len(A) + 1] = 1.0
    norm = np.abs(A).sum(axis=0).max()
    triangle, failed = linalg.lapack.dpotrf(A, overwrite_a=1)  # SciPy's wrappers take longer than small factorizations
    if failed:
        return None
    reciprocal, _ = linalg.lapack.dpocon(triangle, norm)
    if reciprocal * WORST_CONDITION < 1:
        return None
    singular = np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0)) if spectrum else np.empty(0)

    def apply(v):
        return scale[:, None] * linalg.lapack.dpotrs(triangle, scale[:, None] * v)[0]

    lost = alpha * _trace_of_inverse(triangle, scale[:, None]) if alpha > 0 else 0.0
    return Factor(apply, len(diagonal), singular, "normal equations, refined", float(len(diagonal) - lost))


def _trace_of_inverse(triangle: np.ndarray, scale) -> float:
    """Return the trace of ``D (U'U)^-1 D``: the sum of the squared norms of the rows of ``D U^-1``."""
    return float(np.sum((linalg.lapack.dtrtri(triangle)[0] * scale) ** 2))


def _triangle(X, Y, weights, m: Moments, alpha: float) -> Factor:
    """Factorize ``sqrt(s) (X - mean)``, with ``sqrt(alpha) I`` below it, by QR of blocks of rows."""
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


def _wide(X, Y, weights, centered: bool) -> Solution:
    """Return the minimum-norm least-squares solution with more features than rows, by QR of the transposed rows."""
    total, x_mean, y_mean = rows_of.means(X, Y, weights, centered)
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
    return Solution(
        w, y_mean - x_mean @ w, (r**2).sum(axis=0), int(kept.sum()), singular, None, x_mean, total, "QR of the columns",
        degrees_of_freedom=float(kept.sum()),
    )  # fmt: skip


def _by_inner_products(X, Y, weights, alpha: float, means, apply=None) -> Solution:
    """Solve ridge regression with more features than rows: ``w = Z' (Z Z' + alpha I)^-1 y``, with refinement."""
    total, x_mean, y_mean = means
    root = np.ones((X.shape[0], 1)) if weights is None else np.sqrt(weights)[:, None]
    degrees_of_freedom = None
    if apply is None:
        A = rows_of.gram_of_rows(X, weights, x_mean)
        apply, degrees_of_freedom = _inverse_of(A, alpha)
    target, best = root * (Y - y_mean), None
    c = apply(target)
    for _ in range(REFINEMENTS):
        w = rows_of.transposed(X, weights, x_mean, c)
        r = target - root * rows_of.centered_times(X, x_mean, w)
        gradient = rows_of.transposed(X, weights, x_mean, r) - alpha * w
        gap = (gradient**2).sum(axis=0) / alpha
        if best is not None and not gap.sum() < 0.25 * best[1].sum():
            break
        squares = (r**2).sum(axis=0)
        best = (w, gap, squares)
        if np.all(gap <= NEGLIGIBLE * (target**2).sum(axis=0)):
            break
        c = c + apply(r - alpha * c)
    assert best is not None
    w, _, squares = best
    return Solution(
        w, y_mean - x_mean @ w, squares, X.shape[1], np.empty(0), None, x_mean, total, "inner products of rows",
        degrees_of_freedom=degrees_of_freedom,
    )  # fmt: skip


def _inverse_of(A: np.ndarray, alpha: float) -> tuple[Callable[[np.ndarray], np.ndarray], float]:
    """Return a function that applies ``(A + alpha I)^-1``, and the degrees of freedom; directions below rounding are omitted."""
    B = A.copy()
    B[np.diag_indices_from(B)] += alpha
    try:
        triangle = linalg.cholesky(B, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:  # alpha is below the rounding of A
        values, vectors = linalg.eigh(A, check_finite=False)
        kept = values > len(values) * np.finfo(float).eps * values[-1]
        values, vectors = values[kept], vectors[:, kept]
        freedom = float(np.sum(values / (values + alpha)))
        return lambda v: vectors @ ((vectors.T @ v) / (values[:, None] + alpha)), freedom
    freedom = len(triangle) - alpha * _trace_of_inverse(triangle, 1.0)
    return lambda v: linalg.cho_solve((triangle, False), v, check_finite=False), freedom


def _non_negative(X, Y, weights, alpha: float, centered: bool) -> Solution:
    """Solve for non-negative coefficients by the active-set method on the triangular factor of the data."""
    n, d = X.shape
    total, x_mean, y_mean = rows_of.means(X, Y, weights, centered)
    root = np.ones((n, 1)) if weights is None else np.sqrt(weights)[:, None]
    Z, target = root * (rows_of.any_dense(X) - x_mean), root * (Y - y_mean)
    Z, target = np.vstack([Z, math.sqrt(alpha) * np.eye(d)]), np.vstack([target, np.zeros((d, Y.shape[1]))])
    Q, R = linalg.qr(Z, mode="economic", check_finite=False)
    w = np.column_stack([nnls(R, column, maxiter=30 * max(d, 10))[0] for column in (Q.T @ target).T])
    singular = linalg.svdvals(R, check_finite=False)
    kept = singular > rows_of.smallest_kept((n, d), singular, x_mean, total)
    r = target - Z @ w
    squares = (r**2).sum(axis=0) - alpha * (w**2).sum(axis=0)
    return Solution(
        w, y_mean - x_mean @ w, squares, int(kept.sum()), singular, None, x_mean, total, "active set"
    )  # fmt: skip


def _by_iteration(X, Y, weights, alpha: float, centered: bool) -> Solution:
    """Solve large sparse problems iteratively with scaled columns, without forming a Gram matrix."""
    total, x_mean, y_mean = rows_of.means(X, Y, weights, centered)
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
    _, rss = gradients(X, Y, weights, w, x_mean, y_mean)
    return Solution(
        w, y_mean - x_mean @ w, rss, d, np.empty(0), None, x_mean, total, "iteration (LSMR)", steps
    )  # fmt: skip
