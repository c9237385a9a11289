"""Checks of hold-out claims about models of other libraries: the model predicts the stored hold-out rows again.

The hold-out rows are stored as a witness, because ``verify`` receives the training rows only. No hold-out row may be a
training row (theory: ``audit-risk``).
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from surefit.checks.judge import Proof, refused
from surefit.checks.risk import tested
from surefit.core.catalog import CATALOG, Entry, register
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.rows import row_keys
from surefit.core.sample import Data, read
from surefit.core.text import counted
from surefit.problems.external.boosters import adapter

PREFIX = "audit."
BLOCK = 4096  # number of rows converted to sparse format at a time
PARTS = ("data", "indices", "indptr", "shape")


def keys_of(X: Any) -> list[bytes]:
    """Return one byte string per row, equal for equal rows in any precision, dense or sparse."""
    if X.dtype.kind == "O":
        return list(row_keys(X))
    blocks = (sparse.csr_array(X[start : start + BLOCK], dtype=np.float64) for start in range(0, X.shape[0], BLOCK))
    return [key for block in blocks for key in row_keys(block)]


def digests_of(X: Any) -> np.ndarray:
    """Return one digest per row, equal for equal rows."""
    return np.array([hashlib.sha256(key).hexdigest() for key in keys_of(X)])


def shared_rows(X: Any, Z: Any) -> int:
    """Return the number of distinct rows that both tables contain."""
    return len(set(keys_of(X)) & set(keys_of(Z))) if X.shape[1] == Z.shape[1] else 0


def packed(X: Any, y: np.ndarray) -> dict[str, np.ndarray]:
    """Return hold-out rows as arrays for a certificate; a data frame keeps its column names."""
    kept: dict[str, np.ndarray] = {"holdout_y": np.asarray(y)}
    if sparse.issparse(X):
        rows = sparse.csr_array(X)
        parts = (rows.data, rows.indices, rows.indptr, np.array(rows.shape))
        return kept | {f"holdout_{name}": part for name, part in zip(PARTS, parts, strict=True)}
    if hasattr(X, "columns"):
        kept["columns"] = np.array([str(name) for name in X.columns])
    table = np.asarray(X)
    return kept | {"holdout_X": table.astype(object) if table.dtype.kind in "OUS" else table}


def unpacked(witness: dict[str, np.ndarray]) -> Any:
    """Return the hold-out rows in the form in which they were passed to the model."""
    if "holdout_X" not in witness:
        data, indices, indptr, shape = (witness[f"holdout_{name}"] for name in PARTS)
        return sparse.csr_array((data, indices, indptr), shape=tuple(int(k) for k in shape))
    if "columns" not in witness:
        return witness["holdout_X"]
    import pandas as pd  # the rows were passed as a data frame

    return pd.DataFrame(witness["holdout_X"], columns=witness["columns"].tolist()).infer_objects()


def _check(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check the claim with the model's predictions on rows none of which is a training row."""
    if certificate.subject is None:
        return refused("this claim needs predictions of the model; pass verify(X, y, model=...)")
    rows = read(unpacked(claim.witness), claim.witness["holdout_y"])
    shared = shared_rows(rows.X, data.X)
    if shared:
        return refused(counted(shared, "hold-out row is a training row", "hold-out rows are training rows"))
    name = claim.name.removeprefix(PREFIX)
    witness = {key: part for key, part in claim.witness.items() if key == "units"}
    entry = CATALOG[name]
    assert entry.check is not None
    asked = replace(certificate, estimator=f"{certificate.estimator} of another library").of(
        adapter(certificate.subject)
    )
    return entry.check(asked, replace(claim, name=name, witness=witness), rows)


def _entry(name: str) -> Entry:
    return register(replace(CATALOG[name], name=PREFIX + name, check=_check, about="the model tested on hold-out rows"))


assert tested  # these entries must be registered before the following ones are derived from them
ENTRIES = [_entry(name) for name in ("risk.holdout", "risk.quantile")]
register(
    Entry(
        "audit.fit",
        kind="no_claim",
        side="none",
        says="Nothing is claimed about the fit itself, which could not be audited (the reason is reported with the run).",
    )
)
