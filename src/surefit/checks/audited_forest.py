"""Checks the leaves of forests of scikit-learn: every tree is sent the rows that were drawn for it again."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from surefit.checks.audited_boosting import FIELDS, route
from surefit.checks.audited_models import derived, inner
from surefit.checks.base import Data, Finding, checker
from surefit.checks.linear_scores import class_codes
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


def nodes_of(trees: list) -> dict[str, np.ndarray]:
    """Nodes of several of scikit-learn's trees, one after the other, with the place at which each starts."""
    leaf = np.concatenate([tree.children_left < 0 for tree in trees])
    columns = {
        "feature": np.where(leaf, -1, np.concatenate([tree.feature for tree in trees])),
        "threshold": np.concatenate([tree.threshold for tree in trees]),
        "left": np.concatenate([tree.children_left for tree in trees]),
        "right": np.concatenate([tree.children_right for tree in trees]),
        "missing_left": np.concatenate([tree.missing_go_to_left for tree in trees]).astype(bool),
        "value": np.concatenate([tree.value[:, 0, :] for tree in trees]),
    }
    starts = np.cumsum([0, *(tree.node_count for tree in trees)]).astype(np.int64)
    return {**{f"tree_{name}_": columns[name] for name in FIELDS}, "tree_starts_": starts}


@derived("forest")
def read_forest(model) -> dict[str, np.ndarray]:
    """Nodes of all trees, and the rows drawn for each."""
    drawn = np.array([np.asarray(rows, dtype=np.int64) for rows in model.estimators_samples_])
    return {**nodes_of([member.tree_ for member in model.estimators_]), "drawn_": drawn}


@checker("audit.forest.leaves")
def check_leaves(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Leaves of every tree hold the mean (shares of the classes) of the rows drawn for it, up to value (of the range of y)."""
    found = worst_leaf(certificate, data)
    ok = bool(found <= claim.value * (1 + 1e-6) + 1e-12)
    return Finding(claim.name, claim.value, found, ok, "recomputed", "rows sent down all trees again.")


def worst_leaf(certificate: Certificate, data: Data) -> float:
    """Largest distance of a leaf from what its rows say, as a share of the range of y."""
    read_as, rows = inner(certificate, data)
    model = read_as.model
    X = np.asarray(rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X)
    if read_as.problem["classes"] is None:
        Y = np.asarray(rows.target, dtype=np.float64)[:, None]
        Y = Y / max(float(np.ptp(Y)), np.finfo(float).tiny)
        unit = 1.0 / max(float(np.ptp(rows.target)), np.finfo(float).tiny)
    else:
        Y, unit = np.eye(len(read_as.problem["classes"]))[class_codes(read_as, rows)], 1.0
    worst, own_weights = 0.0, weights_in_trees(read_as, rows)
    for drawn, (a, b) in zip(model["drawn_"], pairwise(model["tree_starts_"]), strict=True):
        tree = {name: model[f"tree_{name}_"][a:b] for name in FIELDS}
        counts = np.bincount(drawn, minlength=len(X)) * own_weights
        leaf = route(tree, X, strict=False)
        mass = np.bincount(leaf, weights=counts, minlength=b - a)
        own = (tree["feature"] < 0) & (mass > 0)
        for k in range(Y.shape[1]):
            wanted = np.bincount(leaf, weights=counts * Y[:, k], minlength=b - a)[own] / mass[own]
            worst = max(worst, float(np.max(np.abs(tree["value"][own, k] * unit - wanted), initial=0.0)))
    return worst


def weights_in_trees(read_as: Certificate, rows: Data) -> np.ndarray:
    """Weights of rows inside the trees: ones where rows were drawn by their weights, which then have done their part."""
    n = rows.X.shape[0]
    if read_as.problem["drawn_by_weight"]:
        return np.ones(n)
    s = np.ones(n) if rows.weights is None else rows.weights
    weights = read_as.problem["class_weights"]
    return s if weights is None else s * np.asarray(weights)[class_codes(read_as, rows)]
