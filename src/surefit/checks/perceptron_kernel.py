r"""Checks what a kernel perceptron claims, with kernel values computed anew from their definition.

In feature space :math:`\|\hat w_j\|^2 = \|\hat w_{j-1}\|^2 + 2 a_j m_j + a_j^2 (k(x, x) + c^2)`; the rest is the plain theorem
(theory: ``novikoff``). Integer kernel values are added without error.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, Enclosed, gamma, row_blocks
from surefit.checks.kernel_values import enclosed_diagonal, kernel_of, training_values
from surefit.checks.perceptron import labels_of, most_updates, problem_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.kernels import RBF, Kernel, RationalQuadratic
from surefit.kernels.vectors import dense

WHOLE = 2.0**51


class KernelReplay(NamedTuple):
    """The log of a run in feature space, replayed."""

    rows: np.ndarray
    steps: np.ndarray
    margins: Enclosed
    squares: Enclosed
    support: np.ndarray
    dual: np.ndarray  # one entry a support row
    offset: float
    exact: bool


@checker("perceptron.kernel_replay")
def check_replay(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Every update was made on a mistake, and all updates together are the dual coefficients."""
    run, model, p = _replayed(certificate, claim, data), certificate.model, problem_of(claim)
    cut = np.array(certificate.problem["cuts"])[(labels_of(certificate, claim, data)[run.rows] > 0).astype(int)]
    wrong = int(np.sum(run.margins.mid - run.margins.rad > cut))
    vague = int(np.sum(run.margins.mid + run.margins.rad > cut)) - wrong
    claimed = np.zeros(data.X.shape[0])
    claimed[model["support_"]] = model["dual_coef_"][p]
    claimed[run.support] -= run.dual
    differs = int(np.sum(claimed != 0)) + int(
        abs(model["intercept_"][p] - run.offset) > _offset_error(certificate, run)
    )
    message = f"{len(run.rows)} updates replayed; {wrong} were no mistakes, {differs} coefficients differ."
    level = "exact" if run.exact else "enclosed" if vague == 0 else "recomputed"
    return Finding(claim.name, claim.value, float(wrong + differs), wrong + differs == 0, level, message)


@checker("perceptron.kernel_growth")
def check_growth(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """After every update the squared norm in feature space is at most what the theorem grants."""
    run = _replayed(certificate, claim, data)
    threshold = max(0.0, *certificate.problem["cuts"])
    granted = np.cumsum(run.steps * (2 * threshold + run.steps * _radius_square(certificate, data)))
    excess = run.squares.mid - granted
    rad = run.squares.rad + gamma(len(granted) + 4) * granted * (not run.exact)
    proved, surely = float(np.max(excess + rad)), float(np.max(excess - rad))
    ok = surely <= claim.value
    level = "exact" if run.exact else "enclosed" if proved <= claim.value else "recomputed"
    return Finding(
        claim.name, claim.value, proved if ok else surely, ok, level, f"checked after {len(excess)} updates."
    )


@checker("perceptron.kernel_margin")
def check_margin(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The largest margin in feature space lies between ``value`` and ``limit``."""
    low, up = _lower(certificate, claim, data), _upper(_replayed(certificate, claim, data))
    limit = math.inf if claim.limit is None else claim.limit
    ok = claim.value <= low[1] and limit >= up[0]
    level = "enclosed" if claim.value <= low[0] and limit >= up[1] else "recomputed"
    return Finding(claim.name, claim.value, low[0], ok, level, f"margins from {low[0]:.6g} to {up[1]:.6g}.")


@checker("perceptron.kernel_novikoff")
def check_novikoff(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No more updates were made than the theorem allows."""
    run, low = _replayed(certificate, claim, data), _lower(certificate, claim, data)
    steps, k = certificate.problem["steps"][problem_of(claim)], len(run.rows)
    threshold, radius = max(0.0, *certificate.problem["cuts"]), _radius_square(certificate, data)
    least, most = (
        most_updates(min(steps), max(steps), threshold, radius, margin, (0.0, 0.0), spread)
        for margin, spread in ((low[1], 1 - 1e-12), (low[0], 1 + 1e-12))
    )
    ok = claim.value == k and k <= most and claim.limit is not None and claim.limit >= least * (1 - 1e-9)
    level = "enclosed" if k <= least and low[0] > 0 else "recomputed"
    return Finding(claim.name, claim.value, float(k), ok, level, f"{k} updates; the theorem allows {most:.6g}.")


def _replayed(certificate: Certificate, claim: Claim, data: Data) -> KernelReplay:
    key = ("kernel perceptron", problem_of(claim))
    if key not in data.memo:
        log = next(
            other.witness
            for other in certificate.claims
            if other.name == "perceptron.kernel_replay" and problem_of(other) == problem_of(claim)
        )
        data.memo[key] = _replay(certificate, claim, data, log["rows"].astype(np.int64))
    return data.memo[key]


def _replay(certificate: Certificate, claim: Claim, data: Data, rows: np.ndarray) -> KernelReplay:
    problem, t = certificate.problem, labels_of(certificate, claim, data)
    minus, plus = problem["steps"][problem_of(claim)]
    steps, beta = np.where(t[rows] > 0, plus, minus), problem["bias_step"]
    support, place = np.unique(rows, return_inverse=True)
    G = kernel_values(certificate, data, support, support)
    exact = not np.any(G.rad) and all(float(v).is_integer() for v in (minus, plus, beta))
    exact = exact and float(np.sum(steps)) * float(np.max(np.abs(G.mid), initial=0.0) + beta) < WHOLE
    scores, errors = np.zeros(len(support)), np.zeros(len(support))
    mid, rad, b = np.zeros(len(rows)), np.zeros(len(rows)), 0.0
    for j, (i, p) in enumerate(zip(rows, place, strict=True)):
        mid[j] = t[i] * (scores[p] + b)
        rad[j] = errors[p] + 4 * UNIT * (abs(scores[p]) + (j + 1) * abs(b))
        signed = steps[j] * t[i]
        scores += signed * G.mid[p]
        errors += steps[j] * G.rad[p] + 3 * UNIT * np.abs(scores)
        b += signed * beta
    if exact:
        rad[:] = 0.0
    lengths = np.diagonal(G.mid)[place] + beta if len(rows) else np.zeros(0)
    growth = steps * (2 * mid + steps * lengths)
    squares = np.cumsum(growth)
    wiggle = np.cumsum(2 * steps * rad + steps**2 * (np.diagonal(G.rad)[place] if len(rows) else 0.0))
    wiggle = wiggle + 8 * UNIT * np.cumsum(np.abs(squares) + np.abs(growth)) * (not exact)
    dual = np.bincount(place, steps * t[rows], minlength=len(support))
    return KernelReplay(rows, steps, Enclosed(mid, rad), Enclosed(squares, wiggle), support, dual, b, exact)


def kernel_values(certificate: Certificate, data: Data, a: np.ndarray, b: np.ndarray) -> Enclosed:
    """Kernel values of rows ``a`` with rows ``b``; the radius covers the ways in which a solver may have computed them."""
    kernel, A = _kernel(certificate, data)
    truth = training_values(kernel, A, a, b)
    if not np.any(truth.rad):
        return truth
    # A decision of the run was made on floats: what these differ by from the truth belongs to the radius, doubled because
    # the order of sums depends on how many rows are computed at once.
    floats = A[a][:, b] if kernel.takes == "values" else kernel(A[a], A[b])
    met = np.asarray(a)[:, None] == b
    off = np.where(met, 0.0, np.abs(dense(floats) - truth.mid))
    return Enclosed(truth.mid, 2 * (truth.rad + off) + _sums(kernel, data))


def _kernel(certificate: Certificate, data: Data):
    """The kernel and the rows as it reads them."""
    if "kernel" not in data.memo:
        kernel = kernel_of(certificate)
        data.memo["kernel"] = (kernel, kernel.read(data.X))
    return data.memo["kernel"]


def _sums(kernel, data: Data) -> float:
    """Rounding of distances that a run computes from the mean of all rows."""
    if "sums" not in data.memo:
        data.memo["sums"] = 0.0
        parts = [kernel, *(part for part in kernel.get_params().values() if isinstance(part, Kernel))]
        widths = [0.5 / float(np.min(part.lengths)) ** 2 for part in parts if isinstance(part, RBF)]
        widths += [0.5 / part.length_scale**2 for part in parts if isinstance(part, RationalQuadratic)]
        if widths and not sparse.issparse(data.X):
            X = np.asarray(data.X, dtype=np.float64)
            reach = float(np.max(np.sum((X - X.mean(axis=0)) ** 2, axis=1)))
            largest = max(1.0, float(np.max(enclosed_diagonal(kernel, X).mid)))
            data.memo["sums"] = 16 * gamma(X.shape[1] + 8) * (1 + max(widths) * reach) * largest
    return data.memo["sums"]


def _lower(certificate: Certificate, claim: Claim, data: Data) -> tuple[float, float]:
    key = ("kernel margin", problem_of(claim))
    if key not in data.memo:
        run, t = _replayed(certificate, claim, data), labels_of(certificate, claim, data)
        low = high = math.inf
        n, size = len(t), np.abs(run.dual)
        for here in row_blocks(n):
            for rows in np.array_split(
                np.arange(n)[here], max(1, (here.stop - here.start) * len(run.support) // 2**20)
            ):
                K = kernel_values(certificate, data, rows, run.support)
                mid = t[rows] * (K.mid @ run.dual + run.offset)
                rad = K.rad @ size + gamma(len(run.dual) + 4) * (np.abs(K.mid) @ size + abs(run.offset))
                rad = rad * (not (run.exact and not np.any(K.rad)))
                low, high = min(low, float(np.min(mid - rad))), min(high, float(np.min(mid + rad)))
        square = float(run.squares.mid[-1]) if len(run.rows) else 0.0
        error = float(run.squares.rad[-1]) if len(run.rows) else 0.0
        big, small = math.sqrt(square + error), math.sqrt(max(square - error, 0.0))
        data.memo[key] = (
            (_divided(low, big, small, -1), _divided(high, small, big, 1)) if small else (-math.inf, math.inf)
        )
    return data.memo[key]


def _divided(value: float, if_positive: float, if_negative: float, sign: int) -> float:
    quotient = value / (if_positive if value > 0 else if_negative)
    return quotient + sign * 8 * UNIT * abs(quotient)


def _upper(run: KernelReplay) -> tuple[float, float]:
    total = math.fsum(run.steps)
    if total == 0.0:
        return math.inf, math.inf
    square, error = float(run.squares.mid[-1]), float(run.squares.rad[-1])
    return math.sqrt(max(square - error, 0.0)) / total * (1 - 8 * UNIT), math.sqrt(square + error) / total * (
        1 + 8 * UNIT
    )


def _radius_square(certificate: Certificate, data: Data) -> float:
    """Largest ``k(x, x)`` plus the square of the constant feature."""
    kernel, A = _kernel(certificate, data)
    return float(np.max(enclosed_diagonal(kernel, A).mid)) + certificate.problem["bias_step"]


def _offset_error(certificate: Certificate, run: KernelReplay) -> float:
    return 0.0 if run.exact else 4 * gamma(len(run.rows) + 4) * certificate.problem["bias_step"] * math.fsum(run.steps)
