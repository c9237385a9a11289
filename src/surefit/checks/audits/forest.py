"""Checks the leaves of forests of scikit-learn: every tree is sent the rows that were drawn for it again."""

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
    """Leaves of every tree contain the mean (shares of the classes) of the rows drawn for it, up to value (of the range of y)."""
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
    """Return the largest distance of a leaf from what its rows say, as a share of the range of y, and its rounding."""
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
    # both sums, the products and the quotient, relative to the largest target; the leaf itself is within ``worst`` of that
    return worst, gamma(2 * len(X) + 16) * (float(np.max(np.abs(Y), initial=0.0)) + worst)


def weights_in_trees(read_as: Certificate, rows: Data) -> np.ndarray:
    """Weights of rows inside the trees: ones where rows were drawn by their weights, which then have done their part."""
    n = rows.X.shape[0]
    if read_as.problem["drawn_by_weight"]:
        return np.ones(n)
    s = np.ones(n) if rows.weights is None else rows.weights
    weights = read_as.problem["class_weights"]
    return s if weights is None else s * np.asarray(weights)[class_codes(rows.target, read_as.problem["classes"])]
