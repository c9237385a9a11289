r"""Checks of forests and bagged models: leaves and out-of-bag errors, with draws repeated from the seeds.

Rows are sorted lexicographically and assigned to consecutive intervals as long as their weights. A tree draws the rows
whose intervals contain uniform random points, so the draws can be repeated from the seeds alone. For bagged models
other than forests, the witness contains the predictions of the members (theory: ``bootstrap-votes``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.ensembles.coded import Coded, coded
from surefit.checks.ensembles.draws import Draws, outputs, targets
from surefit.checks.ensembles.forest_left_out import out_of_bag_in_parts
from surefit.checks.ensembles.forest_parts import leaves_in_parts, seeds_of
from surefit.checks.ensembles.packed import categorical_trees, leaves_of, on_paths, packed_trees
from surefit.checks.judge import Proof, claim, refused, shared
from surefit.checks.labels import class_products, row_weights
from surefit.checks.trees.nodes import Nodes, coded_rows, parents, route
from surefit.checks.trees.structure import median_distance
from surefit.core.catalog import Entry, register
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.partitioned import PartitionedRows
from surefit.core.sample import Data
from surefit.core.threads import map_blocks, threads_to_check

BLOCK = 1024  # number of sparse rows that are made dense at a time

for _name, _words in (
    ("forest.global", "Nothing is claimed about other forests: splits are chosen greedily."),
    ("bagging.members", "Nothing is claimed about the members beyond their own certificates."),
):
    register(Entry(_name, kind="no_claim", side="none", says=_words))


@shared
def _rows(certificate: Certificate, data: Data) -> Any:
    """Return the rows in the form in which they descend: by codes of their entries, with categories by rank, or sparse."""
    categorical, X = certificate.problem.get("categorical"), data.X  # bagging has no categories, and no trees
    if categorical:
        return coded_rows(data, categorical)
    if sparse.issparse(X):
        return X.tocsr()
    X = np.ascontiguousarray(X, dtype=np.float64)
    return coded(X, _trees(certificate, data), threads_to_check(certificate.params.get("n_jobs"))) or X


def _leaves(X: Any, rows: np.ndarray, tree: Any) -> np.ndarray:
    """Return the leaf of each of ``rows``, or the node at which an unknown category stops."""
    if isinstance(tree, Nodes):
        return route(X, rows, tree)
    if isinstance(X, Coded):
        return X.leaves_of(rows, tree)
    if not sparse.issparse(X):
        return leaves_of(X, rows, tree)
    found = np.empty(len(rows), dtype=np.int64)
    for start in range(0, len(rows), BLOCK):
        part = np.ascontiguousarray(X[rows[start : start + BLOCK]].toarray(), dtype=np.float64)
        found[start : start + BLOCK] = leaves_of(part, np.arange(len(part)), tree)
    return found


def by_index(certificate: Certificate, data: Data) -> bool:
    """Return whether the claims are verified by sums over partitions: for draws by index, or for rows in partitions."""
    return bool(certificate.problem.get("drawn_by_index")) or isinstance(data.X, PartitionedRows)


class Votes(NamedTuple):
    """Predictions of the members for rows that were not drawn for them."""

    sums: np.ndarray  # (rows, values) sums over the members that did not draw the row
    heard: np.ndarray  # (rows,) number of these members
    wrong: np.ndarray  # (members, rows) bool
    left_out: np.ndarray  # (members, rows) bool


def _of_leaves(claim: Claim) -> str:
    what = "median" if claim.numbers["median"] else "mean (class shares)"
    leaves, trees = claim.numbers["leaves"], claim.numbers["trees"]
    inner = f" and {claim.numbers['inner']} inner nodes" if "inner" in claim.numbers else ""
    return f"Each of {leaves} leaves{inner} of {trees} trees holds the {what} of the drawn rows that reach it, up to {claim.value:.1g}."


@claim("forest.leaves", kind="process_fact", side="upper", theory="bootstrap-votes", partitioned=True, says=_of_leaves)
def leaves(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Compare the leaves of every tree with the rows drawn for it, recomputed from its seed."""
    if by_index(certificate, data):
        return leaves_in_parts(certificate, data)
    y, draws = targets(certificate, data), Draws(certificate, data)
    trees = _trees(certificate, data)
    seeds = seeds_of(certificate, len(trees))
    X, problem = _rows(certificate, data), certificate.problem
    wanted, stored = outputs(problem, y)[-1][2].stop, trees[0].value.shape[1]
    if stored < wanted or (stored > wanted and not (problem["classes"] and y.ndim == 1)):
        return refused(f"leaves must have {wanted} values, one per output or class; got {stored}")

    def compare(at: int, _: int) -> tuple[float, float]:
        """Return the largest deviation of the leaves of a tree, and its rounding."""
        tree, weights = trees[at], draws(int(seeds[at]))
        if problem["class_weights"]:
            weights = weights * class_products(_class_factors(problem, weights, y), y, problem["classes"])
        rows = np.flatnonzero(weights > 0)
        leaf, own = _leaves(X, rows, tree), np.flatnonzero(tree.feature < 0)
        if isinstance(tree, Nodes):  # a row with an unknown category gets the value of an inner node
            leaf, rows, own = *on_paths(leaf, rows, parents(tree, data.X.shape[1])[0]), np.arange(len(tree.feature))
        found = [
            _leaf_distance(tree.value[:, columns], own, leaf, target, weights[rows], K, problem["criterion"])
            for target, K, columns in outputs(problem, y[rows])
        ]
        return max(distance for distance, _ in found), max(rounding for _, rounding in found)

    found = _of_each_tree(compare, certificate, len(seeds))
    worst, doubt = (max(column) for column in zip(*found, strict=True))
    numbers = {
        "leaves": int(sum(np.count_nonzero(tree.feature < 0) for tree in trees)),
        "trees": len(trees),
        "median": problem["criterion"] == "absolute_error",
    }
    if problem.get("categorical"):
        numbers["inner"] = int(sum(np.count_nonzero(tree.feature >= 0) for tree in trees))
    note = "draws were repeated from the seeds, and the rows sent down every tree."
    return Proof(worst + doubt, "recomputed" if numbers["median"] else "enclosed", note, numbers, spread=doubt)


def _of_each_tree(work: Callable[[int, int], Any], certificate: Certificate, count: int) -> list[Any]:
    """Return the results for all trees, computed by the threads of the fit."""
    return map_blocks(work, count, 1, threads_to_check(certificate.params.get("n_jobs")))


def _class_factors(problem: dict[str, Any], weights: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the weight of each class; "balanced_subsample" gives the classes of the drawn rows equal weight."""
    if problem["class_weights"] != "balanced_subsample":
        return np.asarray(problem["class_weights"])
    found = []
    for target, K, _ in outputs(problem, y):
        held = np.array([math.fsum(weights[target == k]) for k in range(K)])
        there = held > 0
        found.append(np.where(there, math.fsum(held) / (np.count_nonzero(there) * np.where(there, held, 1.0)), 1.0))
    return np.concatenate(found)


def _leaf_distance(
    value: np.ndarray, own: np.ndarray, leaf: np.ndarray, y: np.ndarray, weights: np.ndarray, K: int, criterion: str
) -> tuple[float, float]:
    """Return the largest deviation of the nodes ``own`` from their rows for one target, and its rounding."""
    size = len(value)
    held = np.bincount(leaf, weights=weights, minlength=size)
    if np.any(held[own] == 0):
        raise ValueError("a leaf has no drawn rows")
    ratio = gamma(len(leaf) + 8)
    if K:
        counts = np.bincount(leaf * K + y, weights=weights, minlength=size * K).reshape(size, K)
        whole = bool(np.all(weights == np.rint(weights)))
        return float(np.max(np.abs(counts[own] / held[own, None] - value[own]))), 4 * (4 * UNIT if whole else ratio)
    if criterion == "absolute_error":
        order = np.argsort(leaf, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(leaf[order])) + 1)
        return max(median_distance(y[p], weights[p], float(value[leaf[p[0]], 0])) for p in parts), 0.0
    center = float(y[0])
    means = np.bincount(leaf, weights=weights * (y - center), minlength=size)[own] / held[own]
    spread = np.bincount(leaf, weights=weights * np.abs(y - center), minlength=size)[own] / held[own]
    off = value[own, 0] - center
    return float(np.max(np.abs(off - means))), float(np.max(2 * ratio * spread + 4 * UNIT * np.abs(off))) * (1 + ratio)


@claim(
    "forest.subsets",
    kind="feasibility",
    side="exact",
    theory="bootstrap-votes",
    partitioned=True,
    says="Trees use only their own {columns} columns: {value:.0f} splits violate this.",
)
def subsets(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Count cuts of columns outside the subset drawn for the tree."""
    d, size, wrong = data.X.shape[1], int(certificate.problem["columns_of_a_tree"]), 0
    for tree, seed in zip(_trees(certificate, data), seeds_of(certificate), strict=True):
        own = np.random.RandomState(int(seed)).choice(d, size, replace=False)
        wrong += int(np.count_nonzero(~np.isin(tree.feature[tree.feature >= 0], own)))
    return Proof(float(wrong), "exact", f"{wrong} cuts elsewhere.", {"columns": size}, limit=0.0)


def _of_errors(claim: Claim) -> str:
    what = "error" if claim.numbers["classes"] else "mean squared error"
    return f"The out-of-bag {what} is {claim.value:.6g} on {claim.numbers['rows']} rows (an estimate of the error on new rows)."


@claim("forest.out_of_bag", kind="estimate", side="digits", theory="bootstrap-votes", partitioned=True, says=_of_errors)
def out_of_bag(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Evaluate the mean loss of each row under the members that did not draw it."""
    if by_index(certificate, data):
        return out_of_bag_in_parts(certificate, data)
    votes, y, weights = votes_of(certificate, data), targets(certificate, data), row_weights(data)
    rows = (votes.heard > 0) & (weights > 0)
    if not rows.any():
        return refused("no row was left out by any member")
    means, w = votes.sums[rows] / votes.heard[rows, None], weights[rows]
    numbers = {"rows": int(np.count_nonzero(rows)), "classes": bool(certificate.problem["classes"])}
    if certificate.problem["classes"]:
        value = math.fsum(w[_misses(certificate.problem, means, y[rows])]) / math.fsum(w)
        return Proof(value, "recomputed", "votes of all members counted.", numbers, spread=4 * UNIT * value)
    off = means - (y[rows] if y.ndim == 2 else y[rows, None])
    value = math.fsum(w * np.mean(off**2, axis=1)) / math.fsum(w)
    each = gamma(len(votes.left_out) + 4) * np.max(np.abs(votes.sums), initial=0.0)
    spread = math.fsum(w * (2 * np.mean(np.abs(off), axis=1) * each + each**2)) / math.fsum(w)
    spread += (8 + 2 * off.shape[1]) * UNIT * value
    return Proof(value, "recomputed", "predictions of all members averaged.", numbers, spread=min(spread, 1e-6 * value))


def _misses(problem: dict[str, Any], values: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return whether the predicted class of each row is wrong, for at least one output if there are several."""
    wrong = [values[:, columns].argmax(axis=1) != target for target, _, columns in outputs(problem, y)]
    return np.any(wrong, axis=0)


@claim(
    "forest.draws",
    kind="process_fact",
    side="exact",
    theory="bootstrap-votes",
    says="{members} members drew {draws} rows each; {value:.0f} rows were drawn by all of them.",
)
def drawn(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Count the rows drawn by all members."""
    draws, seeds = Draws(certificate, data), seeds_of(certificate)
    always = np.ones(draws.n, dtype=bool)
    for seed in seeds:
        always &= draws(int(seed)) > 0
    numbers = {"members": len(seeds), "draws": int(certificate.problem["draws"])}
    return Proof(float(np.count_nonzero(always)), "exact", "draws were repeated from the seeds.", numbers)


@shared
def _trees(certificate: Certificate, data: Data) -> list[Any]:
    packed = packed_trees(certificate.model, data.X.shape[1])
    return categorical_trees(certificate.model, packed) if certificate.problem.get("categorical") else packed


@shared
def votes_of(certificate: Certificate, data: Data) -> Votes:
    """Return the predictions of the members for their out-of-bag rows."""
    y, draws = targets(certificate, data), Draws(certificate, data)
    n, K = len(y), outputs(certificate.problem, y)[-1][2].stop
    forest = "tree_starts_" in certificate.model
    trees = _trees(certificate, data) if forest else []
    seeds = seeds_of(certificate, len(trees) if forest else None)
    X = _rows(certificate, data) if forest else data.X
    sums, heard = np.zeros((n, K)), np.zeros(n, dtype=np.int64)
    wrong, left_out = np.zeros((len(seeds), n), dtype=bool), np.zeros((len(seeds), n), dtype=bool)
    table = None if forest else _predicted(certificate, len(seeds), n, K)

    def ask(at: int, _: int) -> tuple[np.ndarray, np.ndarray]:
        rows = np.flatnonzero(draws(int(seeds[at])) == 0)
        if table is not None:
            return rows, table[at, rows]
        return rows, trees[at].value[_leaves(X, rows, trees[at])][:, :K]

    for t, (rows, values) in enumerate(_of_each_tree(ask, certificate, len(seeds))):
        sums[rows] += values
        heard[rows] += 1
        left_out[t, rows] = True
        if certificate.problem["classes"]:
            wrong[t, rows] = _misses(certificate.problem, values, y[rows])
    return Votes(sums, heard, wrong, left_out)


def _predicted(certificate: Certificate, members: int, n: int, K: int) -> np.ndarray:
    """Return the predictions of the members for every row, from the witness."""
    table = np.asarray(certificate["forest.out_of_bag"].witness["said"], dtype=np.float64)
    if table.shape != (members, n, K) or not np.all(np.isfinite(table)):
        raise ValueError("the table of predictions must have one line per member and one entry per row")
    return table
