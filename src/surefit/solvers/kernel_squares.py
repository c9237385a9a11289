r"""Squares and a norm of a kernel's space: :math:`\sum_i s_i (y_i - f(x_i) - b)^2 + \alpha \|f\|^2`, by one factor or one spectrum.

With :math:`\tilde K = S^{1/2} K S^{1/2}`, :math:`u = S^{1/2} 1` and :math:`G = \tilde K + \alpha I` the coefficients are
:math:`c = S^{1/2} M S^{1/2} y`, where :math:`M = G^{-1}`, or with a free offset
:math:`M = G^{-1} - G^{-1} u u^\top G^{-1} / u^\top G^{-1} u`.
The residuals are :math:`\alpha M`, so leaving a row out costs :math:`(M \tilde y)_i / M_{ii}`: exact, without a refit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

HALF_PRECISION_FROM = 256  # rows from which the factor is computed in float32 and refined in float64
STEPS = 12  # of refinement at most


class Coefficients(NamedTuple):
    """Coefficients of the rows, one column a target, and offsets."""

    c: np.ndarray
    b: np.ndarray


class Spectrum(NamedTuple):
    """Eigenvalues and vectors of the weighted Gram matrix, with targets and ones in that basis."""

    values: np.ndarray
    vectors: np.ndarray
    along: np.ndarray  # (n, targets): V' sqrt(s) y
    ones: np.ndarray | None  # V' sqrt(s), if the offset is free
    root: np.ndarray  # sqrt(s)


class LeftOut(NamedTuple):
    """What one penalty gives: leave-one-out errors of the rows, squares of all residuals, and degrees of freedom."""

    errors: np.ndarray
    residual_squares: np.ndarray
    freedom: float


def minimise(K: np.ndarray, Y: np.ndarray, s: np.ndarray, alpha: float, centred: bool) -> Coefficients:
    """Return the coefficients for one penalty; ``K`` is not changed."""
    root = np.sqrt(s)
    G = K if np.all(s == 1.0) else K * root[:, None] * root
    right = root[:, None] * Y
    solved = solve_shifted(G, alpha, np.column_stack([right, root]) if centred else right)
    return _with_offset(solved, root, centred)


def gap(K: np.ndarray, Y: np.ndarray, s: np.ndarray, alphas: np.ndarray, found: Coefficients, centred: bool):
    """Return the gap and the objective of each target, and squared norms of the functions (theory: ``kernel-ridge-gap``)."""
    c, b = found
    scores = K @ c
    residual = Y - scores - b
    off = residual - alphas * c / s[:, None]
    repair = np.zeros(c.shape[1])
    if centred:
        shift = alphas * c.sum(axis=0) / s.sum()
        off = off + shift
        reach = float(s @ np.sqrt(np.maximum(K.diagonal(), 0.0)))
        repair = shift**2 * reach**2 / alphas
    squares = np.einsum("ij,ij->j", c, scores)
    return s @ off**2 + repair, s @ residual**2 + alphas * squares, squares


def decompose(K: np.ndarray, Y: np.ndarray, s: np.ndarray, centred: bool) -> Spectrum:
    """Decompose the weighted Gram matrix once for all penalties."""
    root = np.sqrt(s)
    values, vectors = linalg.eigh(K * root[:, None] * root, overwrite_a=True, check_finite=False, driver="evd")
    ones = vectors.T @ root if centred else None
    return Spectrum(values, vectors, vectors.T @ (root[:, None] * Y), ones, root)


def at(spectrum: Spectrum, alpha: float) -> Coefficients:
    """Return the coefficients for one penalty from the spectrum."""
    shrunk = _inverse(spectrum.values, alpha)[:, None] * spectrum.along
    if spectrum.ones is None:
        return _with_offset(spectrum.vectors @ shrunk, spectrum.root, False)
    ones = _inverse(spectrum.values, alpha) * spectrum.ones
    return _with_offset(spectrum.vectors @ np.column_stack([shrunk, ones]), spectrum.root, True)


def refined(K: np.ndarray, Y: np.ndarray, spectrum: Spectrum, alpha: float) -> Coefficients:
    """Return the coefficients from the spectrum, corrected twice by what they leave of the equations."""
    root = spectrum.root
    G, right = K * root[:, None] * root, root[:, None] * Y
    centred = spectrum.ones is not None
    right = np.column_stack([right, root]) if centred else right
    inverse = _inverse(spectrum.values, alpha)[:, None]
    solved = spectrum.vectors @ (inverse * (spectrum.vectors.T @ right))
    for _ in range(2):
        rest = right - G @ solved - alpha * solved
        solved += spectrum.vectors @ (inverse * (spectrum.vectors.T @ rest))
    return _with_offset(solved, root, centred)


def leave_one_out(spectrum: Spectrum, alpha: float) -> LeftOut:
    """Return the errors on each row of the fit without it; of a row that counts several times one copy is left out."""
    inverse = _inverse(spectrum.values, alpha)
    diagonal = spectrum.vectors**2 @ inverse
    scaled = spectrum.vectors @ (inverse[:, None] * spectrum.along)
    trace = float(inverse.sum())
    if spectrum.ones is not None:
        ones = inverse * spectrum.ones
        total = float(spectrum.ones @ ones)
        direction = spectrum.vectors @ ones
        scaled = scaled - np.outer(direction, ones @ spectrum.along) / total
        diagonal = diagonal - direction**2 / total
        trace -= float(ones @ ones) / total
    s, once = spectrum.root**2, np.minimum(spectrum.root**2, 1.0)
    kept = (s - once) + once * alpha * diagonal  # s times what is left of the row: 1 - once * leverage / s
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = alpha * scaled * (spectrum.root / kept)[:, None]
    return LeftOut(errors, (alpha * scaled) ** 2, len(inverse) - alpha * trace)


def square_norm(spectrum: Spectrum, alpha: float) -> float:
    """Return the squared norm of the functions of all targets together; it falls with ``alpha``."""
    inverse = _inverse(spectrum.values, alpha)[:, None]
    shrunk = inverse * spectrum.along
    if spectrum.ones is not None:
        ones = inverse[:, 0] * spectrum.ones
        shrunk = shrunk - np.outer(ones, ones @ spectrum.along) / float(spectrum.ones @ ones)
    return float(np.sum(np.maximum(spectrum.values, 0.0)[:, None] * shrunk**2))


def _inverse(values: np.ndarray, alpha: float) -> np.ndarray:
    """``1 / (value + alpha)``, nothing where that is zero; values below zero are rounding, or a kernel that is none."""
    least = np.finfo(np.float64).eps * len(values) * float(np.max(np.abs(values), initial=0.0))
    total = np.where(np.abs(values) <= least, np.maximum(values, 0.0), values) + alpha
    return np.where(total == 0.0, 0.0, 1.0 / np.where(total == 0.0, 1.0, total))


def _with_offset(solved: np.ndarray, root: np.ndarray, centred: bool) -> Coefficients:
    """Turn ``G^-1 [sqrt(s) y, sqrt(s)]`` into coefficients whose sum is zero, and offsets."""
    if not centred:
        return Coefficients(root[:, None] * solved, np.zeros(solved.shape[1]))
    scaled, ones = solved[:, :-1], solved[:, -1]
    total = float(root @ ones)
    b = root @ scaled / total
    c = scaled - np.outer(ones, b)
    rest = root @ c / total  # what rounding has left of the sum
    return Coefficients(root[:, None] * (c - np.outer(ones, rest)), b + rest)


def solve_shifted(G: np.ndarray, alpha: float, right: np.ndarray) -> np.ndarray:
    """Solve ``(G + alpha) x = right``: factor in float32 if that is refined fast, else in float64, else by eigenvalues."""
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
    factorise, back = (lapack.spotrf, lapack.spotrs) if single else (lapack.dpotrf, lapack.dpotrs)
    with np.errstate(over="ignore"):
        factor = np.array(G.T, dtype=kind, order="F")  # symmetric, so the transpose costs no reordering
    factor[np.diag_indices(len(G))] += kind(alpha)
    factor, failed = factorise(factor, lower=1, overwrite_a=1, clean=0)
    if failed:
        return None
    solved, rest = np.zeros_like(right), right
    size = float(np.linalg.norm(right))
    last = size
    for step in range(STEPS):
        scale = max(float(np.max(np.abs(rest))), np.finfo(np.float64).tiny)  # keeps float32 away from underflow
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
