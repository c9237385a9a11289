"""The evidence of linear models with a normal prior, from the law of the targets themselves."""

from __future__ import annotations

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.bayesian_linear import log_evidence
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

ROUNDING = 1e-8


@checker("evidence.best")
def best(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Recompute each candidate's evidence as the density of the targets under N(0, sigma^2 I + tau^2 Z Z'), and compare."""
    noise, prior = float(certificate.problem["noise_variance"]), float(certificate.problem["prior_variance"])
    s = np.ones(len(data.target)) if data.weights is None else np.asarray(data.weights, dtype=np.float64)
    y = data.target
    stated = [float(value) for value in claim.numbers["evidence"]]
    off, found = 0.0, []
    for j, value in enumerate(stated):
        Z = np.asarray(claim.witness[f"features_{j}"], dtype=np.float64)
        found.append(log_evidence(np.c_[np.ones(len(Z)), Z], y, s, noise, prior))
        off = max(off, abs(found[-1] - value) / (1 + abs(value)))
    chosen = int(claim.numbers["best"])
    ok = off <= ROUNDING and found[chosen] >= max(found) - ROUNDING * (1 + abs(max(found)))
    ok = ok and abs(claim.value - found[chosen]) <= ROUNDING * (1 + abs(claim.value))
    message = f"Evidence by the covariance of the rows agrees to {off:.1g}; the largest is that of candidate {int(np.argmax(found))}."
    return Finding(claim.name, claim.value, found[chosen], bool(ok), "recomputed", message)
