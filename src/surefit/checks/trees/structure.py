"""Claims about the shape and the values of a tree: leaf impurity, values, stopping rules, monotonicity."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.judge import AtLeast, AtMost, Proof, claim, refused
from surefit.checks.trees.impurity import moment_values, weight_and_classes, weight_values
from surefit.checks.trees.nodes import LEAF, THRESHOLD, Routed
from surefit.checks.trees.splits import grown, impurities
from surefit.checks.trees.spread import Shape
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data


@claim(
    "tree.accounting",
    kind="data_fact",
    side="upper",
    theory="tree-splits",
    partitioned=True,
    says="The splits lower the mean impurity of the training rows from {root:.6g} at the root to {value:.6g} in the leaves.",
)
def accounting(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Compute the total impurity of the leaves, per unit of weight."""
    shape, found = grown(certificate, data), impurities(certificate, data)
    leaf, weight = shape.tree.kind == LEAF, float(found.weight[0])
    ratio = gamma(shape.n_rows + len(leaf) + 8)  # rounding of the weight and of the sum
    inside = float(np.sum(found.total.mid[leaf])) / weight
    doubt = (float(np.sum(found.total.rad[leaf])) / weight + 2 * ratio * abs(inside)) * (1 + 4 * ratio)
    root = float(found.total.mid[0]) / weight
    root_doubt = (float(found.total.rad[0]) / weight + 2 * ratio * root) * (1 + 4 * ratio)
    numbers = {"root": AtLeast(max(root - root_doubt, 0.0), root_doubt)}
    return Proof(max(inside, 0.0) + doubt, note="impurities of all nodes recomputed.", numbers=numbers, spread=doubt)


def _of_leaves(claim: Claim) -> str:
    what = {"classes": "class shares", "mean": "mean target", "median": "median target"}[claim.numbers["holds"]]
    return f"The value of each of the {claim.numbers['n_leaves']} leaves differs from the {what} of its rows by at most {claim.value:.2g}."


@claim(
    "tree.leaves",
    kind="optimality",
    side="upper",
    theory="tree-splits",
    partitioned=True,
    about="every leaf, given its rows",
    says=_of_leaves,
)
def leaves(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Compare the value of every node that a prediction can use with its rows."""
    shape, criterion = grown(certificate, data), certificate.problem["criterion"]
    holds = (
        "classes"
        if certificate.problem["task"] == "classification"
        else "median"
        if criterion == "absolute_error"
        else "mean"
    )
    wanted, stored = shape.outputs()[-1][1].stop, shape.tree.value.shape[1]
    spare = holds == "classes" and shape.sample.y.ndim == 1  # a tree with one class stores two shares
    if stored < wanted or (stored > wanted and not spare):
        return refused(f"nodes must have {wanted} values, one per output or class; got {stored}")
    worst = doubt = 0.0
    for part, columns in shape.outputs():
        one: Any = part._replace(tree=shape.tree._replace(value=shape.tree.value[:, columns]))
        distance, rounding = (_from_medians(one), 0.0) if holds == "median" else _from_means(one)
        worst, doubt = max(worst, distance), max(doubt, rounding)
    numbers = {"n_leaves": int(np.count_nonzero(shape.tree.kind == LEAF)), "holds": holds}
    level = "recomputed" if holds == "median" else "enclosed"  # medians depend on weights that may be rounded
    limit: float | None = 8 * (doubt or gamma(64) * float(np.max(np.abs(shape.sample.y), initial=0.0)))
    # monotonic constraints may exclude the mean
    limit = None if certificate.problem.get("monotone") is not None else limit
    return Proof(worst + doubt, level, "values recomputed from the rows.", numbers, limit, doubt, doubt)


def _from_means(shape: Shape) -> tuple[float, float]:
    """Return the largest distance of a node's value from the mean or class frequencies of its rows, and rounding."""
    tree, classes = shape.tree, shape.sample.n_classes
    ratio = gamma(shape.n_rows + len(tree.kind) + 8)
    if classes:
        weight, *counts = shape.at_nodes(weight_and_classes, classes)
        return float(np.max(np.abs(tree.value - np.stack(counts, axis=1) / weight[:, None]))), 4 * ratio
    center = shape.center
    weight, moment, size = shape.at_nodes(moment_values, center)
    distance = np.abs((tree.value[:, 0] - center) - moment / weight)
    doubt = 2 * ratio * size / weight + 4 * UNIT * np.abs(tree.value[:, 0] - center)
    return float(np.max(distance)), float(np.max(doubt)) * (1 + 4 * ratio)


def _from_medians(shape: Routed) -> float:
    """Return the largest distance of a leaf's value from the medians of its rows, up to rounding of the weights."""
    worst, sample = 0.0, shape.sample
    for node in np.flatnonzero((shape.tree.kind == LEAF) | (shape.tree.kind > THRESHOLD)):
        mine = shape.of(int(node))
        worst = max(worst, median_distance(sample.y[mine], sample.w[mine], float(shape.tree.value[node, 0])))
    return worst


def median_distance(y: np.ndarray, w: np.ndarray, value: float) -> float:
    """Return the distance of ``value`` from the interval of weighted medians, up to rounding of the weights."""
    order = np.argsort(y, kind="stable")
    y, below = y[order], np.cumsum(w[order])
    half, room = below[-1] / 2, gamma(len(y) + 2) * below[-1]
    low = y[min(int(np.searchsorted(below, half - room)), len(y) - 1)]
    high = y[min(int(np.searchsorted(below, half + room, side="right")), len(y) - 1)]
    return max(0.0, float(low - value), float(value - high))


def _of_limits(claim: Claim) -> str:
    z = claim.numbers
    words = f"Depth {z['depth']}, {z['n_leaves']} leaves, at least {z['smallest']} rows in each"
    words += f": {claim.value:.0f} nodes violate a stopping rule"
    return f"{words}, and none misses a required weight or gain by more than {z['missing']:.2g} of the root's."


@claim("tree.limits", kind="process_fact", side="exact", theory="tree-splits", partitioned=True, says=_of_limits)
def limits(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Count the nodes that violate a stopping rule; weights and gains are compared up to the stated rounding."""
    problem = certificate.problem
    shape = grown(certificate, data)
    size, inner = shape.size, shape.tree.kind != LEAF
    n_leaves = int(np.count_nonzero(~inner))
    broken = int(np.count_nonzero(shape.depth > problem["max_depth"]))
    broken += int(np.count_nonzero(size[inner] < problem["min_samples_split"]))
    broken += int(np.count_nonzero(size[1:] < problem["min_samples_leaf"]))
    broken += int(0 < problem["max_leaf_nodes"] < n_leaves)
    missing, doubt = _missing(certificate, data, shape)
    smallest = int(np.min(size[~inner]))
    numbers = {"depth": int(shape.depth.max()), "n_leaves": n_leaves, "smallest": smallest}
    numbers["missing"] = AtMost(missing, doubt)  # type: ignore[assignment]
    return Proof(float(broken), "exact", "rows of all nodes counted.", numbers, limit=0.0)


def _missing(certificate: Certificate, data: Data, shape: Shape) -> tuple[float, float]:
    """Return the largest shortfall of a required weight or gain, relative to the root, and its rounding."""
    problem, inner = certificate.problem, shape.tree.kind != LEAF
    worst = doubt = 0.0
    if problem["min_weight_leaf"] > 0:
        (weight,) = shape.at_nodes(weight_values)
        doubt = 2 * gamma(shape.n_rows + len(weight) + 8)
        worst = max(float(np.max(problem["min_weight_leaf"] - weight[1:], initial=0.0)) / float(weight[0]), 0.0) + doubt
    if (problem["min_gain"] > 0 or problem["min_impurity_decrease"] > 0) and inner.any():
        found = impurities(certificate, data)
        wanted = np.maximum(problem["min_gain"] * found.weight, problem["min_impurity_decrease"] * found.weight[0])
        wanted_doubt = gamma(shape.n_rows + len(inner) + 8) * wanted
        unit = max(float(found.total.mid[0] - found.total.rad[0]), np.finfo(float).tiny)
        rounding = float(np.max((found.decrease.rad + wanted_doubt)[inner])) / unit
        short = float(np.max((wanted - found.decrease.mid)[inner], initial=0.0)) / unit
        worst, doubt = max(worst, short + rounding), doubt + rounding
    return worst, doubt


@claim(
    "tree.monotone",
    kind="feasibility",
    side="exact",
    theory="tree-splits",
    partitioned=True,
    says="The prediction is monotone in {columns} columns for all possible rows: {value:.0f} splits violate this.",
)
def monotone(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Count the splits of a constrained column whose leaves violate the required order."""
    shape, signs = grown(certificate, data), np.asarray(certificate.problem["monotone"])
    value = shape.tree.value[:, -1].copy()  # the mean, or the frequency of the second class
    low, high = value.copy(), value.copy()
    inner = shape.tree.kind != LEAF
    low[inner], high[inner] = np.inf, -np.inf
    for node in range(len(low) - 1, 0, -1):
        above = shape.parent[node]
        low[above], high[above] = min(low[above], low[node]), max(high[above], high[node])
    wrong = 0
    kept: Any = shape.tree
    for node in np.flatnonzero(shape.tree.kind == THRESHOLD).tolist():
        sign, left, right = signs[kept.feature[node]], kept.left[node], kept.right[node]
        wrong += int(sign > 0 and high[left] > low[right]) + int(sign < 0 and low[left] < high[right])
    return Proof(float(wrong), "exact", "leaves compared.", {"columns": int(np.count_nonzero(signs))}, limit=0.0)
