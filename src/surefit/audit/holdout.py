"""What rows kept from the fit prove about the error of any predictor, as a claim that the training data can be verified with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from surefit.checks.audited_risk import PREFIX, row_digests
from surefit.checks.base import Data, read
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.fingerprint import fingerprint
from surefit.risk.holdout import risk_certificate
from surefit.risk.losses import comparable


def holdout_claim(model: Any, data: Data, X_holdout, y_holdout, **options: Any) -> Claim:
    """Return the claim of ``risk_certificate``, with the evidence to recount it; rows of the fit are refused."""
    if y_holdout is None or X_holdout is None:
        missing, given = ("y_holdout", "X_holdout") if y_holdout is None else ("X_holdout", "y_holdout")
        raise InvalidData(f"certify: {given} was passed without {missing}; pass both, or neither.")
    tested = read(X_holdout, y_holdout)
    digests = row_digests(tested.X)
    shared = int(np.isin(digests, row_digests(data.X)).sum()) if tested.X.shape[1] == data.X.shape[1] else 0
    if shared:
        raise InvalidData(
            f"certify: {shared} of the {len(digests)} hold-out rows are among the rows the {type(model).__name__} was trained on; "
            "remove them from the hold-out part."
        )
    claim = risk_certificate(model, X_holdout, y_holdout, **options).claims[0]
    if claim.kind == "no_claim":
        return replace(claim, name=PREFIX + claim.name)
    targets = comparable(tested.target)
    return replace(
        claim,
        name=PREFIX + claim.name,
        numbers={**claim.numbers, "holdout_X": fingerprint(tested.X), "holdout_y": fingerprint(targets)},
        witness={**claim.witness, "targets": targets, "row_digests": digests},
    )
