r"""Checks feature maps of kernels: how far inner products of features are from the kernel.

For features :math:`\phi = W^\top k_z(x)` let :math:`E = W^\top K_{zz} W - I`, which rounding leaves, and
:math:`p_x = \sum_j (W \phi(x))_j k(z_j, \cdot)`. Then

.. math:: k(x, x') - \phi(x)^\top \phi(x') = \langle k_x - p_x, k_{x'} - p_{x'} \rangle - \phi(x)^\top E \phi(x'), \qquad
          \|k_x - p_x\|^2 = k(x, x) - \|\phi(x)\|^2 + \phi(x)^\top E \phi(x)

(theory: ``nystroem-features``). Random features are drawn again from their seed, and their probabilistic error is recomputed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, gamma, upper_sum
from surefit.checks.kernel_scores import PIECE
from surefit.checks.kernel_values import enclosed_diagonal, kernel_of, level_of, training_values
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.kernels import RBF, Kernel

SAMPLE = 500  # rows whose pairs are compared with the kernel
ROUNDING = 1e-9  # of the kernel's values: those of the fit are not enclosed


class _Errors(NamedTuple):
    """Largest error over pairs and sum of residuals, with rounding against us and without, and the size of the kernel."""

    pairs: float
    pairs_mid: float
    trace: float
    trace_mid: float
    size: float


@checker("feature_map.pairs")
def check_pairs(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Inner products of features differ from the kernel by at most value on all pairs of training rows."""
    found = _errors(certificate, data)
    ok = bool(found.pairs_mid - claim.value <= found.pairs - found.pairs_mid + ROUNDING * found.size)
    proved = found.pairs if ok else found.pairs_mid
    return Finding(claim.name, claim.value, proved, ok, level_of(kernel_of(certificate)), "residuals recomputed.")


@checker("feature_map.trace")
def check_trace(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The residuals of the training rows add up to at most value."""
    found = _errors(certificate, data)
    noise = found.trace - found.trace_mid + ROUNDING * found.size * data.X.shape[0]
    ok = bool(found.trace_mid - claim.value <= noise)
    proved = found.trace if ok else found.trace_mid
    return Finding(claim.name, claim.value, proved, ok, level_of(kernel_of(certificate)), "residuals recomputed.")


def _errors(certificate: Certificate, data: Data) -> _Errors:
    if "feature map" not in data.memo:
        kernel, marks = kernel_of(certificate), certificate.model["component_indices_"]
        W, A = certificate.model["normalization_"], kernel.read(data.X)
        m, n = len(marks), A.shape[0]
        inner = training_values(kernel, A, marks, marks)
        E = W.T @ inner.mid @ W - np.eye(W.shape[1])
        size = np.abs(W).T @ (inner.rad + gamma(2 * m + 6) * np.abs(inner.mid)) @ np.abs(W)
        slant = float(np.linalg.norm(E))
        slant_up = (float(np.linalg.norm(np.abs(E) + size + 4 * UNIT))) * (1 + gamma(W.size))
        own = enclosed_diagonal(kernel, A)
        squares, rad = np.empty(n), np.empty(n)
        step = max(1, PIECE // m)
        for start in range(0, n, step):
            rows = np.arange(start, min(start + step, n))
            K = training_values(kernel, A, rows, marks)
            phi = K.mid @ W
            off = (K.rad + gamma(m + 2) * np.abs(K.mid)) @ np.abs(W) * (1 + gamma(m + 4))
            squares[rows] = np.sum(phi**2, axis=1)
            rad[rows] = np.sum(off * (2 * np.abs(phi) + off), axis=1) + gamma(W.shape[1] + 4) * squares[rows]
        left, error = own.mid - squares, own.rad + rad * (1 + 8 * UNIT) + 4 * UNIT * (np.abs(own.mid) + squares)
        largest = float(np.max(squares + rad))
        up = float(np.max(np.maximum(left + error, 0.0) + slant_up * (squares + rad))) + slant_up * largest
        mid = max(float(np.max(left + slant * squares)), 0.0) + slant * float(np.max(squares))
        data.memo["feature map"] = _Errors(
            max(up * (1 + 8 * UNIT), mid), mid, upper_sum(np.maximum(left + error, 0.0)),
            max(math.fsum(left), 0.0), float(np.max(own.magnitude)),
        )  # fmt: skip
    return data.memo["feature map"]


@checker("feature_map.fixed_pair", "feature_map.all_pairs")
def check_random_error(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """With the stated confidence the error is at most value: Hoeffding's inequality, and the draws are those of the seed."""
    frequencies, n = certificate.model["frequencies_"], data.X.shape[0]
    kernel = kernel_of(certificate)
    count, columns = frequencies.shape
    drawn = draw_frequencies(kernel, count, columns, certificate.problem["seed"])
    pairs = 1 if claim.name == "feature_map.fixed_pair" else max(n * (n - 1) // 2, 1)
    found = hoeffding_error(len(frequencies), pairs, 1.0 - float(claim.confidence or 1.0))
    same = bool(np.allclose(drawn, frequencies, rtol=1e-9, atol=0.0))
    ok = same and found <= claim.value * (1 + 1e-9)
    message = "frequencies drawn again from their seed." if same else "the frequencies are not those of the seed."
    return Finding(claim.name, claim.value, found if same else math.inf, ok, "recomputed", message)


@checker("feature_map.sample_error")
def check_sample_error(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """On the pairs of the first rows the error is at most value."""
    found = sample_error(kernel_of(certificate), data.X, certificate.model["frequencies_"])
    ok = bool(found <= claim.value + ROUNDING)
    return Finding(claim.name, claim.value, found, ok, "recomputed", "errors of these pairs recomputed.")


def draw_frequencies(kernel: Kernel, count: int, columns: int, seed: int) -> np.ndarray:
    """Draw from the spectral law of a Gaussian or Laplacian kernel."""
    draws = np.random.default_rng(seed)
    if isinstance(kernel, RBF):
        return draws.standard_normal((count, columns)) / kernel.lengths
    return draws.standard_cauchy((count, columns)) * float(kernel.gamma)  # type: ignore[attr-defined]


def waves_of(X, frequencies: np.ndarray) -> np.ndarray:
    """Return the cosines and sines of all frequencies, with squared norm one."""
    angles = np.asarray(X @ frequencies.T, dtype=np.float64)
    return np.hstack([np.cos(angles), np.sin(angles)]) / math.sqrt(len(frequencies))


def hoeffding_error(count: int, pairs: int, delta: float) -> float:
    """Return the error that the mean of ``count`` terms in -1..1 keeps at ``pairs`` places, but for probability ``delta``."""
    return math.sqrt(2 * math.log(2 * pairs / delta) / count) if delta > 0 else math.inf


def sample_error(kernel: Kernel, X, frequencies: np.ndarray) -> float:
    """Return the largest error over the pairs of the first rows."""
    rows = X[: min(X.shape[0], SAMPLE)]
    phi = waves_of(rows, frequencies)
    return float(np.max(np.abs(phi @ phi.T - kernel(rows))))
