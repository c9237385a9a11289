r"""Checks of the gap of multi-task lasso and elastic net, by Fenchel-Young terms of rows and of groups.

Let :math:`\Theta` (n, t) be dual variables whose columns sum to zero if there are intercepts, and :math:`V =
X^\top\Theta / n`. Then

.. math:: P - \min P \le \tfrac{1}{2n} \|R - \Theta\|_F^2 + \sum_j \Big[
          \alpha \|W_j\| + \tfrac\beta2 \|W_j\|^2 - \langle W_j, V_j \rangle + \tfrac{1}{2\beta} (\|V_j\| - \alpha)_+^2 \Big] ,

and with :math:`\beta = 0` all :math:`\|V_j\| \le \alpha` (theory: ``fenchel-gap``). :math:`\Theta` is the matrix of
centered and scaled residuals.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, gamma, length, upper_sum
from surefit.checks.gap.rows import side_sums
from surefit.checks.judge import AtMost, Proof, claim, refused
from surefit.core.centering import center, moved_intercept
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

ELSEWHERE = 3.0  # multiple of the rounding errors that covers another evaluation


class Point(NamedTuple):
    """Residuals R and unscaled dual variables G, one target per row, norms of their rounding errors, and products with the columns."""

    R: np.ndarray
    G: np.ndarray
    sizes: tuple[float, float]  # norms of R and G
    R_rad: float  # norm of the rounding error of R
    off: float  # norm of the correction that makes every row of G sum to zero
    V: np.ndarray
    V_rad: np.ndarray
    V_slip: np.ndarray  # bound on the change of the rows of V due to rounding in R
    null: float  # sum of squares of the targets, centered if there are intercepts


@claim("multi_task.gap", kind="optimality", side="upper", theory="fenchel-gap",
       says="The objective {objective:.6g} is within {value:.3g} of the smallest possible one.")  # fmt: skip
def gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Bound the distance of the objective from its minimum."""
    problem = certificate.problem
    W, b = np.asarray(certificate.model["coef_"]), np.asarray(certificate.model["intercept_"])
    X, Y = np.asarray(data.X, dtype=np.float64), np.asarray(data.target, dtype=np.float64)
    Y = Y.reshape(len(Y), -1)
    tasks = Y.shape[1]
    if W.shape != (tasks, X.shape[1]) or b.shape != (tasks,) or not (np.isfinite(W).all() and np.isfinite(b).all()):
        return refused("coef_ and intercept_ must hold one finite row and one number per target")
    if not problem["fit_intercept"] and np.any(b != 0):
        return refused("there are intercepts although fit_intercept=False")
    with np.errstate(over="ignore", invalid="ignore"):
        point = _point(X, Y, W, b, problem["fit_intercept"])
        value, objective = _bounds(point, W.T, problem["l1"], problem["l2"], 1.0)
        value_elsewhere, objective_elsewhere = _bounds(point, W.T, problem["l1"], problem["l2"], ELSEWHERE)
    if not math.isfinite(objective_elsewhere):
        return refused("squares of the residuals overflow")
    limit = problem["tol"] * point.null / (2 * len(Y))
    numbers = {"objective": AtMost(objective, objective_elsewhere - objective + 64 * UNIT * objective)}
    spread = value_elsewhere - value + gamma(64) * value
    return Proof(value, numbers=numbers, limit=limit, spread=spread, limit_spread=gamma(len(Y) * tasks + 64) * limit,
                 note="Fenchel-Young terms of rows and groups.")  # fmt: skip


def _point(X: Any, Y: Any, W: Any, b: Any, centered: bool) -> Point:
    """Enclose residuals and correlations; targets and columns far from the origin are centered, and the intercepts absorb the shift.

    Rounding errors are bounded by column norms (Cauchy-Schwarz), which requires no further matrix products.
    """
    n = len(X)
    far = center(X) if centered else None
    shift = np.zeros(X.shape[1]) if far is None else far
    used = np.flatnonzero(W.any(axis=0))
    Z = X if far is None else X - shift
    T, offsets = np.ascontiguousarray(Y.T), b  # one target per row, because long rows are faster
    if centered:
        level = T.mean(axis=1)
        T, lines = T - level[:, None], np.column_stack([W, np.ones(len(W))])
        offsets = np.array(
            [moved_intercept(*row) for row in zip(b.tolist(), _ended(shift, -level), lines, strict=True)]
        )
    active, own = (Z, W) if len(used) == Z.shape[1] else (Z[:, used], W[:, used])
    R = T - (own @ active.T + offsets[:, None])
    lengths = np.sqrt(np.einsum("ij,ij->j", Z, Z)) * (1 + gamma(n + 4))
    rows = math.sqrt(n) * (1 + 4 * UNIT)
    size = upper_sum(lengths * _norms(W.T)) + rows * length(offsets) + length(T.ravel())
    rad = gamma(len(used) + 8) * size * (1 + gamma(len(used) + 16))
    G = R - R.mean(axis=1)[:, None] if centered else R
    off = np.array([_sum_bound(row) for row in G]) / n * (1 + 4 * UNIT) if centered else np.zeros(len(b))
    norms = np.array([length(row) for row in G])
    V_rad = (gamma(n + 8) * np.outer(lengths, norms) + rows * np.outer(lengths, off)) / n * (1 + gamma(n + 16))
    sizes, slip = (length(R.ravel()), length(norms)), lengths * rad / n * (1 + 8 * UNIT)
    return Point(
        R, G, sizes, rad, rows * length(off) * (1 + 4 * UNIT), (G @ Z).T / n, V_rad, slip, float(np.vdot(T, T))
    )


def _ended(start: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return a matrix with one row per end: ``start`` followed by that end."""
    return np.column_stack([np.tile(start, (len(ends), 1)), ends])


def _norms(rows: np.ndarray) -> np.ndarray:
    """Return upper bounds on the norms of the rows."""
    return np.sqrt(np.sum(rows * rows, axis=1)) * (1 + gamma(rows.shape[1] + 4))


def _sum_bound(column: np.ndarray) -> float:
    """Return an upper bound on the absolute value of the sum."""
    up, down = side_sums(column)
    return abs(up + down) + 4 * UNIT * (up - down)


def _bounds(p: Point, W: np.ndarray, alpha: float, beta: float, factor: float) -> tuple[float, float]:
    """Return upper bounds on the gap and on the objective, with ``factor`` times the rounding."""
    tasks, n = p.R.shape
    more = 1 + gamma(tasks + 16)
    norms = np.sqrt(np.sum(W * W, axis=1))
    size = upper_sum((alpha * norms + beta / 2 * norms**2) * more)
    objective = (p.sizes[0] + factor * p.R_rad) ** 2 / (2 * n) * more + size
    reach = np.sqrt(np.sum(p.V**2, axis=1)) * more + factor * np.sqrt(np.sum(p.V_rad**2, axis=1)) * more
    reach = reach + (factor - 1) * p.V_slip  # allows for the residuals of another evaluation
    most = float(np.max(reach, initial=0.0))
    scales = {min(1.0, alpha / most * (1 - 8 * UNIT)) if most > 0 else 1.0} | ({1.0} if beta > 0 else set())
    found = [_terms(p, W, norms, reach, (alpha, beta), scale, factor) for scale in scales]
    return min(*found, objective), objective


def _terms(
    p: Point, W: Any, norms: Any, reach: Any, weights: tuple[float, float], scale: float, factor: float
) -> float:
    """Sum the terms at the residuals times ``scale``."""
    (tasks, n), (alpha, beta) = p.R.shape, weights
    rounding = gamma(tasks + 32)
    apart = length((p.R - scale * p.G).ravel()) + scale * p.off + factor * p.R_rad
    apart += gamma(4) * (p.sizes[0] + p.sizes[1])
    loss = apart * apart / (2 * n)
    over = np.maximum(scale * reach * (1 + 4 * UNIT) - alpha, 0.0)
    conjugate = over * over / (2 * beta) if beta > 0 else np.zeros(len(W))
    terms = alpha * norms + beta / 2 * norms**2 - scale * np.sum(W * p.V, axis=1) + conjugate
    sizes = alpha * norms + beta * norms**2 + np.sum(np.abs(W * p.V), axis=1) + conjugate
    radii = scale * np.sum(np.abs(W) * p.V_rad, axis=1) + rounding * sizes
    radii = factor * radii + (factor - 1) * scale * p.V_slip * norms
    return (loss + upper_sum(np.maximum(terms + radii, 0.0))) * (1 + rounding)
