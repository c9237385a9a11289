"""Checks of variational bounds on the evidence from inducing rows, by eigenvalues instead of Cholesky factors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import linalg

from surefit.checks.eigen import dense
from surefit.checks.enclosure import gamma
from surefit.checks.judge import AtLeast, AtMost, Proof, claim, refused
from surefit.checks.kernels.values import kernel_of
from surefit.checks.processes.regression import noise_in, standardized
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

ROWS = 1024
SLANT = 0.125  # largest accepted deviation of the directions from orthonormality, in total


@claim("gaussian_process.variational_gap", kind="optimality", side="upper", theory="gp-evidence",
       says="The exact log evidence lies between {lower:.8g} and {upper:.8g}, which are {value:.3g} apart.")  # fmt: skip
def variational_gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the exact log evidence lies between two bounds that differ by at most ``value``."""
    kernel, X, places = kernel_of(certificate), data.X, np.asarray(certificate.model["inducing_"])
    if places.ndim != 1 or places.dtype.kind not in "iu" or not len(places):
        return refused("inducing_ are not row indices")
    if places.min() < 0 or places.max() >= X.shape[0] or not kernel.positive_semidefinite:
        return refused("inducing_ are not rows, or the kernel is not positive semidefinite")
    own = getattr(certificate.subject, "_inducing_rows", None)
    if own is not None and not np.array_equal(dense(own), dense(X[places])):
        return refused("the model predicts with rows other than those of inducing_")
    y, center, scale = data.target, certificate.model["y_mean_"], certificate.model["y_scale_"]
    if not standardized(certificate, y, center, scale):
        return refused("y_mean_ and y_scale_ are not mean and deviation of the targets")
    y = (y - center) / scale
    lower, upper, rounding = _bounds(kernel, X, y, X[places], float(certificate.problem["noise"]))
    numbers = {"lower": AtLeast(lower - rounding, rounding), "upper": AtMost(upper + rounding, rounding)}
    return Proof(
        upper - lower + 2 * rounding, "recomputed", "bounds by eigenvalues.", numbers=numbers, spread=2 * rounding
    )


def _bounds(kernel: Any, X: Any, y: np.ndarray, Z: Any, noise: float) -> tuple[float, float, float]:
    """Return lower and upper bounds on the log evidence, and their rounding.

    Directions whose eigenvalues are lost in rounding are omitted; any subspace of the inducing space proves valid
    bounds.
    """
    own, n = noise_in(kernel), len(y)
    s, diagonal = noise + own, kernel.diag(X) - own
    inside = kernel(Z, Z)
    values, vectors = linalg.eigh((inside + inside.T) / 2)
    value_off = gamma(len(values) + 64) * float(np.max(np.abs(inside)))  # error of a value, and of products with it
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = np.where(values > 0, np.sum(np.abs(vectors), axis=0) ** 2 / values, np.inf)
    kept = np.cumsum(growth[::-1])[::-1] * value_off <= SLANT
    half = vectors[:, kept] / np.sqrt(values[kept])
    G, pull = np.zeros((half.shape[1],) * 2), np.zeros(half.shape[1])
    for start in range(0, n, ROWS):
        W = kernel(X[start : start + ROWS], Z) @ half
        G += W.T @ W
        pull += W.T @ y[start : start + ROWS]
    total, explained, squares = math.fsum(diagonal), float(np.trace(G)), math.fsum(y * y)
    left = max(total - explained, 0.0)
    spectrum, axes = linalg.eigh(G) if len(G) else (np.zeros(0), np.zeros((0, 0)))
    spectrum, along, wide = np.maximum(spectrum, 0.0), axes.T @ pull, s + left
    base = -0.5 * n * math.log(2 * math.pi * s) - 0.5 * float(np.sum(np.log1p(spectrum / s)))
    fit = (squares - float(np.sum(along**2 / (spectrum + s)))) / s
    upper = base - 0.5 * (squares - float(np.sum(along**2 / (spectrum + wide)))) / wide
    # Rounding per direction: of the columns of W, and of the deviation from orthonormality.
    off = math.sqrt(n) * value_off * np.sqrt(growth[kept])
    slant = np.abs(half.T @ inside @ half - np.eye(len(G))) + value_off * np.sqrt(np.outer(growth[kept], growth[kept]))
    sizes = np.sqrt(np.diag(G))
    moved = np.outer(sizes, off) + np.outer(off, sizes + off) + gamma(n + 64) * np.outer(sizes, sizes)
    inverse, dual = (axes / (spectrum + s)) @ axes.T, np.abs(axes @ (along / (spectrum + s)))
    trace_off = float(np.sum(slant * np.abs(G)) + np.trace(moved)) + gamma(n + 64) * total
    log_off = float(np.sum(slant * np.abs(inverse @ G)) + np.sum(np.abs(inverse) * moved))
    fit_off = float(dual @ (slant + moved / s) @ dual + 2 * math.sqrt(squares) / s * (dual @ off))
    basic = gamma(n + 64) * (abs(base) + n + (squares + total) / s)
    # Each part enters the bounds with a factor of one half; the other half covers products of two errors.
    rounding = log_off + fit_off + trace_off / s * (1 + max(fit, 0.0)) + basic
    return base - 0.5 * fit - 0.5 * left / s, upper, rounding
