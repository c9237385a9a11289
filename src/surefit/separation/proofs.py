"""Proofs from a witness; the checker is selected by the name of the claim, as for a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core import catalog
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data
from surefit.separation.signed_rows import SignedRows


def proof_of(rows: SignedRows, name: str, witness: dict[str, np.ndarray] | None = None) -> Any:
    """Return the proof that the checker of the claim ``name`` derives about these rows."""
    stated = Claim(name, witness=witness or {})
    problem = {"intercept": rows.intercept, "negative": -1.0, "positive": 1.0}
    draft = Certificate("A", "separability", {}, problem, {}, {}, (stated,))
    check = catalog.entry(name).check
    assert check is not None
    return check(draft, stated, Data(rows.X, rows.t, None, {}))
