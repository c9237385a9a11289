"""Checks principal components in the space of a kernel: the Gram matrix is computed anew, centred, and its spectrum enclosed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.eigen import spectrum
from surefit.checks.enclosure import gamma
from surefit.checks.kernel_values import kernel_of, level_of, training_values
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


class Directions(NamedTuple):
    """What the kernel values say about certified directions."""

    residual: float
    radius: float
    defect: float  # of orthonormality
    gap: float  # of the captured variance below the best
    gap_radius: float


@checker("kernel_pca.residual")
def check_residual(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Every eigenvalue is within value of one of the centred Gram matrix."""
    found = directions_of(certificate, data)
    ok = bool(found.residual - claim.value <= found.radius and found.defect < 1e-6)
    proved = (found.residual + found.radius) * (1 + 2 * found.defect)
    level = level_of(kernel_of(certificate))
    return Finding(claim.name, claim.value, proved if ok else found.residual, ok, level, "residuals recomputed.")


@checker("kernel_pca.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No other directions, as many, capture more variance than these by more than value."""
    found = directions_of(certificate, data)
    ok = bool(found.gap - claim.value <= found.gap_radius and found.defect < 1e-6)
    proved = max(found.gap, 0.0) + found.gap_radius
    level = level_of(kernel_of(certificate))
    return Finding(
        claim.name, claim.value, proved, ok, level, f"the best directions capture at most {proved:.3g} more."
    )


def directions_of(certificate: Certificate, data: Data) -> Directions:
    """Return what the kernel values say about the certified directions."""
    if "kernel pca" not in data.memo:
        data.memo["kernel pca"] = _examine(certificate, data)
    return data.memo["kernel pca"]


def _examine(certificate: Certificate, data: Data) -> Directions:
    kernel = kernel_of(certificate)
    V, values = certificate.model["eigenvectors_"], certificate.model["eigenvalues_"]
    A = kernel.read(data.X)
    n, q = A.shape[0], len(values)
    every = np.arange(n)
    K = training_values(kernel, A, every, every)
    size = float(np.linalg.norm(K.mid))
    M = K.mid - K.mid.mean(axis=0) - K.mid.mean(axis=1)[:, None] + K.mid.mean()
    M = (M + M.T) / 2
    radius = float(np.linalg.norm(K.rad)) + gamma(2 * n + 16) * 4 * size  # centring does not lengthen
    images = M @ V
    rounding = radius + gamma(n + 8) * float(np.linalg.norm(M)) * 2
    residual = float(np.max(np.linalg.norm(images - V * values, axis=0), initial=0.0))
    defect = float(np.linalg.norm(V.T @ V - np.eye(q))) + gamma(n + 4) * max(q, 1)
    captured = float(np.trace(np.linalg.solve(V.T @ V, V.T @ images))) if q else 0.0
    whole = spectrum(M, radius)
    best, best_radius = whole.largest_sum(q)
    return Directions(
        residual, rounding, defect, best - captured, best_radius + max(q, 1) * rounding * (1 + 4 * defect)
    )
