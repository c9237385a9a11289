"""Recounts what hold-out rows prove about a model of another library: the certificate carries predictions and targets.

``verify`` is given the training rows, so the hold-out rows are kept as digests: none may be that of a training row, and the targets
must have the fingerprint that the certificate names (theory: ``audit-risk``).
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import numpy as np
from scipy import sparse

from surefit.checks import risk  # noqa: F401
from surefit.checks.base import CHECKERS, Data, Finding, checker
from surefit.checks.risk_rows import row_keys
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.fingerprint import fingerprint

PREFIX = "audit."
BLOCK = 4096  # rows that are written as sparse ones at a time


def row_digests(X) -> np.ndarray:
    """One number a row, the same for equal rows in any precision, dense or sparse (X as ``surefit.checks.base.read`` gives it)."""
    keys: list[bytes] = []
    if X.dtype.kind == "O":
        keys = row_keys(X)
    else:
        for start in range(0, X.shape[0], BLOCK):
            keys += row_keys(sparse.csr_array(X[start : start + BLOCK], dtype=np.float64))
    return np.array([int.from_bytes(sha256(key).digest()[:8], "big", signed=True) for key in keys], dtype=np.int64)


@checker("audit.risk.holdout", "audit.risk.quantile")
def check_tested(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The bound follows from predictions and targets of rows none of which is a training row."""
    kept, z = claim.witness, claim.numbers
    if "training digests" not in data.memo:
        data.memo["training digests"] = row_digests(data.X)
    shared = int(np.isin(kept["row_digests"], data.memo["training digests"]).sum())
    trouble = f"{shared} hold-out rows are training rows." if shared else ""
    if fingerprint(kept["targets"]) != z["holdout_y"]:
        trouble = "The targets are not those whose fingerprint is named."
    if len(kept["targets"]) != len(kept["row_digests"]):
        trouble = "Targets and rows are not equally many."
    name = claim.name.removeprefix(PREFIX)
    rows = Data(kept["row_digests"][:, None], kept["targets"], None, {}, None)
    found = CHECKERS[name](replace(certificate, subject=None), replace(claim, name=name), rows)
    if found.ok and trouble:
        found = replace(found, ok=False, proved=float("inf"), message=trouble)
    return replace(found, name=claim.name)
