"""Checks nearest-neighbour models of scikit-learn: the rows and targets they keep, and neighbours found by their search trees."""

from __future__ import annotations

import numpy as np

from surefit.checks.audited_models import derived, inner
from surefit.checks.audited_risk import row_digests
from surefit.checks.base import Data, Finding, checker, read
from surefit.checks.neighbours import _distances as all_distances
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

ROUNDING = 1e-9


@derived("neighbours")
def read_neighbours(model) -> dict[str, np.ndarray]:
    """Digests of the rows that the model keeps, and their targets (numbers of classes for a classifier)."""
    return {"rows_": row_digests(read(model._fit_X).X), "targets_": np.asarray(model._y)}


@checker("audit.neighbours.rows")
def check_rows(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """At most value of the rows and targets that the model keeps are not those given."""
    found = other_rows(certificate, data)
    return Finding(claim.name, claim.value, float(found), found <= claim.value, "exact", "rows and targets compared.")


def other_rows(certificate: Certificate, data: Data) -> int:
    """Count rows that the model keeps and that differ, in values or target, from those given."""
    read_as, rows = inner(certificate, data)
    kept, y = read_as.model["targets_"], rows.target
    classes = read_as.problem["classes"]
    own = np.asarray(classes)[kept.astype(int).ravel()] if classes is not None else kept.reshape(y.shape)
    if len(kept) != len(y):
        return max(len(kept), len(y))
    same = (own == y) if y.ndim == 1 else np.all(own == y, axis=1)
    return int(np.sum(~(same & (read_as.model["rows_"] == row_digests(rows.X)))))


@checker("audit.neighbours.nearest")
def check_nearest(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """At most value of the recorded rows have neighbours that are not nearest, all distances taken."""
    _, rows = inner(certificate, data)
    found = not_nearest(claim, rows)
    message = f"{len(claim.witness['rows'])} rows compared with all {rows.X.shape[0]}."
    return Finding(claim.name, claim.value, float(found), found <= claim.value, "recomputed", message)


def not_nearest(claim: Claim, rows: Data) -> int:
    """Count recorded rows whose neighbours are farther than the nearest ones; equally far ones will do."""
    recorded, everyone = claim.witness["neighbours"], np.arange(rows.X.shape[0])
    distances = all_distances(claim, rows, claim.witness["rows"], everyone)
    if distances is None or len(np.unique(recorded[0])) != recorded.shape[1]:
        return len(recorded)
    own = np.sort(np.take_along_axis(distances, recorded, axis=1), axis=1)
    best = np.sort(distances, axis=1)[:, : recorded.shape[1]]
    slack = ROUNDING * np.max(distances, axis=1, keepdims=True) + 1e-12
    repeated = np.array([len(np.unique(line)) < len(line) for line in recorded])
    return int(np.sum(np.any(own > best + slack, axis=1) | repeated))
