r"""Checks of leave-one-out errors of kernel ridge regression by an inverse (the fit uses an eigendecomposition).

With :math:`M` the inverse of :math:`K + \alpha S^{-1}` on the orthogonal complement of the free functions, the error on
a left-out row is :math:`(My)_i / M_{ii}` (theory: ``kernel-ridge-gap``).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg

from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import gamma
from surefit.checks.judge import Proof, claim
from surefit.checks.kernels.null_space import free_values
from surefit.checks.kernels.operator import Gram
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data


@claim(
    "kernel_ridge.leave_one_out", kind="process_fact", side="upper", theory="kernel-ridge-gap", infinite=True,
    says="The mean squared leave-one-out error of this penalty is at most {value:.6g}, as from one fit per row.",
)  # fmt: skip
def leave_one_out(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the mean squared leave-one-out error is at most ``value``."""
    gram, s = Gram.of(certificate, data), weights_of(data)
    rows = np.flatnonzero(s > 0)
    s, Y = s[rows], np.reshape(data.target, (len(data.target), -1))[rows]
    K, T = gram.values(rows, rows).mid, free_values(certificate, data).mid[rows]
    T = linalg.qr(T, mode="economic")[0] if T.shape[1] else T
    total = spread = 0.0
    for k, alpha in enumerate(certificate.problem["alphas"]):
        M, condition = _inverse(K + np.diag(alpha / s), T)
        once = np.minimum(s, 1.0)
        a, diagonal = M @ Y[:, k], M.diagonal()
        left = alpha * a / s, 1 - once / s * (1 - alpha * diagonal / s)
        # the error of an inverse is n units times the condition number, relative to its largest entry
        off = gamma(8 * len(s)) * condition * float(np.max(np.abs(M)))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            errors = left[0] / left[1]
            moves = (alpha * off * np.sum(np.abs(Y[:, k])) / s + np.abs(errors) * once * alpha * off / s**2) / left[1]
            total += float(s @ errors**2) / math.fsum(s)
            spread += float(s @ (2 * np.abs(errors * moves) + moves**2)) / math.fsum(s)
    count = len(certificate.problem["alphas"])
    sound = math.isfinite(total + spread)
    value = (total + spread) / count if sound else math.inf
    return Proof(value, "recomputed", "errors recomputed from an inverse.", spread=spread / count if sound else 0.0)


def _inverse(G: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the inverse on the orthogonal complement of ``T``, and the condition number of ``G``."""
    M = np.linalg.inv(G)  # SciPy warns if the condition number is large; here it is part of the bound
    condition = float(np.max(np.sum(np.abs(G), axis=1)) * np.max(np.sum(np.abs(M), axis=1)))
    if T.shape[1]:
        free = M @ T
        M = M - free @ np.linalg.solve(T.T @ free, free.T)
    return M, condition
