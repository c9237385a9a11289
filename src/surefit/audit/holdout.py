"""Risk bounds for any predictor from hold-out rows, which are stored in the certificate as evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from surefit.checks.audits.holdout import PREFIX, packed, shared_rows
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.sample import Data, read
from surefit.risk.holdout import risk_certificate


def holdout_claim(model: Any, data: Data, X_holdout, y_holdout, **options: Any) -> Claim:
    """Return the claim of ``risk_certificate`` with the hold-out rows as evidence; rows of the fit raise an error."""
    if y_holdout is None or X_holdout is None:
        missing, given = ("y_holdout", "X_holdout") if y_holdout is None else ("X_holdout", "y_holdout")
        raise InvalidData(f"certify: {given} was passed without {missing}; pass both, or neither.")
    tested = read(X_holdout, y_holdout)
    shared = shared_rows(tested.X, data.X)
    if shared:
        raise InvalidData(
            f"certify: {shared} of the {tested.X.shape[0]} hold-out rows are among the rows the {type(model).__name__} was trained "
            "on; remove them from the hold-out part."
        )
    claim = risk_certificate(model, X_holdout, y_holdout, **options).claims[0]
    if claim.kind == "no_claim":
        return claim
    return replace(
        claim, name=PREFIX + claim.name, witness={**claim.witness, **packed(X_holdout, np.asarray(y_holdout))}
    )
