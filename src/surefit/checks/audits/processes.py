r"""Checks of scikit-learn's Gaussian process classifiers: the modes and the evidence of Laplace's approximation.

scikit-learn predicts with :math:`a = y - \pi`, where :math:`\pi` are the stored probabilities. The gap at these
coefficients is checked as for surefit's own modes. The evidence is evaluated at the mode that Newton's method reaches
from there (theory: ``laplace-approximation``).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg
from scipy.special import expit

from surefit.checks.audits.reading import inner
from surefit.checks.enclosure import gamma
from surefit.checks.judge import Proof, claim
from surefit.checks.processes.modes import kernels_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data
from surefit.problems.labels import class_codes

STEPS = 100


@claim("audit.gaussian_process_classifier.evidence", kind="data_fact", side="upper", theory="laplace-approximation",
       says="The log evidence {log_evidence:.8g} that the model states is off by at most {value:.2g} (Laplace's "
       "approximation, modes recomputed).")  # fmt: skip
def evidence(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the mean log evidence of the two-class problems is within ``value`` of the stored one."""
    read_as, rows = inner(certificate, data)
    codes, own = class_codes(rows.target, read_as.problem["classes"]), float(read_as.model["log_evidence_"])
    problems = zip(kernels_of(read_as), read_as.problem["pairs"], read_as.model["dual_coef_"], strict=True)
    parts = [_evidence(kernel(rows.X), np.where(codes == one, 1.0, -1.0), dual) for kernel, (one, _), dual in problems]
    found, off = (math.fsum(column) / len(parts) for column in zip(*parts, strict=True))
    note = f"log evidence {found:.8g}."
    return Proof(abs(found - own) + off, "recomputed", note, {"log_evidence": own}, spread=off)


def _evidence(K: np.ndarray, t: np.ndarray, a: np.ndarray) -> tuple[float, float]:
    """Return the log evidence at the mode that Newton's method reaches, and a bound on its error."""
    f, n, best = K @ a, len(t), math.inf
    for _ in range(STEPS):
        objective = 0.5 * float(a @ f) + math.fsum(np.logaddexp(0.0, -t * f))
        p = expit(f)
        W = p * (1 - p)
        root = np.sqrt(W)
        L = linalg.cholesky(np.eye(n) + root[:, None] * K * root, lower=True)
        b = W * f + 0.5 * (t + 1) - p
        step = b - root * linalg.cho_solve((L, True), root * (K @ b)) - a
        if not objective < best:
            break
        best, a = objective, a + step
        f = K @ a
    # the next Newton step estimates the distance from the mode; the log-determinant changes by at most half of it
    off = float(np.sum(np.abs(K @ step)))
    logs = np.log(np.diag(L))
    size = abs(objective) + float(np.sum(np.abs(logs))) + n
    return -objective - math.fsum(logs), off + gamma(16 * n) * size * float(np.max(np.diag(L))) ** 2
