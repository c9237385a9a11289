"""Re-derives what a tree claims of its splits, leaves, limits and code length, by sending the rows down again."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.tail_sums import binomial_tail
from surefit.checks.trees_impurity import (
    best_category_decrease,
    best_decrease,
    counts_margin,
    total_impurity,
    weighted_median,
)
from surefit.checks.trees_nodes import LEAF, THRESHOLD, Nodes, Rows, children_of, tree_members
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


def _found(claim: Claim, proved: float, message: str, level: str = "recomputed", ok: bool | None = None) -> Finding:
    limit = claim.limit if claim.limit is not None else claim.value
    ok = proved <= limit if ok is None else ok
    return Finding(claim.name, claim.value, float(proved), bool(ok), level, message)


def _scale(rows: Rows, reach: list[np.ndarray], criterion: str) -> float:
    """Total impurity of the root, the unit of all shortfalls."""
    return max(total_impurity(rows, reach[0], criterion), np.finfo(float).tiny)


def _decreases(certificate: Certificate, tree: Nodes, rows: Rows, reach, data: Data) -> np.ndarray:
    """Decrease of the total impurity by each split."""
    if "tree decreases" not in data.memo:
        criterion = certificate.problem["criterion"]
        total = np.array([total_impurity(rows, mine, criterion) for mine in reach])
        inside = np.array([sum(total[c] for c in children_of(tree, t)) for t in range(len(reach))])
        data.memo["tree decreases"] = np.where(tree.kind == LEAF, 0.0, total - inside), total
    return data.memo["tree decreases"]


@checker("tree.splits")
def check_splits(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Look at all cuts of all columns at each node: none is better than the split by more than the limit."""
    problem = certificate.problem
    criterion = problem["criterion"]
    tree, rows, reach = tree_members(certificate, data, claim.witness)
    decreases, _ = _decreases(certificate, tree, rows, reach, data)
    scale = _scale(rows, reach, criterion)
    numeric = [j for j in range(rows.X.shape[1]) if j not in problem["categorical"]]
    edges = _declared(claim)
    least = problem["min_samples_leaf"], problem["min_weight_leaf"]
    worst, place = 0.0, -1
    for node in np.flatnonzero(tree.kind != LEAF):
        mine = reach[node]
        best = best_decrease(rows, mine, numeric, criterion, *least, edges)
        for j in problem["categorical"]:
            best = max(best, best_category_decrease(rows, mine, j, criterion, *least, problem["multiway"]))
        short = (best - decreases[node]) / scale
        if short > worst:
            worst, place = short, int(node)
        if edges is not None and tree.kind[node] == THRESHOLD and math.isfinite(tree.threshold[node]):
            if tree.threshold[node] not in edges[tree.feature[node]]:
                return _found(claim, math.inf, f"node {node} uses a threshold that was not declared.")
    inner = int(np.count_nonzero(tree.kind != LEAF))
    message = (
        f"{inner} splits compared with all cuts at their nodes; largest shortfall {worst:.2g} of the root's impurity."
    )
    if worst > (claim.limit or 0.0):
        message = f"node {place} has a cut that is better by {worst:.3g} of the root's impurity."
    proved = worst + counts_margin(rows) * rows.w[reach[0]].sum() / scale  # the shortfall, whatever rounding did
    if proved <= (claim.limit or 0.0):
        return _found(claim, proved, message, "enclosed")
    return _found(claim, worst, message)


def _declared(claim: Claim) -> list[np.ndarray] | None:
    if "edges" not in claim.witness:
        return None
    return np.split(claim.witness["edges"], np.cumsum(claim.witness["edge_counts"])[:-1])


@checker("tree.accounting")
def check_accounting(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Root impurity = weighted gains + impurity of the leaves, with the claimed numbers."""
    tree, rows, reach = tree_members(certificate, data, claim.witness)
    decreases, total = _decreases(certificate, tree, rows, reach, data)
    weight = rows.w[reach[0]].sum()
    leaves = total[tree.kind == LEAF].sum()
    gap = abs(total[0] - decreases.sum() - leaves) / max(total[0], np.finfo(float).tiny)
    numbers = {"root": total[0] / weight, "gains": decreases.sum() / weight, "leaves": leaves / weight}
    slack = 1e-8 * max(numbers["root"], np.finfo(float).tiny)
    right = all(abs(numbers[name] - claim.numbers[name]) <= slack for name in numbers)
    message = (
        "impurities of all nodes recomputed; they add up."
        if right
        else "the stated impurities are not those of the rows."
    )
    return _found(claim, gap if right else math.inf, message)


@checker("tree.leaves")
def check_leaves(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Values of the leaves are those of their rows; with imposed directions, as near to them as the other leaves allow."""
    problem = certificate.problem
    tree, rows, reach = tree_members(certificate, data, claim.witness)
    constrained = problem["monotone"] is not None and any(problem["monotone"])
    worst, spread = 0.0, float(np.ptp(rows.y[reach[0]])) if not rows.n_classes else 1.0
    for leaf in np.flatnonzero(tree.kind == LEAF):
        mine = reach[leaf]
        if not len(mine):
            return _found(claim, math.inf, f"leaf {leaf} has no rows.")
        if constrained:
            continue
        y, w = rows.y[mine], rows.w[mine]
        if rows.n_classes:
            wanted = np.bincount(y, weights=w, minlength=rows.n_classes) / w.sum()
        else:
            wanted = np.array([weighted_median(y, w) if problem["criterion"] == "absolute_error" else w @ y / w.sum()])
        worst = max(
            worst, float(np.abs(tree.value[leaf, : len(wanted)] - wanted).max()) / max(spread, np.finfo(float).tiny)
        )
    message = f"largest difference {worst:.2g} of the range of y."
    return _found(claim, worst, "directions were imposed; every leaf has rows." if constrained else message)


@checker("tree.limits")
def check_limits(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Count the nodes that break a stopping rule."""
    problem = certificate.problem
    tree, rows, reach = tree_members(certificate, data, claim.witness)
    decreases, total = _decreases(certificate, tree, rows, reach, data)
    size = np.array([len(mine) for mine in reach])
    weight = np.array([rows.w[mine].sum() for mine in reach])
    depth = np.zeros(len(reach), dtype=int)
    for node in range(len(reach)):
        for child in children_of(tree, node):
            depth[child] = depth[node] + 1
    inner, tiny = tree.kind != LEAF, 1e-9 * max(total[0], np.finfo(float).tiny)
    broken = int(np.count_nonzero(depth > problem["max_depth"]))
    broken += int(np.count_nonzero(size[inner] < problem["min_samples_split"]))
    broken += int(np.count_nonzero(size[1:] < problem["min_samples_leaf"]))
    broken += int(np.count_nonzero(weight[1:] < problem["min_weight_leaf"] * (1 - 1e-12)))
    broken += int(np.count_nonzero(decreases[inner] < problem["min_gain"] * weight[inner] - tiny))
    broken += int(np.count_nonzero(decreases[inner] < problem["min_impurity_decrease"] * weight[0] - tiny))
    leaves = int(np.count_nonzero(~inner))
    broken += problem["max_leaf_nodes"] > 0 and leaves > problem["max_leaf_nodes"]
    right = claim.numbers["depth"] == depth.max() and claim.numbers["n_leaves"] == leaves
    return _found(claim, float(broken) if right else math.inf, f"{broken} nodes break a stopping rule.")


@checker("tree.occam")
def check_occam(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Count errors, splits and bits again, and sum the binomial tail at the claimed limit."""
    tree, rows, reach = tree_members(certificate, data, {})
    z, edges = claim.numbers, _declared(claim) or []
    leaves, splits = np.flatnonzero(tree.kind == LEAF), np.flatnonzero(tree.kind != LEAF)
    errors = sum(int(np.count_nonzero(rows.y[reach[leaf]] != np.argmax(tree.value[leaf]))) for leaf in leaves)
    declared = max(1, max((len(item) for item in edges), default=0))
    coded = all(tree.kind[t] == THRESHOLD and tree.threshold[t] in edges[tree.feature[t]] for t in splits)
    bits = len(splits) + len(leaves) + len(leaves) * math.log2(max(rows.n_classes, 1))
    bits += len(splits) * (math.log2(rows.X.shape[1]) + math.log2(declared))
    plain = data.weights is None and certificate.problem["class_weights"] is None and not np.isnan(rows.X).any()
    right = errors <= z["errors"] and len(rows.y) == z["n"] and bits <= z["bits"] * (1 + 1e-12) and coded and plain
    right = right and claim.confidence == 1.0 - z["delta"] and 0 < z["delta"] < 1
    evidence = binomial_tail(z["errors"], z["n"], claim.value, math.log(z["delta"]) - z["bits"] * math.log(2))
    ok = bool(right and evidence.ok)
    message = f"{errors} errors, {bits:.1f} bits; the limit follows if the assumptions hold."
    if not ok:
        message = f"found {errors} errors and {bits:.1f} bits: the limit does not follow."
    return Finding(
        claim.name, claim.value, claim.value if ok else 1.0, ok, evidence.level if ok else "recomputed", message
    )
