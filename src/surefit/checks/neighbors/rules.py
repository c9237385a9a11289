"""Claims of nearest-neighbor models."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from surefit.checks.judge import Proof, claim, refused
from surefit.checks.labels import label_codes, label_table
from surefit.checks.neighbors.distances import distances
from surefit.checks.neighbors.partitioned import compared, count_used
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.issuing.state import digest
from surefit.core.partitioned import PartitionedRows
from surefit.core.sample import Data

#: Rows whose neighbors are compared with all distances: at least 2, at most MOST, and at most CELLS matrix entries.
MOST, CELLS = 24, 2_000_000


@lru_cache(64)
def sampled(n: int, d: int) -> np.ndarray:
    """Return the evenly spaced indices of the rows that are compared."""
    count = min(n, max(2, min(MOST, CELLS // max(n * d, 1))))
    found = np.unique(np.linspace(0, n - 1, count).astype(np.int64))
    found.setflags(write=False)  # later calls return the same array
    return found


def _present(data: Data) -> np.ndarray:
    return np.arange(data.X.shape[0]) if data.weights is None else np.flatnonzero(data.weights > 0)


@claim(
    "knn.rows",
    kind="data_fact",
    side="exact",
    theory="consistency",
    says="The model keeps the {rows} training rows that count, their weights and targets, if any: {value:.0f} of these differ.",
)
def rows(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Compare the stored data used for prediction with the training data."""
    present, X = _present(data), data.X
    whole = len(present) == X.shape[0]
    kept = X if whole else X[present]
    if certificate.problem["metric"] == "precomputed" and not whole:
        kept = kept[:, present]
    wanted: dict[str, Any] = {"_fit_X": kept, "sample_indices_": present}
    wanted["_row_weight"] = None if data.weights is None else data.weights[present]
    if "classes_" in certificate.model:
        wanted["_codes"] = label_codes(certificate, data)[0][present]
    elif "class_values_" in certificate.model:
        wanted["_codes"] = label_table(certificate, data)[0][present]
    elif data.y is not None:
        wanted["_targets"] = np.asarray(data.target, dtype=np.float64)[present]
    model = certificate.subject
    if model is None or any(certificate.covers(name) for name in wanted):  # then the digests are those of the model
        other = sum(not certificate.confirms(name, value) for name, value in wanted.items())
    else:
        other = sum(digest(getattr(model, name)) != digest(value) for name, value in wanted.items())
    other += not np.array_equal(certificate.model["n_samples_fit_"], len(present))
    return Proof(float(other), "exact", "compared by digests.", {"rows": len(present)}, limit=0.0)


@claim(
    "knn.neighbors",
    kind="process_fact",
    side="upper",
    theory="consistency",
    partitioned=True,
    says="The {k} neighbors found for {rows} training rows are nearest: each distance exceeds that of the true neighbor of the same "
    "rank by at most {value:.1g} of the largest.",
)
def neighbors(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Compare recorded neighbors with all distances."""
    if isinstance(data.X, PartitionedRows):
        return _in_partitions(certificate, claim, data.X)
    present = _present(data)
    n, k = len(present), min(int(certificate.problem["k"]), len(present))
    places = sampled(n, data.X.shape[1] if data.X.ndim == 2 else 1)
    graph = certificate.problem["metric"] == "precomputed" and sparse.issparse(data.X)
    if graph:
        k = min(k, int(np.diff(data.X[present[places]][:, present].tocsr().indptr).min()))
    recorded = np.asarray(claim.witness["neighbors"])
    if recorded.shape != (len(places), k) or recorded.dtype.kind not in "iu":
        return refused(f"{k} neighbors of each of {len(places)} rows must be recorded")
    position = np.full(data.X.shape[0], -1)
    position[present] = np.arange(n)
    if recorded.min(initial=0) < 0 or recorded.max(initial=0) >= len(position) or np.any(position[recorded] < 0):
        return refused("a recorded neighbor takes no part in the fit")
    if _repeated(recorded):
        return refused("a neighbor is recorded twice")
    found = distances(certificate.problem, data.X, present[places], present, certificate.subject)
    if found is None:
        return refused("the distance is a function, which a certificate does not carry; pass the model to verify")
    if graph and (k == 0 or not np.all(np.isfinite(np.take_along_axis(found.mid, position[recorded], axis=1)))):
        return refused("the graph does not store the distance to a recorded neighbor")
    low, line, names = found.mid - found.rad, np.arange(len(places))[:, None], position[recorded]
    nearest = np.argpartition(low, k - 1, axis=1)[:, :k]
    own_rad, least_rad = found.rad[line, names], found.rad[line, nearest]
    rounding = np.maximum(own_rad.max(axis=1), least_rad.max(axis=1))
    return _excess(found.mid[line, names] + own_rad, low[line, nearest], rounding, n)


def _in_partitions(certificate: Certificate, claim: Claim, rows: PartitionedRows) -> Proof:
    """Compare recorded neighbors with the distances of each partition."""
    n = count_used(rows)
    k, places = min(int(certificate.problem["k"]), n), sampled(n, rows.shape[1])
    recorded = np.asarray(claim.witness["neighbors"])
    if recorded.shape != (len(places), k) or recorded.dtype.kind not in "iu":
        return refused(f"{k} neighbors of each of {len(places)} rows must be recorded")
    if _repeated(recorded):
        return refused("a neighbor is recorded twice")
    if certificate.problem["kernel"] is not None or certificate.problem["metric"] in ("precomputed", "function"):
        return refused("this distance is verified with the rows in memory only")
    found = compared(rows, certificate.problem, places, recorded)
    if np.isnan(found.own).any():
        return refused("a recorded neighbor takes no part in the fit")
    radii = np.maximum(found.own_rad.max(axis=1), found.least_rad.max(axis=1))
    return _excess(found.own + found.own_rad, found.least, radii, n)


def _repeated(recorded: np.ndarray) -> bool:
    """Return whether a neighbor occurs twice in a line."""
    names = np.sort(recorded, axis=1)
    return bool((names[:, 1:] == names[:, :-1]).any())


def _excess(recorded: np.ndarray, least: np.ndarray, rounding: np.ndarray, n: int) -> Proof:
    """Bound the excess of recorded distances over the smallest ones; each has one line per row, with its rounding."""
    own, near = np.sort(recorded, axis=1), np.sort(least, axis=1)
    near_enough = np.isfinite(own)  # rows without a common column are infinitely far apart
    if (near_enough != np.isfinite(near)).any():
        return refused("a recorded neighbor is infinitely far away, but another row is not")
    apart = np.subtract(own, near, out=np.full(own.shape, -np.inf), where=near_enough).max(axis=1, initial=-np.inf)
    unit = np.where(near_enough, own, -np.inf).max(axis=1, initial=-np.inf)
    used = unit > 0
    worst, doubt = (float((part[used] / unit[used]).max(initial=0.0)) for part in (apart, rounding))
    numbers = {"k": own.shape[1], "rows": len(own)}
    note = f"{len(own)} rows compared with all {n} distances."
    return Proof(worst, "recomputed", note, numbers, spread=4 * doubt)


@claim(
    "knn.within",
    kind="process_fact",
    side="upper",
    theory="consistency",
    says="Of all pairs of {rows} training rows with the others, {value:.0f} are not proved to be on the recorded side of the radius.",
)
def within(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Compare the recorded rows within the radius with all distances; rows within rounding of it stay undecided."""
    present, radius = _present(data), float(certificate.problem["radius"])
    places = sampled(len(present), data.X.shape[1] if data.X.ndim == 2 else 1)
    starts, names = np.asarray(claim.witness["starts"]), np.asarray(claim.witness["neighbors"])
    if starts.shape != (len(places) + 1,) or starts.dtype.kind not in "iu" or names.dtype.kind not in "iu":
        return refused(f"the neighbors of each of {len(places)} rows must be recorded")
    if starts[0] != 0 or starts[-1] != len(names) or np.any(np.diff(starts) < 0):
        return refused("the records of neighbors are not separated")
    position = np.full(data.X.shape[0], -1)
    position[present] = np.arange(len(present))
    if names.min(initial=0) < 0 or names.max(initial=0) >= len(position) or np.any(position[names] < 0):
        return refused("a recorded neighbor takes no part in the fit")
    found = distances(certificate.problem, data.X, present[places], present, certificate.subject)
    if found is None:
        return refused("the distance is a function, which a certificate does not carry; pass the model to verify")
    inside = np.zeros(found.mid.shape, dtype=bool)
    inside[np.repeat(np.arange(len(places)), np.diff(starts)), position[names]] = True
    if np.count_nonzero(inside) != len(names):
        return refused("a neighbor is recorded twice")
    proved = np.where(inside, found.mid + found.rad <= radius, found.mid - found.rad > radius)
    open_pairs = int(np.count_nonzero(~proved))
    near = int(np.count_nonzero(np.abs(found.mid - radius) <= 4 * found.rad))
    note = f"{len(places)} rows compared with all {len(present)} distances."
    return Proof(float(open_pairs), "recomputed", note, {"rows": len(places)}, spread=float(near))
