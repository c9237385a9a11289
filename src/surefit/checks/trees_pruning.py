r"""Re-derives the optimality of prunings.

For every node of the whole tree :math:`V(t) = \min\{R(t) + \alpha, \sum_{c} V(c)\}` over its children :math:`c`; :math:`V` at the
root is the least cost of all prunings, so a pruning with that cost is a best one. A reduced-error pruning is checked by the validation
losses of every node that could still be pruned.
"""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT
from surefit.checks.trees_impurity import counts_margin, total_impurity
from surefit.checks.trees_nodes import (
    LEAF,
    MULTIWAY,
    SUBSET,
    Nodes,
    Rows,
    certified_nodes,
    children_of,
    members,
    read_rows,
    whole_nodes,
)
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


def paired(tree: Nodes, whole: Nodes) -> dict[int, int] | None:
    """Return which node of the whole tree each node of a pruning is, or None if it is no pruning of it."""
    pairs, stack = {}, [(0, 0)]
    while stack:
        mine, other = stack.pop()
        pairs[mine] = other
        if tree.kind[mine] == LEAF:
            continue
        below, above = children_of(tree, mine), children_of(whole, other)
        if len(below) != len(above) or not _same_split(tree, mine, whole, other):
            return None
        stack.extend(zip(below, above, strict=True))
    return pairs


def _same_split(tree: Nodes, mine: int, whole: Nodes, other: int) -> bool:
    if tree.kind[mine] != whole.kind[other] or tree.feature[mine] != whole.feature[other]:
        return False
    if tree.kind[mine] == SUBSET:
        size = 2 * ((whole.n_codes + 63) // 64)
        first, second = int(tree.start[mine]), int(whole.start[other])
        return np.array_equal(tree.words[first : first + size], whole.words[second : second + size])
    if tree.kind[mine] == MULTIWAY:
        taken = tree.branches[tree.start[mine] : tree.start[mine] + tree.n_codes] >= 0
        return np.array_equal(taken, whole.branches[whole.start[other] : whole.start[other] + whole.n_codes] >= 0)
    same = tree.threshold[mine] == whole.threshold[other]
    return bool(same and tree.missing_left[mine] == whole.missing_left[other])


def risks(rows: Rows, reach: list[np.ndarray], criterion: str, by_impurity: bool) -> np.ndarray:
    """Risk of each node as a leaf, per unit of weight: errors of the majority, or impurity."""
    kind = criterion if by_impurity or not rows.n_classes else "misclassification"
    return np.array([total_impurity(rows, mine, kind) for mine in reach]) / rows.w[reach[0]].sum()


@checker("tree.pruning")
def check_pruning(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The cost of the certified pruning is the least of all, by dynamic programming over the whole tree."""
    tree, rows = certified_nodes(certificate), read_rows(certificate, data)
    whole = whole_nodes(claim.witness, claim.numbers["whole_n_codes"])
    pairs = paired(tree, whole)
    if pairs is None:
        return Finding(
            claim.name, claim.value, math.inf, False, "exact", "the tree is no pruning of the stated whole tree."
        )
    reach, _ = members(whole, rows.X, rows.used)
    alpha = float(claim.numbers["alpha"])
    risk = risks(rows, reach, certificate.problem["criterion"], bool(claim.numbers["by_impurity"]))
    least = risk + alpha
    for node in range(len(risk) - 1, -1, -1):
        below = children_of(whole, node)
        if below:
            least[node] = min(least[node], math.fsum(least[c] for c in below))
    leaves = [pairs[t] for t in range(len(tree.kind)) if tree.kind[t] == LEAF]
    cost = math.fsum(risk[leaves]) + alpha * len(leaves)
    unit = max(risk[0], np.finfo(float).tiny)
    gap = max(cost - least[0], 0.0) / unit
    stated = abs(cost - claim.numbers["cost"]) <= 1e-8 * unit
    ok = bool(stated and gap <= (claim.limit or 0.0))
    message = f"cost {cost:.6g}, least cost of all prunings {least[0]:.6g}."
    margin = (
        (counts_margin(rows) + 4 * len(risk) * UNIT) * len(risk) * (1 + alpha) / unit
    )  # every node adds its rounding
    if ok and gap + margin <= (claim.limit or 0.0):
        return Finding(claim.name, claim.value, float(gap + margin), True, "enclosed", message)
    return Finding(claim.name, claim.value, float(gap) if stated else math.inf, ok, "recomputed", message)


@checker("tree.reduced_error")
def check_reduced_error(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The stated risks are those of the validation rows, each round lowers them, and no further pruning does."""
    tree, rows = certified_nodes(certificate), read_rows(certificate, data)
    whole = whole_nodes(claim.witness, claim.numbers["whole_n_codes"])
    trained, held = claim.witness["rows"], claim.witness["validation_rows"]
    pairs = paired(tree, whole)
    if pairs is None or np.intersect1d(trained, held).size:
        return Finding(
            claim.name, claim.value, math.inf, False, "exact", "no pruning of the whole tree by rows kept apart."
        )
    guess = _predictions(rows, whole, members(whole, rows.X, trained)[0], certificate.problem["criterion"])
    reach, kept = members(whole, rows.X, held)
    w = rows.w[held]

    def loss(at: np.ndarray, who: np.ndarray) -> np.ndarray:
        y = rows.y[who]
        return rows.w[who] * ((guess[at] != y) if rows.n_classes else (guess[at] - y) ** 2)

    as_leaf = np.array([loss(np.full(len(mine), t), mine).sum() for t, mine in enumerate(reach)])
    stays = np.bincount(kept, weights=loss(kept, held), minlength=len(reach))
    traced = _trace(whole, claim.witness["order"], as_leaf, stays) / w.sum()
    inner = [pairs[t] for t in range(len(tree.kind)) if tree.kind[t] != LEAF]
    leaves = {pairs[t] for t in range(len(tree.kind)) if tree.kind[t] == LEAF}
    below = _subtree(whole, leaves, as_leaf, stays)
    gain = max((below[t] - as_leaf[t] for t in inner), default=0.0) / w.sum()
    stated = np.allclose(traced, claim.witness["risks"], rtol=1e-9, atol=0) and np.isclose(
        below[0] / w.sum(), traced[-1]
    )
    falling = bool(np.all(np.diff(traced) <= 1e-12 * traced[0]))
    ok = bool(stated and falling and gain <= 1e-12 * max(traced[0], 1e-300))
    message = f"validation risk {traced[0]:.6g} to {traced[-1]:.6g}; the best further pruning would gain {max(gain, 0.0):.2g}."
    return Finding(claim.name, claim.value, float(traced[-1]) if ok else math.inf, ok, "recomputed", message)


def _predictions(rows: Rows, whole: Nodes, reach: list[np.ndarray], criterion: str) -> np.ndarray:
    if not rows.n_classes:
        return whole.value[:, 0]
    counts = [np.bincount(rows.y[mine], weights=rows.w[mine], minlength=rows.n_classes) for mine in reach]
    return np.array([int(np.argmax(c)) for c in counts])


def _subtree(whole: Nodes, leaves: set[int], as_leaf: np.ndarray, stays: np.ndarray) -> np.ndarray:
    """Validation loss of every node's subtree, where ``leaves`` are leaves."""
    total = np.zeros(len(whole.kind))
    for node in range(len(total) - 1, -1, -1):
        below = children_of(whole, node)
        cut = node in leaves or not below
        total[node] = as_leaf[node] if cut else stays[node] + sum(total[c] for c in below)
    return total


def _trace(whole: Nodes, order: np.ndarray, as_leaf: np.ndarray, stays: np.ndarray) -> np.ndarray:
    """Validation loss of the tree before the first and after each round."""
    parent = np.full(len(whole.kind), -1)
    for node in range(len(parent)):
        parent[children_of(whole, node)] = node
    total = _subtree(whole, set(), as_leaf, stays)
    found = [total[0]]
    for node in order:
        change = as_leaf[node] - total[node]
        while node >= 0:
            total[node] += change
            node = parent[node]
        found.append(total[0])
    return np.array(found)
