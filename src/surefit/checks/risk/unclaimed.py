"""Statement of a predictor whose fit does not bound the error on new data."""

from __future__ import annotations

import math

from surefit.checks.judge import Proof, claim
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.issuing.new_rows import UNCLAIMED, unclaimed_numbers
from surefit.core.sample import Data


def _says(claim: Claim) -> str:
    but = " (an estimate is not a bound)" if claim.numbers["estimate"] else ""
    more = f", {claim.numbers['ask']} a looser one" if claim.numbers["ask"] else ""
    words = "surefit.Certified(model), for regression with y_range=(low, high), gives one"
    return f"This fit does not bound the error on new rows{but}; {words}{more}."


@claim(UNCLAIMED, kind="no_claim", side="none", says=_says)
def unclaimed(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """State whether the other claims contain an estimate, and how to obtain a bound."""
    numbers = unclaimed_numbers(certificate.estimator, certificate.claims)
    return Proof(math.nan, "stated", "no_claim: nothing to prove.", numbers)
