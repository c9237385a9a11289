"""Checks of leaves in scikit-learn's forests: the rows drawn for each tree are routed through it again."""

from __future__ import annotations

import numpy as np

from surefit.checks.audits.reading import inner
from surefit.checks.enclosure import gamma
from surefit.checks.ensembles.packed import leaves_of, packed_trees
from surefit.checks.judge import Proof, claim
from surefit.core.catalog import Entry, register
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data
from surefit.problems.labels import class_codes


@claim(
    "audit.forest.leaves",
    kind="optimality",
    side="upper",
    theory="audit",
    about="every leaf, given its rows",
    says="Leaves of all {trees} trees agree with their rows, up to {value:.3g} of the range of y.",
)
def leaves(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that leaves contain the mean or the class frequencies of their drawn rows, up to ``value`` of y's range."""
    worst, rounding = worst_leaf(certificate, data)
    trees = {"trees": len(inner(certificate, data)[0].model["drawn_"])}
    note = "rows sent down all trees again."
    return Proof(worst + rounding, note=note, numbers=trees, limit=8 * rounding, spread=rounding, limit_spread=rounding)


register(
    Entry(
        "audit.forest.splits",
        kind="no_claim",
        side="none",
        says="Splits were chosen among columns drawn at random: none is claimed to be the best.",
    )
)


def worst_leaf(certificate: Certificate, data: Data) -> tuple[float, float]:
    """Return the largest deviation of a leaf from its rows' mean, relative to the range of y, and its rounding."""
    read_as, rows = inner(certificate, data)
    model = read_as.model
    X = np.asarray(rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X)
    if read_as.problem["classes"] is None:
        unit = 1.0 / max(float(np.ptp(rows.target)), np.finfo(float).tiny)
        Y = np.asarray(rows.target, dtype=np.float64)[:, None] * unit
    else:
        Y, unit = np.eye(len(read_as.problem["classes"]))[class_codes(rows.target, read_as.problem["classes"])], 1.0
    worst, own_weights, everyone = 0.0, weights_in_trees(read_as, rows), np.arange(len(X))
    for drawn, tree in zip(model["drawn_"], packed_trees(model, X.shape[1]), strict=True):
        counts = np.bincount(drawn, minlength=len(X)) * own_weights
        leaf, size = leaves_of(X, everyone, tree), len(tree.feature)
        mass = np.bincount(leaf, weights=counts, minlength=size)
        own = (tree.feature < 0) & (mass > 0)
        for k in range(Y.shape[1]):
            wanted = np.bincount(leaf, weights=counts * Y[:, k], minlength=size)[own] / mass[own]
            worst = max(worst, float(np.max(np.abs(tree.value[own, k] * unit - wanted), initial=0.0)))
    # rounding of sums, products and quotient, relative to the largest target; the leaf is within ``worst`` of it
    return worst, gamma(2 * len(X) + 16) * (float(np.max(np.abs(Y), initial=0.0)) + worst)


def weights_in_trees(read_as: Certificate, rows: Data) -> np.ndarray:
    """Return the weights of rows within the trees: ones if the rows were drawn according to their weights."""
    n = rows.X.shape[0]
    if read_as.problem["drawn_by_weight"]:
        return np.ones(n)
    s = np.ones(n) if rows.weights is None else rows.weights
    weights = read_as.problem["class_weights"]
    return s if weights is None else s * np.asarray(weights)[class_codes(rows.target, read_as.problem["classes"])]
