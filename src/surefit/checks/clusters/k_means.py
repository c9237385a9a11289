"""Claims about k-means: its distance from the best partition, and moves that cannot improve it."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from surefit.checks.clusters.bounds import lower_bound
from surefit.checks.clusters.moves import best_move
from surefit.checks.clusters.partition import partition_of
from surefit.checks.enclosure import gamma
from surefit.checks.judge import AtLeast, AtMost, Proof, claim
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

bound = partial(claim, kind="optimality", side="upper", theory="k-means", partitioned=True)
METHODS = {
    "spectral": "by the eigenvalues of the scatter matrix",
    "sdp": "by semidefinite duality",
    "line": "by dynamic programming over all partitions of the line",
}


def _gap_in_words(claim: Claim) -> str:
    least = claim.numbers["lower_bound"]
    if claim.numbers["relative"] >= 1.0:
        return "The only lower bound for other partitions is zero, which is vacuous."
    return (
        f"No partition has an inertia below {max(least, 0.0):.6g}: this one is within {100 * claim.numbers['relative']:.3g} % of "
        "its inertia of the best possible."
    )


@bound("k_means.gap", theory="k-means-bound", says=_gap_in_words)
def gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the inertia exceeds that of every other partition into k clusters by at most ``value``."""
    found = partition_of(certificate, data)
    least, radius = lower_bound(certificate, claim, data)
    spread = found.radius + radius
    low = least - radius
    value = max(found.inertia + found.radius - max(low, 0.0), 0.0)
    size = found.inertia - found.radius
    relative = min(value / size, 1.0) if size > 0 else 0.0
    numbers = {
        "lower_bound": AtLeast(max(low, 0.0), radius if low > 0 else 0.0),
        "relative": AtMost(relative, 0.0 if relative in (0.0, 1.0) else spread / size * (1 + gamma(8))),
    }
    how = METHODS.get(certificate.problem["bound"])
    note = (
        f"no partition has an inertia below {low:.6g}, {how}." if how and low > 0 else "the only lower bound is zero."
    )
    return Proof(value, note=note, numbers=numbers, spread=spread)


@bound("k_means.nearest",
       says="No row is nearer to another center than to its own, by more than {value:.3g} (squared distance).")  # fmt: skip
def nearest(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that no row is nearer to another center by more than ``value``."""
    partition, centers = partition_of(certificate, data), certificate.model["cluster_centers_"]
    found = partition.nearest
    # Bounds the rounding, and the effect of storing the centers in their own precision.
    size = 2 * math.sqrt(data.X.shape[1]) * max(float(np.max(np.abs(centers), initial=0.0)), partition.largest)
    limit = 8 * (found.spread + float(np.finfo(centers.dtype).eps) * size**2)
    note = "distances to all centers compared."
    return Proof(max(found.value, 0.0), spread=found.spread, note=note, limit=limit, limit_spread=found.spread)


@bound("k_means.means",
       says="The centers differ from the means of their rows by at most {value:.3g} in total (sum of squares).")  # fmt: skip
def means(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the centers are the means of their rows up to ``value``; ``tol`` is a fraction of the variance."""
    found, centers = partition_of(certificate, data), certificate.model["cluster_centers_"]
    n, d = data.X.shape
    variance = found.scatter / (found.total * d)
    # Bounds the effect of storing the centers in their own precision, and of another order of summation.
    stored = 2 * float(np.finfo(centers.dtype).eps) * float(np.linalg.norm(centers.astype(np.float64)))
    stored += 2 * gamma(n + 8) * math.sqrt(len(centers) * d * variance)
    limit = (math.sqrt(float(certificate.problem["tol"]) * variance) + stored) ** 2
    asked: dict[str, Any] = {"limit": limit, "limit_spread": gamma(n + d + 64) * limit}
    return Proof(found.means.value, spread=found.means.spread, note="means recomputed from the labels.", **asked)


@bound("k_means.single_move",
       says="Moving a single row to another cluster lowers the inertia of the partition by at most {value:.3g}.")  # fmt: skip
def single_move(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that moving a single row lowers the inertia by at most ``value`` (Hartigan's criterion)."""
    found = best_move(certificate, data)
    return Proof(found.value, spread=found.spread, note="every row tried in every other cluster.")


@bound("k_means.inertia", kind="data_fact", says="The inertia is {inertia:.6g}, up to {value:.2g}.")
def inertia(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the error of ``inertia_`` is at most ``value``."""
    found, stored = partition_of(certificate, data), float(certificate.model["inertia_"])
    off = abs(stored - found.inertia) + found.radius
    return Proof(off, numbers={"inertia": stored}, spread=found.radius, note=f"recomputed: {found.inertia:.9g}.")
