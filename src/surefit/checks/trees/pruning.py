r"""Checks of the optimality of prunings.

For every node of the grown tree, :math:`V(t) = \min\{R(t) + \alpha, \sum_{c} V(c)\}` over its children :math:`c`;
:math:`V` at the root is the smallest cost of all prunings, so a pruning with that cost is optimal. A reduced-error
pruning is checked by the validation losses of all nodes that could still be pruned.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.checks.enclosure import Enclosed, gamma
from surefit.checks.judge import AtLeast, AtMost, Proof, claim, refused
from surefit.checks.trees.impurity import totals, weight_and_classes
from surefit.checks.trees.nodes import (
    LEAF,
    MULTIWAY,
    SUBSET,
    Nodes,
    Routed,
    certified_nodes,
    children_of,
    read_rows,
    routed,
    trained,
    whole_nodes,
)
from surefit.checks.trees.splits import sent_down
from surefit.checks.trees.spread import Shape
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

NO_PRUNING = "the tree is not a pruning of the grown tree in the witness"


def paired(shape: Shape, whole: Shape) -> np.ndarray | None:
    """Return the node of the grown tree for each node of a pruning, or None if it is not a pruning."""
    pairs = np.zeros(len(shape.parent), dtype=np.int64)
    for node in range(len(pairs)):
        if shape.tree.kind[node] == LEAF:
            continue
        below, above = children_of(shape, node), children_of(whole, int(pairs[node]))
        if len(below) != len(above) or not _same_split(shape.tree, node, whole.tree, int(pairs[node])):
            return None
        pairs[below] = above
    return pairs


def _same_split(tree: Nodes, mine: int, whole: Nodes, other: int) -> bool:
    if tree.kind[mine] != whole.kind[other] or tree.feature[mine] != whole.feature[other]:
        return False
    first, second = int(tree.start[mine]), int(whole.start[other])
    if tree.kind[mine] == SUBSET:
        size = 2 * ((whole.n_codes + 63) // 64)
        return np.array_equal(tree.words[first : first + size], whole.words[second : second + size])
    if tree.kind[mine] == MULTIWAY:
        taken, other_taken = (
            tree.branches[first : first + tree.n_codes],
            whole.branches[second : second + whole.n_codes],
        )
        return np.array_equal(taken >= 0, other_taken >= 0)
    same = tree.threshold[mine] == whole.threshold[other]
    return bool(same and tree.missing_left[mine] == whole.missing_left[other])


def _risks(whole: Shape, problem: dict[str, Any]) -> Enclosed:
    """Return the risk of each node as a leaf, per unit of weight: misclassifications or impurity."""
    by_impurity = problem["pruned_by"] == "impurity" or not whole.sample.n_classes
    found = totals(whole, problem["criterion"] if by_impurity else "misclassification")
    weight, ratio = float(found.weight[0]), gamma(whole.n_rows + len(whole.parent) + 8)
    mid = found.total.mid / weight
    return Enclosed(mid, (found.total.rad / weight + 2 * ratio * np.abs(mid)) * (1 + 4 * ratio))


@claim(
    "tree.pruning",
    kind="optimality",
    side="upper",
    theory="pruning",
    partitioned=True,
    about="all prunings of the grown tree",
    says="No pruning of the grown tree with {grown} leaves has a risk plus {alpha:.6g} x leaves below that of this one with {n_leaves} "
    "leaves, at most {cost:.6g}, by more than {value:.2g}.",
)
def pruning(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the certified pruning has the smallest cost, by dynamic programming over the grown tree."""
    alpha = float(certificate.problem["alpha"])
    whole, shape = (
        sent_down(certificate, data, nodes)
        for nodes in (whole_nodes(certificate, claim.witness), certified_nodes(certificate))
    )
    pairs = paired(shape, whole)
    if pairs is None:
        return refused(NO_PRUNING)
    risk = _risks(whole, certificate.problem)
    at = pairs[shape.tree.kind == LEAF]
    least, doubt = _least_cost(whole, risk, alpha)
    ratio = gamma(len(risk.mid) + 8)
    cost = float(np.sum(risk.mid[at])) + alpha * len(at)
    rounding = float(np.sum(risk.rad[at])) + ratio * cost
    numbers = {
        "grown": int(np.count_nonzero(whole.tree.kind == LEAF)),
        "n_leaves": len(at),
        "alpha": alpha,
        "cost": AtMost(cost + rounding, rounding),
    }
    note = f"cost {cost:.6g}, least cost of all prunings {least:.6g}."
    return Proof(max(cost - least, 0.0) + rounding + doubt, note=note, numbers=numbers, spread=rounding + doubt)


def _least_cost(whole: Shape, risk: Enclosed, alpha: float) -> tuple[float, float]:
    """Return the smallest cost of all prunings, and its rounding, from nodes that an optimal pruning may keep."""
    best, below = risk.mid + alpha, np.zeros(len(risk.mid))
    doubt, below_doubt = risk.rad.copy(), np.zeros(len(risk.mid))
    for node in range(len(best) - 1, -1, -1):
        if whole.tree.kind[node] != LEAF:
            best[node], doubt[node] = min(best[node], below[node]), max(doubt[node], below_doubt[node])
        if node:
            below[whole.parent[node]] += best[node]
            below_doubt[whole.parent[node]] += doubt[node]
    return float(best[0]), float(doubt[0]) + gamma(2 * len(best) + 8) * float(best[0])


@claim(
    "tree.reduced_error",
    kind="optimality",
    side="upper",
    theory="pruning",
    about="single prunings of this tree",
    says="Pruning took the risk on {validation} validation rows from at least {before:.6g} to at most {value:.6g}; no further pruning of "
    "one node lowers it by more than {gain:.2g}.",
)
def reduced_error(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Evaluate the grown tree, the pruned tree and every further pruning on the validation rows."""
    sample = read_rows(certificate, data)
    own, held = (np.asarray(claim.witness[name], dtype=np.int64) for name in ("rows", "validation_rows"))
    both = np.concatenate([own, held])
    if len(np.unique(both)) != len(both) or not len(held) or not np.array_equal(np.sort(both), sample.used):
        return refused("training and validation rows are not two parts of the rows that count")
    whole = trained(whole_nodes(certificate, claim.witness), sample, own)
    shape = trained(certified_nodes(certificate), sample, own)
    pairs = paired(shape, whole)
    if pairs is None:
        return refused(NO_PRUNING)
    tested = routed(whole.tree, sample, held)
    as_leaf, stays = _losses(whole, tested)
    weight = float(np.sum(sample.w[held]))
    before = _subtrees(tested, tested.tree.kind == LEAF, as_leaf, stays)
    leaf = tested.tree.kind == LEAF
    leaf[pairs[shape.tree.kind == LEAF]] = True
    after = _subtrees(tested, leaf, as_leaf, stays)
    inner = pairs[shape.tree.kind != LEAF]
    ratio = gamma(4 * len(held) + 2 * len(as_leaf) + 16)
    value, start = float(after[0]) / weight, float(before[0]) / weight
    gain = max(float(np.max((after - as_leaf)[inner], initial=0.0)) / weight, 0.0)
    doubt, start_doubt = ratio * value, ratio * start
    loose = 2 * ratio * float(np.max(as_leaf)) / weight
    numbers = {
        "validation": len(held),
        "before": AtLeast(max(start - start_doubt, 0.0), start_doubt),
        "gain": AtMost(gain + loose, loose),
    }
    return Proof(value + doubt, note="all rows of the validation part sent down.", numbers=numbers, spread=doubt)


def _losses(whole: Routed, tested: Routed) -> tuple[np.ndarray, np.ndarray]:
    """Return the validation loss of each node as a leaf, and of the rows that stop at it with an unknown category."""
    sample, m = whole.sample, len(whole.parent)
    y, w = sample.y[tested.rows], sample.w[tested.rows]
    as_leaf, stays = np.zeros(m), np.zeros(m)
    if sample.n_classes:  # a leaf predicts the class of largest weight among its training rows
        counts = whole.at_nodes(weight_and_classes, sample.n_classes)[1:]
        said = np.argmax(counts, axis=0)
    else:
        said = whole.tree.value[:, 0]
    for node in range(m):
        mine = slice(tested.first[node], tested.last[node])
        wrong = (said[node] != y[mine]) if sample.n_classes else (said[node] - y[mine]) ** 2
        lost = w[mine] * wrong
        as_leaf[node] = np.sum(lost)
        stays[node] = np.sum(lost[tested.kept[mine] == node])
    return as_leaf, stays


def _subtrees(tested: Routed, leaf: np.ndarray, as_leaf: np.ndarray, stays: np.ndarray) -> np.ndarray:
    """Return the validation loss of every node's subtree if the nodes in ``leaf`` are leaves."""
    total, below = np.zeros(len(leaf)), np.zeros(len(leaf))
    for node in range(len(leaf) - 1, -1, -1):
        total[node] = as_leaf[node] if leaf[node] else stays[node] + below[node]
        if node:
            below[tested.parent[node]] += total[node]
    return total
