r"""Kernel ridge regression: :math:`\sum_i s_i (y_i - f(x_i) - p(x_i))^2 + \alpha \|f\|^2`, by one factorization or eigendecomposition.

The term :math:`p` ranges over a space of unpenalized functions with the values :math:`T b`. With :math:`\tilde K = S^{1/2} K S^{1/2}` and
an orthonormal basis :math:`Z` of the orthogonal complement of :math:`S^{1/2} T`, the coefficients are :math:`c = S^{1/2} M S^{1/2} y`
with :math:`M = Z (Z^\top \tilde K Z + \alpha I)^{-1} Z^\top`. Householder reflections give :math:`Z` without
cancellation. With :math:`\tilde y = S^{1/2} y`, the weighted residuals are :math:`\alpha M \tilde y`, so the weighted
leave-one-out error of a row is exactly :math:`(M \tilde y)_i / M_{ii}`, without a refit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from surefit.core.threads import map_parts
from surefit.solvers import tiled_cholesky

HALF_PRECISION_FROM = 256  # number of rows from which the factorization is computed in float32 and refined in float64
STEPS = 12  # largest number of refinement steps
ALONE = 1e-12  # threshold for a row that is determined by unpenalized functions alone


class Coefficients(NamedTuple):
    """Coefficients of the rows and of the unpenalized functions, one column per target."""

    c: np.ndarray
    b: np.ndarray


class Free(NamedTuple):
    """Unpenalized functions: QR factorization of their weighted values ``sqrt(s) T``."""

    reflections: np.ndarray
    factors: np.ndarray
    triangle: np.ndarray

    @property
    def size(self) -> int:
        """Number of functions."""
        return len(self.factors)

    def turn(self, C: np.ndarray) -> np.ndarray:
        """Apply the orthogonal transformation that maps the span of the functions to the first coordinates."""
        return self._reflected(C, "T")

    def lift(self, inner: np.ndarray) -> np.ndarray:
        """Apply the inverse transformation to coordinates orthogonal to the functions."""
        return self._reflected(np.vstack([np.zeros((self.size, inner.shape[1])), inner]), "N")

    def inside(self, G: np.ndarray) -> np.ndarray:
        """Return ``Z' G Z`` for a symmetric matrix."""
        return self.turn(self.turn(G).T)[self.size :, self.size :]

    def basis(self) -> np.ndarray:
        """Return an orthonormal basis of the span of the functions."""
        return self._reflected(np.eye(len(self.reflections), self.size), "N")

    def coordinates(self, C: np.ndarray) -> np.ndarray:
        """Return the coefficients of the functions in the least-squares fit to the columns."""
        return linalg.solve_triangular(self.triangle, self.turn(C)[: self.size])

    def _reflected(self, C: np.ndarray, side: str) -> np.ndarray:
        C = np.asfortranarray(C)
        work = max(64 * C.shape[1], 1)
        return lapack.dormqr("L", side, self.reflections, self.factors, C, work)[0]


class Spectrum(NamedTuple):
    """Eigendecomposition of the weighted Gram matrix, orthogonal to the unpenalized functions, and targets in that basis."""

    values: np.ndarray
    vectors: np.ndarray
    along: np.ndarray  # V' sqrt(s) y, one column per target
    root: np.ndarray  # sqrt(s)
    free: Free | None


class LeftOut(NamedTuple):
    """Results for one penalty: leave-one-out errors of the rows, sum of squared residuals, and degrees of freedom."""

    errors: np.ndarray
    residual_squares: np.ndarray
    degrees_of_freedom: float


def free_functions(T: np.ndarray, s: np.ndarray) -> Free | None:
    """Prepare functions with the values ``T``, linearly independent on the rows; return None if there are none."""
    if not T.shape[1]:
        return None
    reflections, factors, _, _ = lapack.dgeqrf(np.sqrt(s)[:, None] * T)
    return Free(reflections, factors, np.triu(reflections[: T.shape[1]]))


def minimize(K: np.ndarray, Y: np.ndarray, s: np.ndarray, alpha: float, free: Free | None) -> Coefficients:
    """Return the coefficients for one penalty; ``K`` is not modified."""
    root = np.sqrt(s)
    G = K if np.all(s == 1.0) else K * root[:, None] * root
    right = root[:, None] * Y
    if free is None:
        return _coefficients(solve_shifted(G, alpha, right), G, right, root, None)
    inner = solve_shifted(free.inside(G), alpha, free.turn(right)[free.size :])
    return _coefficients(free.lift(inner), G, right, root, free)


def gap(
    K: np.ndarray,
    Y: np.ndarray,
    T: np.ndarray,
    s: np.ndarray,
    alphas: np.ndarray,
    found: Coefficients,
    free: Free | None,
):
    """Return the gap and the objective of each target, and squared norms of the functions (theory: ``kernel-ridge-gap``)."""
    c, b = found
    scores = K @ c
    residual = Y - scores - T @ b
    off = residual - alphas * c / s[:, None]
    repair = np.zeros(c.shape[1])
    if free is not None:
        B = free.basis() / np.sqrt(s)[:, None]
        shift = B @ (B.T @ (alphas * c))
        off = off + shift
        radius = (s * np.sqrt(np.maximum(K.diagonal(), 0.0))) @ np.abs(shift)
        repair = radius**2 / alphas
    squares = np.einsum("ij,ij->j", c, scores)
    return s @ off**2 + repair, s @ residual**2 + alphas * squares, squares


def decompose(K: np.ndarray, Y: np.ndarray, s: np.ndarray, free: Free | None) -> Spectrum:
    """Decompose the weighted Gram matrix once for all penalties."""
    root = np.sqrt(s)
    G = K * root[:, None] * root
    if free is not None:
        G = free.inside(G)
    values, vectors = linalg.eigh(G, overwrite_a=True, check_finite=False, driver="evd") if len(G) else (np.zeros(0), G)
    vectors = vectors if free is None else free.lift(vectors)
    return Spectrum(values, vectors, vectors.T @ (root[:, None] * Y), root, free)


def refined(K: np.ndarray, Y: np.ndarray, spectrum: Spectrum, alpha: float) -> Coefficients:
    """Return the coefficients from the spectrum, with two steps of iterative refinement."""
    root, vectors = spectrum.root, spectrum.vectors
    G, right = K * root[:, None] * root, root[:, None] * Y
    inverse = _inverse(spectrum.values, alpha)[:, None]
    solved = vectors @ (inverse * (vectors.T @ right))
    for _ in range(2):
        rest = right - G @ solved - alpha * solved
        solved += vectors @ (inverse * (vectors.T @ rest))
    return _coefficients(solved, G, right, root, spectrum.free)


def leave_one_out(spectrum: Spectrum, alpha: float) -> LeftOut:
    """Return the leave-one-out errors of all rows; for a weighted row, one copy is left out."""
    inverse = _inverse(spectrum.values, alpha)
    diagonal = spectrum.vectors**2 @ inverse
    scaled = spectrum.vectors @ (inverse[:, None] * spectrum.along)
    if spectrum.free is not None:  # a function that only this row determines is not determined without it
        diagonal = np.where(np.sum(spectrum.vectors**2, axis=1) > ALONE, diagonal, 0.0)
    s, once = spectrum.root**2, np.minimum(spectrum.root**2, 1.0)
    kept = (s - once) + once * alpha * diagonal  # s times 1 - once * leverage / s
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(kept[:, None] > 0.0, alpha * scaled * (spectrum.root / kept)[:, None], np.inf)
    return LeftOut(errors, (alpha * scaled) ** 2, len(s) - alpha * float(inverse.sum()))


def square_norm(spectrum: Spectrum, alpha: float) -> float:
    """Return the sum of the squared norms of the functions over all targets; it decreases with ``alpha``."""
    shrunk = _inverse(spectrum.values, alpha)[:, None] * spectrum.along
    return float(np.sum(np.maximum(spectrum.values, 0.0)[:, None] * shrunk**2))


def _coefficients(
    solved: np.ndarray, G: np.ndarray, right: np.ndarray, root: np.ndarray, free: Free | None
) -> Coefficients:
    b = np.zeros((0, right.shape[1])) if free is None else free.coordinates(right - G @ solved)
    return Coefficients(root[:, None] * solved, b)


def _inverse(values: np.ndarray, alpha: float) -> np.ndarray:
    """Return ``1 / (value + alpha)``, or zero if that is infinite; values at the level of rounding count as zero."""
    least = np.finfo(np.float64).eps * len(values) * float(np.max(np.abs(values), initial=0.0))
    noise = np.abs(values) <= least
    if alpha == 0.0:  # minimum-norm least squares
        return np.where(noise, 0.0, 1.0 / np.where(noise, 1.0, values))
    total = np.where(noise, np.maximum(values, 0.0), values) + alpha
    return np.where(total == 0.0, 0.0, 1.0 / np.where(total == 0.0, 1.0, total))


def solve_shifted(G: np.ndarray, alpha: float, right: np.ndarray) -> np.ndarray:
    """Solve ``(G + alpha I) x = right`` by Cholesky in float32 with refinement, else in float64, else by eigenvalues."""
    if not len(G):
        return np.zeros_like(right)
    kinds: list = [np.float32, np.float64] if len(G) >= HALF_PRECISION_FROM else [np.float64]
    for kind in kinds:
        found = _by_factor(G, alpha, right, kind)
        if found is not None:
            return found
    values, vectors = linalg.eigh(G, check_finite=False, driver="evd")
    inverse = _inverse(values, alpha)[:, None]
    solved = vectors @ (inverse * (vectors.T @ right))
    for _ in range(2):
        solved += vectors @ (inverse * (vectors.T @ (right - G @ solved - alpha * solved)))
    return solved


def _by_factor(G: np.ndarray, alpha: float, right: np.ndarray, kind) -> np.ndarray | None:
    single = kind is np.float32
    back = lapack.spotrs if single else lapack.dpotrs
    upper = np.empty(G.shape, dtype=kind)

    def copy(start: int, stop: int) -> None:
        with np.errstate(over="ignore"):
            upper[start:stop] = G[start:stop]

    map_parts(copy, G.shape, 1)
    upper[np.diag_indices(len(G))] += kind(alpha)
    try:
        factor = tiled_cholesky.factorize(upper).T
    except linalg.LinAlgError:
        return None
    solved, rest = np.zeros_like(right), right
    size = float(np.linalg.norm(right))
    last = size
    for step in range(STEPS):
        scale = max(float(np.max(np.abs(rest))), np.finfo(np.float64).tiny)  # avoids underflow in float32
        moved = solved + scale * np.asarray(back(factor, rest / scale, lower=1)[0], dtype=np.float64)
        rest = right - G @ moved - alpha * moved
        now = float(np.linalg.norm(rest))
        if not now < last / 2:
            slow = step == 0 or last > 1e-13 * size
            return None if single and slow else moved if now < last else solved
        solved, last = moved, now
        if now <= 1e-15 * size:
            break
    return None if single and last > 1e-12 * size else solved
