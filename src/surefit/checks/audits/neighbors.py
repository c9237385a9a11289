"""Checks of scikit-learn's nearest-neighbor models: their stored rows and targets, and the neighbors that they find."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.checks.audits.holdout import digests_of
from surefit.checks.audits.reading import inner
from surefit.checks.judge import Proof, claim, refused
from surefit.checks.neighbors.distances import distances as all_distances
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data, read
from surefit.problems.external.registry import derived


@derived("neighbors")
def read_neighbors(model: Any) -> dict[str, np.ndarray]:
    """Return digests of the stored rows, and their targets (class indices for a classifier)."""
    return {"rows_": digests_of(read(model._fit_X).X), "targets_": np.asarray(model._y)}


def _of_rows(claim: Claim) -> str:
    n = claim.numbers["rows"]
    if claim.value == 0:
        return f"The model keeps the {n} rows and their targets."
    return f"{claim.value:.0f} of the rows that the model keeps differ from the {n} given rows."


@claim("audit.neighbors.rows", kind="data_fact", side="exact", theory="audit", says=_of_rows)
def rows_kept(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Count the stored rows and targets that differ from the training data."""
    found = float(other_rows(certificate, data))
    return Proof(found, "exact", "rows and targets compared.", {"rows": int(data.X.shape[0])}, limit=0.0)


def other_rows(certificate: Certificate, data: Data) -> int:
    """Count the stored rows whose values or target differ from the training data."""
    read_as, rows = inner(certificate, data)
    kept, y = read_as.model["targets_"], rows.target
    classes = read_as.problem["classes"]
    own = np.asarray(classes)[kept.astype(int).ravel()] if classes is not None else kept.reshape(y.shape)
    if len(kept) != len(y):
        return max(len(kept), len(y))
    same = (own == y) if y.ndim == 1 else np.all(own == y, axis=1)
    return int(np.sum(~(same & (read_as.model["rows_"] == digests_of(rows.X)))))


@claim("audit.neighbors.nearest", kind="process_fact", side="upper", theory="audit",
       says=lambda c: f"Of {c.numbers['rows']} rows {c.numbers['rows'] - c.value:.0f} are answered by their {c.numbers['neighbors']} "
                      "nearest ones, all distances taken, up to rounding.")  # fmt: skip
def nearest(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Count recorded rows whose neighbors are farther than the nearest ones; ties within rounding are accepted."""
    read_as, rows = inner(certificate, data)
    recorded, picked, n = stated.witness["neighbors"], stated.witness["rows"], rows.X.shape[0]
    for places in (recorded, picked):
        if places.dtype.kind not in "iu" or places.size == 0 or places.min() < 0 or places.max() >= n:
            return refused("the record must name rows of the data")
    if recorded.ndim != 2 or picked.shape != recorded.shape[:1]:
        return refused("the record must have one line per row")
    problem = read_as.problem
    options = {"p": problem["exponent"]} if problem["metric"] == "minkowski" else {}
    how = {"metric": problem["metric"], "options": options, "kernel": None}
    distances = all_distances(how, rows.X, picked, np.arange(n))
    if distances is None:
        return refused(f"the distance {problem['metric']!r} is not known")
    k = recorded.shape[1]
    best = np.sort(distances.mid + distances.rad, axis=1)[:, :k]
    own = np.sort(np.take_along_axis(distances.mid - distances.rad, recorded, axis=1), axis=1)
    repeated = np.any(np.diff(np.sort(recorded, axis=1), axis=1) == 0, axis=1)
    wrong = int(np.sum(np.any(own > best, axis=1) | repeated))
    return Proof(
        float(wrong),
        note=f"{len(picked)} rows compared with all {n}.",
        numbers={"rows": len(picked), "neighbors": k},
        limit=0.0,
    )
