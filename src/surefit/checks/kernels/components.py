r"""Checks of kernel principal components: the Gram matrix is recomputed and centered.

Let :math:`V` be orthonormal up to rounding, :math:`A = V^\top M V`, :math:`B = M V - V A`, and let no direction orthogonal to
:math:`V` have a variance above :math:`\nu`, which a Cholesky factor of :math:`\nu I - (I - VV^\top) M (I - VV^\top)` proves. Then no
:math:`q` directions capture more than :math:`\operatorname{tr} A + \|B\|_* + \sum_i (\nu - \lambda_i(A))_+`
(theory: ``eigen-residual``).
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from surefit.checks.enclosure import Bound, gamma
from surefit.checks.judge import Proof, claim, refused, shared
from surefit.checks.kernels.definite import runs_through
from surefit.checks.kernels.model import require_rows
from surefit.checks.kernels.operator import Gram
from surefit.checks.kernels.values import about_kernel, assumptions_of, kernel_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError
from surefit.core.sample import Data
from surefit.kernels.vectors import dense

PRECISE = 1e-8  # expected gap, relative to the total variance


class Found(NamedTuple):
    """Proved bounds for the directions, from the kernel values."""

    residual: Bound
    gap: Bound
    total: float  # variance of all directions
    means: Bound  # distance of the stored means from those of the kernel values


bound = partial(claim, side="upper", theory="eigen-residual", assumptions=assumptions_of)


@bound("kernel_pca.gap", kind="optimality", infinite=True,
       says="No {directions} directions capture more variance than these by more than {value:.3g}.")  # fmt: skip
def gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that no equal number of directions captures more variance than these by more than ``value``."""
    found = examine(certificate, data)
    count, limit = int(np.size(certificate.model["eigenvalues_"])), PRECISE * max(found.total, 1e-300)
    return about_kernel(
        certificate, found.gap, f"the best directions capture at most {found.gap.value:.3g} more.",
        numbers={"directions": count}, limit=limit, limit_spread=gamma(4 * data.X.shape[0] + 64) * limit,
    )  # fmt: skip


@bound("kernel_pca.residual", kind="optimality",
       says="Each eigenvalue is within {value:.3g} of one of the centered Gram matrix.")  # fmt: skip
def residual(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that every eigenvalue is within ``value`` of one of the centered Gram matrix."""
    return about_kernel(certificate, examine(certificate, data).residual, "residuals recomputed.")


@bound("kernel_pca.means", kind="data_fact",
       says="The means that transform subtracts are those of the kernel values, up to {value:.3g}.")  # fmt: skip
def means(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the stored means of the kernel values are accurate up to ``value``."""
    return about_kernel(certificate, examine(certificate, data).means, "means of the kernel values recomputed.")


@bound("kernel_pca.inverse", kind="optimality", theory="kernel-ridge-gap",
       says="The coefficients of inverse_transform are within {value:.3g} of those of the exact ridge regression.")  # fmt: skip
def inverse(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    r"""Check the inverse map by :math:`\|C - C^*\| \le \|X - (K + \alpha) C\| / \alpha` for its coefficients C."""
    kernel, alpha, rows = kernel_of(certificate), certificate.problem["alpha"], dense(data.X)
    C = np.asarray(certificate.model["dual_coef_"], dtype=np.float64)
    components = certificate.model["eigenvectors_"] * np.sqrt(certificate.model["eigenvalues_"])
    own = getattr(certificate.subject, "X_transformed_fit_", components)
    if C.shape != rows.shape or not np.all(np.isfinite(C)) or not np.array_equal(own, components):
        return refused("inverse_transform does not start from the components of the rows")
    image = Gram(kernel, kernel.read(components)).times(C)
    off = np.abs(rows - alpha * C - image.mid)
    rad = image.rad + gamma(4) * (np.abs(rows) + alpha * np.abs(C) + np.abs(image.mid))
    value, spread = (float(np.linalg.norm(part)) * (1 + gamma(C.size + 8)) / alpha for part in (off + rad, rad))
    return about_kernel(certificate, Bound(value, spread), "residuals of the ridge regression recomputed.")


@shared
def examine(certificate: Certificate, data: Data) -> Found:
    """Return the proved bounds for the certified directions, from the kernel values."""
    require_rows(certificate, data, "X_fit_")
    gram = Gram.of(certificate, data)
    V, values = (np.asarray(certificate.model[name], dtype=np.float64) for name in ("eigenvectors_", "eigenvalues_"))
    n, q = gram.n, len(values)
    if V.shape != (n, q) or not (np.all(np.isfinite(V)) and np.all(np.isfinite(values)) and np.all(values >= 0)):
        raise CertificateError(
            "eigenvectors_ must have one finite column per eigenvalue, and no eigenvalue may be negative."
        )
    K, off = gram.matrix()
    size, columns = float(np.linalg.norm(K)), K.mean(axis=0)
    means = _means(certificate, columns, off, size)
    M = K - columns - K.mean(axis=1)[:, None] + columns.mean()
    M = (M + M.T) / 2
    radius = (off + gamma(2 * n + 16) * 4 * size) * (1 + gamma(16))  # centering does not increase norms
    images = M @ V
    rounding = radius + gamma(n + 8) * float(np.linalg.norm(M)) * 2
    defect = float(np.linalg.norm(V.T @ V - np.eye(q))) + gamma(n + 4) * max(q, 1)
    worst = float(np.max(np.linalg.norm(images - V * values, axis=0), initial=0.0))
    if not defect < 0.1:
        raise CertificateError("eigenvectors_ must be orthonormal up to rounding.")
    residual = Bound((worst + rounding) * (1 + 2 * defect), (rounding + worst * defect) * (1 + 2 * defect))
    return Found(residual, _gap(M, V, images, radius, rounding, defect), max(float(np.trace(M)), 0.0), means)


def _means(certificate: Certificate, columns: np.ndarray, off: float, size: float) -> Bound:
    """Bound the errors of the stored means of kernel values."""
    own, mean = (np.asarray(certificate.model[name], dtype=np.float64) for name in ("_column_means", "_mean"))
    if own.shape != columns.shape or mean.shape != () or not np.all(np.isfinite(own)) or not np.isfinite(mean):
        raise CertificateError("The means of kernel values must be one finite number per training row, and their mean.")
    rad = (off + gamma(len(columns) + 8) * size) * (1 + gamma(8))
    worst = max(float(np.max(np.abs(own - columns))), abs(float(mean) - float(columns.mean())))
    return Bound(worst + rad, rad)


def _gap(M: np.ndarray, V: np.ndarray, images: np.ndarray, radius: float, rounding: float, defect: float) -> Bound:
    """Bound the variance that the best directions capture beyond ``V``."""
    n, q = V.shape
    if q == 0:
        return Bound(max(float(np.trace(M)), 0.0) + n * radius, n * radius)
    A = V.T @ images
    A = (A + A.T) / 2
    own = np.linalg.eigvalsh(A)
    B = images - V @ A
    size = float(np.linalg.norm(M))
    noise = 2 * q * (rounding + 4 * defect * size)  # rounding of the captured and of the largest variance
    outside = math.sqrt(q) * float(np.linalg.norm(B))
    if q == n:
        return Bound(outside + noise, noise)
    rest = M - V @ images.T
    rest = rest - (rest @ V) @ V.T
    rest = (rest + rest.T) / 2
    spread = radius + (gamma(4 * n + 16) + 4 * defect) * 4 * size
    trace = float(np.sum(np.abs(np.diagonal(rest))))
    step = 4 * (gamma(2 * n + 8) * (trace + n * abs(float(own[0]))) + spread)
    for factor in (1.0, 8.0, 64.0, 1e3, 1e6, 1e9):
        most = float(own[0]) + factor * step
        if runs_through(-rest, spread, most):
            beyond = float(np.sum(np.maximum(most - own, 0.0)))
            return Bound(outside + beyond + noise, beyond + noise)
    return Bound(trace + n * spread, n * spread)  # all of the remaining variance
