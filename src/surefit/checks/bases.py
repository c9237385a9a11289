"""Checks that polynomial features reproduce their kernel."""

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

ROWS = 200  # pairs among the first so many rows are compared


@checker("bases.kernel")
def check_kernel(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Inner products of the features differ from the kernel by at most value, relative to the size of their terms."""
    X = np.asarray(data.X[:ROWS], dtype=np.float64)
    powers, scales = claim.witness["powers"], claim.witness["scales"]
    features = np.stack([np.prod(X**row, axis=1) for row in powers], axis=1) * scales
    degree = certificate.problem["degree"]
    kernel, size = (1 + X @ X.T) ** degree, (1 + np.abs(X) @ np.abs(X).T) ** degree
    found = float(np.max(np.abs(features @ features.T - kernel) / size))
    return Finding(claim.name, claim.value, found, found <= claim.value, "recomputed", "both sides recomputed.")
