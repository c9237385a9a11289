"""Checks of the feature map with the largest evidence, by an enclosed posterior for each candidate."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.bayes.linear import Posterior, enclosed_posterior, exactly
from surefit.checks.eigen import dense, weights_of
from surefit.checks.judge import AtLeast, AtMost, Proof, claim, refused
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data


def _in_words(claim: Claim) -> str:
    if math.isinf(claim.value):
        return (
            "The features are so large that the evidence has no certain digits, and nothing is claimed about the best "
            "candidate; scale them."
        )
    at = claim.numbers
    return (
        f"Candidate {at['best']} of {at['candidates']} (from 0) has the largest evidence: its logarithm is at least "
        f"{at['log_evidence']:.6g}, and no other exceeds it by more than {claim.value:.2g}; log Bayes factors are accurate to "
        f"{at['factors']:.1g}."
    )


@claim("evidence.best", kind="optimality", side="upper", infinite=True, theory="laplace-approximation",
       assumptions=("prior_declared", "noise_declared"), says=_in_words)  # fmt: skip
def best(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that no candidate has a log evidence above that of the chosen one by more than ``value``."""
    stored = np.atleast_1d(certificate.model["log_bayes_factors_"])
    chosen, count, n = int(certificate.model["best_index_"]), len(stored), data.X.shape[0]
    tables = [claim.witness.get(f"features_{j}", np.zeros(0)) for j in range(count)]
    if not 0 <= chosen < count or any(t.ndim != 2 or len(t) != n for t in tables):
        return refused("the witness does not hold the features of every candidate")
    model = getattr(certificate.subject, "best_estimator_", None)
    if model is not None and not np.array_equal(dense(model[:-1].transform(data.X)), tables[chosen]):
        return refused("the features of the chosen candidate are not those of best_estimator_")
    found = [_posterior(certificate, data, dense(table)) for table in tables]
    if not all(math.isfinite(one.radius) for one in found):
        unknown = {"log_evidence": AtLeast(-math.inf), "factors": AtMost(math.inf)}
        return Proof(math.inf, note="no digits are certain.", numbers={"best": chosen, "candidates": count, **unknown})
    values, radii = (np.array([getattr(one, name) for one in found]) for name in ("log_evidence", "radius"))
    lead = values - values[chosen] + radii + radii[chosen]
    lead[chosen] = -math.inf
    off = np.abs(values[chosen] - values - stored) + radii + radii[chosen]
    spread = 2 * float(np.max(radii))
    numbers = {
        "best": chosen,
        "candidates": count,
        "log_evidence": AtLeast(float(values[chosen] - radii[chosen]), float(radii[chosen])),
        "factors": AtMost(float(np.max(off)), spread),
    }
    most = float(np.max(lead))
    note = "evidence of every candidate enclosed."
    return Proof(max(most, 0.0), note=note, numbers=numbers, spread=spread if most + 3 * spread > 0 else 0.0)


def _posterior(certificate: Certificate, data: Data, features: np.ndarray) -> Posterior:
    """Compute a posterior by orthogonal rotations; its errors are enclosed afterward."""
    noise, prior = (float(certificate.problem[name]) for name in ("noise_variance", "prior_variance"))
    Z, s, y = np.column_stack([np.ones(len(features)), features]), weights_of(data), data.target
    root, p = np.sqrt(s / noise), Z.shape[1]
    stacked = np.vstack([np.eye(p) / math.sqrt(prior), root[:, None] * Z])
    R = np.linalg.qr(stacked, mode="r")
    inverse = np.linalg.solve(R, np.eye(p))
    C = inverse @ inverse.T
    C = (C + C.T) / 2
    return enclosed_posterior(exactly(Z), exactly(y), s, noise, prior, C @ (Z.T @ (s / noise * y)), C)
