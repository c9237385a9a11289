r"""Checks the modes of Gaussian-process classifiers: a duality gap, rounding included.

For :math:`f = K a` and :math:`u = y - l(f)` the gap of :math:`P(a) = \sum \ln(1 + e^{-t f}) + \frac12 a^\top K a` is
:math:`\frac12 (a - u)^\top K (a - u)`. Where :math:`f` is known up to :math:`r`, taking :math:`u` at its midpoint costs at most
:math:`\frac18 \sum r_i^2`, since the loss has second derivatives of at most 1/4.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from surefit.checks.balls import LIBM
from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import Enclosed, gamma
from surefit.checks.kernel_values import is_rigorous, training_values
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError, InvalidParameter
from surefit.kernels import Kernel

ROWS = 256


def gram_times(kernel: Kernel, X, v: np.ndarray) -> tuple[Enclosed, np.ndarray]:
    """Enclose ``K v``; also ``|K| |v|``, entry by entry an upper bound."""
    A = kernel.read(X)
    n = A.shape[0]
    mid, rad, size = np.empty(n), np.empty(n), np.empty(n)
    for start in range(0, n, ROWS):
        rows = np.arange(start, min(start + ROWS, n))
        G = training_values(kernel, A, rows, np.arange(n))
        mid[rows] = G.mid @ v
        size[rows] = ((np.abs(G.mid) + G.rad) @ np.abs(v)) * (1 + gamma(n + 4))
        rad[rows] = (G.rad @ np.abs(v) + gamma(n + 4) * size[rows]) * (1 + gamma(n + 4))
    return Enclosed(mid, rad), size


def mode_gap(kernel: Kernel, X, y: np.ndarray, dual: np.ndarray) -> float:
    """Upper bound on ``P(dual) - min P`` for classes ``y`` of 0 and 1; the kernel must be positive semidefinite."""
    n = len(y)
    f, _ = gram_times(kernel, X, dual)
    p = expit(f.mid)
    away = dual - (y - p)
    error = 2 * LIBM * np.minimum(p + 1e-300, 1.0) + 2.0**-52 * (np.abs(dual) + 1.0)  # of p, and of the differences
    image, _ = gram_times(kernel, X, away)
    _, spread = gram_times(kernel, X, error)
    inner = float(np.sum(np.abs(away) * image.rad)) + abs(float(away @ image.mid)) * (1 + gamma(n + 2))
    inner += gamma(n + 2) * float(np.sum(np.abs(away * image.mid)))
    inner += 2 * float(np.sum(error * (np.abs(image.mid) + image.rad))) + float(np.sum(error * spread))
    return (0.5 * inner + 0.125 * float(np.sum(f.rad**2))) * (1 + gamma(n + 16))


def kernels_of(certificate: Certificate) -> list[Kernel]:
    """Rebuild the kernels, one a two-class problem; a function is taken from the model."""
    records = certificate.problem["kernels"]
    try:
        return [Kernel.from_record(record) for record in records]
    except InvalidParameter:
        own = getattr(certificate.subject, "kernels_", None)
        if own is None or [kernel.to_record() for kernel in own] != records:
            raise CertificateError(
                "A kernel is a function, which a certificate cannot hold; verify with the model at hand (model.verify)."
            ) from None
        return own


@checker("gaussian_process_classifier.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The modes of all two-class problems together are at most ``value`` above their minima."""
    kernels, classes, found = kernels_of(certificate), np.asarray(certificate.problem["classes"]), 0.0
    y = data.target if data.target.dtype.kind in "biuf" else data.target.astype(str)
    for kernel, dual, (positive, negative) in zip(
        kernels, certificate.model["dual_coef_"], certificate.problem["pairs"], strict=True
    ):
        mine = y == classes[positive]
        rows = np.flatnonzero(mine | (y == classes[negative])) if negative >= 0 else np.arange(len(y))
        if not kernel.positive_semidefinite or np.any(np.delete(dual, rows) != 0):
            found = np.inf
            break
        found += mode_gap(kernel, data.X[rows], mine[rows].astype(np.float64), dual[rows])
    level = "enclosed" if all(map(is_rigorous, kernels)) else "recomputed"
    return Finding(
        claim.name, claim.value, found, bool(found <= claim.value), level, f"{len(kernels)} two-class problems."
    )
