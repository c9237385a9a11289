r"""Checks of Nyström features: bounds on the error of their inner products.

For features :math:`\phi = W^\top k_z(x)` let :math:`E = W^\top K_{zz} W - I` (rounding errors only) and
:math:`p_x = \sum_j (W \phi(x))_j k(z_j, \cdot)`. Then

.. math:: k(x, x') - \phi(x)^\top \phi(x') = \langle k_x - p_x, k_{x'} - p_{x'} \rangle - \phi(x)^\top E \phi(x'), \qquad
          \|k_x - p_x\|^2 = k(x, x) - \|\phi(x)\|^2 + \phi(x)^\top E \phi(x)

(theory: ``nystroem-features``).
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from surefit.checks.enclosure import UNIT, Bound, Enclosed, gamma, row_blocks, upper_sum
from surefit.checks.judge import Proof, claim, shared
from surefit.checks.kernels.model import require_rows, spread_out
from surefit.checks.kernels.operator import Gram
from surefit.checks.kernels.values import about_kernel, assumptions_of, enclosed_diagonal
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError
from surefit.core.sample import Data

fact = partial(claim, kind="data_fact", side="upper", theory="nystroem-features", assumptions=assumptions_of)


@fact("feature_map.pairs", about="all pairs of training rows",
      says="Inner products of the features differ from the kernel by at most {value:.3g}.")  # fmt: skip
def pairs(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that inner products of the features are within ``value`` of the kernel on all pairs of training rows."""
    return about_kernel(certificate, errors(certificate, data)[0], "residuals recomputed.")


@fact("feature_map.trace", about="the training rows",
      says="The residuals of k(x, x), summed over the rows, are at most {value:.3g}.")  # fmt: skip
def trace(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the residuals of the training rows sum to at most ``value``."""
    return about_kernel(certificate, errors(certificate, data)[1], "residuals recomputed.")


@shared
def errors(certificate: Certificate, data: Data) -> tuple[Bound, Bound]:
    """Bound the largest error over all pairs, and the sum of the residuals."""
    require_rows(certificate, data, "components_", certificate.model["component_indices_"])
    gram, marks = Gram.of(certificate, data), np.asarray(certificate.model["component_indices_"])
    W = np.asarray(certificate.model["normalization_"], dtype=np.float64)
    m, n = len(marks), gram.n
    if W.ndim != 2 or len(W) != m or not np.all(np.isfinite(W)):
        raise CertificateError("normalization_ must have one finite row per landmark.")
    inner = gram.values(marks, marks)
    E = W.T @ inner.mid @ W - np.eye(W.shape[1])
    size = np.abs(W).T @ (inner.rad + gamma(2 * m + 6) * np.abs(inner.mid)) @ np.abs(W)
    doubt = float(np.linalg.norm(size + 4 * UNIT)) * (1 + gamma(W.size))
    size_of = float(np.linalg.norm(E)) * (1 + gamma(W.size)) + doubt
    spread_out(W.T, marks, n)  # the landmarks must be different rows
    own, squares, rad = enclosed_diagonal(gram.kernel, gram.A), np.empty(n), np.empty(n)
    full = np.zeros((n, W.shape[1]))
    full[marks] = W
    phi = gram.times(full)
    squares = np.sum(phi.mid**2, axis=1)
    rad = np.sum(phi.rad * (2 * np.abs(phi.mid) + phi.rad), axis=1) + gamma(W.shape[1] + 4) * squares
    left, error = own.mid - squares, own.rad + rad * (1 + 8 * UNIT) + 4 * UNIT * (np.abs(own.mid) + squares)
    lengths = np.sqrt(squares + rad)
    tilted = (_tilts(phi, W, inner) + size_of * np.linalg.norm(phi.rad, axis=1)) * (1 + gamma(W.shape[1] + 16))
    up = float(np.max(np.maximum(left, 0.0) + error + tilted * lengths)) + float(np.max(tilted) * np.max(lengths))
    low = max(float(np.max(left - error)), 0.0)
    total, least = upper_sum(np.maximum(left, 0.0) + error), math.fsum(np.maximum(left - error, 0.0))
    worst = up * (1 + 8 * UNIT)
    return Bound(worst, worst - low), Bound(total, total - least)


def _tilts(phi: Enclosed, W: np.ndarray, inner: Enclosed) -> np.ndarray:
    r"""Bound :math:`|E \phi|` of each row factor by factor, because entries of W may be large."""
    m, sizes, found = len(W), np.abs(W), np.empty(len(phi.mid))
    values, off = np.abs(inner.mid), inner.rad + gamma(m + 2) * np.abs(inner.mid)
    for part in row_blocks(len(found)):
        f = phi.mid[part]
        v, v_rad = f @ W.T, gamma(m + 2) * np.abs(f) @ sizes.T
        r, r_rad = v @ inner.mid, v_rad @ values + (np.abs(v) + v_rad) @ off
        rest = np.abs(r @ W - f) + r_rad @ sizes + gamma(m + 4) * (np.abs(r) @ sizes + np.abs(f))
        found[part] = np.linalg.norm(rest, axis=1)
    return found * (1 + gamma(8 * m + 16))
