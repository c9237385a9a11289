"""Checks classification by least squares: the gap of the regression on 0/1 indicators of the classes."""

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.least_squares import prove
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


@checker("least_squares_classifier.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The squared error of the indicators exceeds its minimum by at most value."""
    classes = certificate.problem["classes"]
    y = data.target
    names = y.astype(np.float64) if y.dtype.kind in "biuf" else np.array([str(label) for label in y])
    shown = classes[1:] if len(classes) == 2 else classes
    indicators = np.column_stack([(names == label).astype(np.float64) for label in shown])
    proof = prove(certificate, data._replace(y=indicators, memo={}))
    ok = proof.mid - claim.value <= proof.margin
    found = proof.gap if ok else proof.mid
    return Finding(claim.name, claim.value, found, ok, proof.level, f"P - min P <= {proof.gap:.3g} for the indicators.")
