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
from typing import NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, Bound, Enclosed, gamma, row_blocks, upper_sum
from surefit.checks.judge import Proof, claim, shared
from surefit.checks.kernels.model import require_elements, require_rows
from surefit.checks.kernels.operator import Gram, kernel_on
from surefit.checks.kernels.values import about_kernel, assumptions_of, enclosed_diagonal
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError
from surefit.core.sample import Data

FEW = 1e-7  # largest fraction of the error that bounds by norms may add; otherwise, absolute values are multiplied
SMALL = 1e-6  # largest fraction of the error that the norm of E may add; otherwise, E is bounded row by row

fact = partial(claim, kind="data_fact", side="upper", theory="nystroem-features", assumptions=assumptions_of)


def _where(claim: Claim) -> str:
    rows = claim.numbers["rows"]
    return "" if rows is None else f" on {rows} training rows, evenly spaced"


@fact("feature_map.pairs", about="all pairs of training rows, or of those named",
      says=lambda c: f"Inner products of the features differ from the kernel by at most {c.value:.3g}{_where(c)}.")  # fmt: skip
def pairs(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that inner products of the features are within ``value`` of the kernel on all pairs of training rows."""
    found = errors(certificate, data)
    return about_kernel(
        certificate, found.pair, "residuals recomputed.", kernel_on(certificate, data), numbers={"rows": found.rows}
    )


@fact("feature_map.trace", about="the training rows, or those named",
      says=lambda c: f"The residuals of k(x, x), summed over the rows, are at most {c.value:.3g}{_where(c)}.")  # fmt: skip
def trace(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the residuals of the training rows sum to at most ``value``."""
    found = errors(certificate, data)
    return about_kernel(
        certificate, found.total, "residuals recomputed.", kernel_on(certificate, data), numbers={"rows": found.rows}
    )


class Errors(NamedTuple):
    """Bounds on the largest error over pairs and on the sum of the residuals, for all rows or for a subset of size ``rows``."""

    pair: Bound
    total: Bound
    rows: int | None


@shared
def errors(certificate: Certificate, data: Data) -> Errors:
    """Bound the errors of the features, for all rows or for at most ``measured_rows`` evenly spaced rows."""
    marks = np.asarray(certificate.model["component_indices_"])
    require_rows(certificate, data, "components_", marks)
    W = np.asarray(certificate.model["normalization_"], dtype=np.float64)
    if W.ndim != 2 or len(W) != len(marks) or not np.all(np.isfinite(W)):
        raise CertificateError("normalization_ must have one finite row per landmark.")
    n, most = data.X.shape[0], certificate.problem.get("measured_rows")
    require_elements(W.T, marks, n)  # the landmarks must be distinct rows
    if most is None or n <= most:
        return Errors(*_errors(Gram.of(certificate, data), W, np.arange(n), marks), None)
    kernel, rows = kernel_on(certificate, data), np.arange(most) * n // most
    near, place = np.unique(np.concatenate([rows, marks]), return_inverse=True)
    gram = Gram(kernel, kernel.read(data.X[near]))
    return Errors(*_errors(gram, W, place[:most], place[most:]), most)


class Images(NamedTuple):
    """Squared norms of the features of each row, their rounding errors, and bounds on the norms of ``E phi``."""

    squares: np.ndarray
    rad: np.ndarray
    tilts: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """Upper bounds on the norms of the features."""
        return np.sqrt(self.squares + self.rad) * (1 + 4 * UNIT)


def _errors(gram: Gram, W: np.ndarray, rows: np.ndarray, marks: np.ndarray) -> tuple[Bound, Bound]:
    own = enclosed_diagonal(gram.kernel, gram.A[rows])
    found = _by_norms(gram, W, rows, marks)
    added = found.rad + 2 * found.tilts * float(np.max(found.lengths))
    if not float(np.max(added)) <= FEW * float(np.max(own.mid - found.squares)):
        found = _by_products(gram, W, rows, marks, own)
    squares, rad, tilts = found
    left, error = own.mid - squares, own.rad + rad * (1 + 8 * UNIT) + 4 * UNIT * (np.abs(own.mid) + squares)
    up = float(np.max(np.maximum(left, 0.0) + error + tilts * found.lengths))
    worst = (up + float(np.max(tilts) * np.max(found.lengths))) * (1 + 8 * UNIT)
    low = max(float(np.max(left - error)), 0.0)
    total, least = upper_sum(np.maximum(left, 0.0) + error), math.fsum(np.maximum(left - error, 0.0).tolist())
    return Bound(worst, worst - low), Bound(total, total - least)


def _by_norms(gram: Gram, W: np.ndarray, rows: np.ndarray, marks: np.ndarray) -> Images:
    """Bound all rounding errors by norms of the matrices, without products of their absolute values."""
    m, size = len(marks), float(np.linalg.norm(W)) * (1 + gamma(W.size + 4))
    K, K_off = gram.near_values(np.concatenate([marks, rows]), marks)
    lengths, product = np.linalg.norm(K, axis=1), K @ W
    off = float(np.linalg.norm(K_off[:m])) + gamma(2 * m + 6) * float(np.linalg.norm(lengths[:m]))
    E = float(np.linalg.norm(W.T @ product[:m] - np.eye(W.shape[1])))
    norm = (E + off * size**2 + 4 * UNIT * W.shape[1]) * (1 + gamma(W.size + m * m + 16))
    phi, phi_off = product[m:], (K_off + gamma(m + 4) * lengths)[m:] * size * (1 + gamma(2 * m + 8))
    squares = np.einsum("ij,ij->i", phi, phi)
    rad = phi_off * (2 * np.sqrt(squares) + phi_off) * (1 + gamma(m + 8)) + gamma(W.shape[1] + 4) * squares
    found = Images(squares, rad, np.zeros(len(rows)))
    return found._replace(tilts=norm * found.lengths * (1 + 8 * UNIT))


def _by_products(gram: Gram, W: np.ndarray, rows: np.ndarray, marks: np.ndarray, own: Enclosed) -> Images:
    """Bound rounding errors by products of absolute values, which is needed if the errors of the features are small."""
    m, inner = len(marks), gram.values(marks, marks)
    E = W.T @ inner.mid @ W - np.eye(W.shape[1])
    size = np.abs(W).T @ (inner.rad + gamma(2 * m + 6) * np.abs(inner.mid)) @ np.abs(W)
    doubt = float(np.linalg.norm(size + 4 * UNIT)) * (1 + gamma(W.size))
    norm = float(np.linalg.norm(E)) * (1 + gamma(W.size)) + doubt
    phi = gram.times_some(W, marks, rows)
    squares = np.sum(phi.mid**2, axis=1)
    rad = np.sum(phi.rad * (2 * np.abs(phi.mid) + phi.rad), axis=1) + gamma(W.shape[1] + 4) * squares
    found = Images(squares, rad, np.zeros(len(rows)))
    tilts = norm * found.lengths * (1 + 8 * UNIT)
    if norm * float(np.max(squares)) > SMALL * float(np.max(own.mid - squares)):  # the norm of E is too large
        closer = (_tilts(phi, W, inner) + norm * np.linalg.norm(phi.rad, axis=1)) * (1 + gamma(W.shape[1] + 16))
        tilts = np.minimum(tilts, closer)
    return found._replace(tilts=tilts)


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
