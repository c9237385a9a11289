r"""Checks classification by Gaussian processes of scikit-learn: the coefficients of its modes, and Laplace's evidence.

The library predicts with :math:`a = y - \pi`, where :math:`\pi` are the probabilities that it keeps; the gap at these coefficients is that
of our own modes. The evidence is evaluated at a mode that Newton's method reaches from there (theory: ``laplace-approximation``).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg
from scipy.special import expit

from surefit.checks.audited_models import derived, inner
from surefit.checks.base import Data, Finding, checker
from surefit.checks.gaussian_process_modes import kernels_of
from surefit.checks.linear_scores import class_codes
from surefit.checks.score_losses import softplus
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

STEPS = 100
STILL = 1e-12  # change of the objective, relatively, at which Newton's method ends


@derived("gaussian process classifier")
def read_modes(model) -> dict[str, np.ndarray]:
    """Coefficients of each two-class problem: labels less the probabilities that the model keeps."""
    inner_model = model.base_estimator_
    problems = [inner_model] if hasattr(inner_model, "pi_") else inner_model.estimators_
    return {"dual_coef_": np.array([one.y_train_ - one.pi_ for one in problems], dtype=np.float64)}


@checker("audit.gaussian_process_classifier.evidence")
def check_evidence(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The mean log evidence of the two-class problems, by Laplace's approximation, is within value of the one stated."""
    found = abs(evidence_of(certificate, data) - claim.numbers["log_evidence"])
    ok = found <= claim.value * (1 + 1e-6)
    return Finding(claim.name, claim.value, found, bool(ok), "recomputed", "modes and determinants computed anew.")


def evidence_of(certificate: Certificate, data: Data) -> float:
    """Mean log evidence over the two-class problems."""
    if "audit.laplace" not in data.memo:
        read_as, rows = inner(certificate, data)
        codes = class_codes(read_as, rows)
        duals = read_as.model["dual_coef_"]
        parts = [
            _evidence(kernel(rows.X), np.where(codes == positive, 1.0, -1.0), dual)
            for kernel, (positive, _), dual in zip(kernels_of(read_as), read_as.problem["pairs"], duals, strict=True)
        ]
        data.memo["audit.laplace"] = math.fsum(parts) / len(parts)
    return data.memo["audit.laplace"]


def _evidence(K: np.ndarray, t: np.ndarray, a: np.ndarray) -> float:
    f, best = K @ a, math.inf
    for _ in range(STEPS):
        objective = 0.5 * float(a @ f) + math.fsum(softplus(-t * f))
        p = expit(f)
        W = p * (1 - p)
        root = np.sqrt(W)
        L = linalg.cholesky(np.eye(len(f)) + root[:, None] * K * root, lower=True)
        if not best - objective > STILL * (1 + abs(objective)):
            break
        best = objective
        b = W * f + 0.5 * (t + 1) - p
        a = b - root * linalg.cho_solve((L, True), root * (K @ b))
        f = K @ a
    return -objective - math.fsum(np.log(np.diag(L)))
