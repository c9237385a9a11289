r"""Checks forests and bagged models: draws repeated from their seeds, leaves, out-of-bag errors, and bounds of the vote.

Rows lie in lexicographic order, each on an interval as long as its weight, and a tree draws the rows on whose intervals uniform
points fall: the draws are repeated here from the seeds alone. Bagged models other than forests bring a table of what their
members say (theory: ``bootstrap-votes``).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.bounds import CONFIRM
from surefit.checks.stump import codes_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError

ROUNDING = 1e-9


class Votes(NamedTuple):
    """What the members say of all training rows."""

    worst_leaf: float  # largest distance of a leaf from the mean of its rows; nan without trees
    sums: np.ndarray  # (rows, values) over the members that left the row out
    heard: np.ndarray  # (rows,) number of them
    wrong: np.ndarray  # (members, rows) bool
    left_out: np.ndarray  # (members, rows) bool


@checker("forest.leaves")
def check_leaves(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Each leaf of each tree holds the mean (class shares, median) of the drawn rows that reach it, up to value."""
    found = _votes(certificate, data).worst_leaf
    message = "draws were repeated from the seeds, and the rows sent down every tree."
    return Finding(claim.name, claim.value, found, found <= claim.value, "recomputed", message)


@checker("forest.subsets")
def check_subsets(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No tree cuts a column outside the set drawn for it."""
    model, size, wrong = certificate.model, certificate.problem["columns_of_a_tree"], 0
    for seed, (start, stop) in zip(model["tree_seeds_"], pairwise(model["tree_starts_"]), strict=True):
        own = np.random.RandomState(seed).choice(data.X.shape[1], size, replace=False)
        used = model["tree_feature_"][start:stop]
        wrong += int(np.count_nonzero(~np.isin(used[used >= 0], own)))
    return Finding(claim.name, claim.value, float(wrong), wrong <= claim.value, "exact", f"{wrong} cuts elsewhere.")


@checker("forest.out_of_bag")
def check_out_of_bag(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The out-of-bag error is value."""
    votes, y = _votes(certificate, data), _targets(certificate, data)
    weights = np.ones(len(y)) if data.weights is None else data.weights
    rows = (votes.heard > 0) & (weights > 0)
    means = votes.sums[rows] / votes.heard[rows, None]
    if certificate.problem["classes"]:
        losses = (means.argmax(axis=1) != y[rows]).astype(np.float64)
    else:
        losses = (means[:, 0] - y[rows]) ** 2
    found = float(np.average(losses, weights=weights[rows]))
    ok = abs(found - claim.value) <= ROUNDING * (1 + abs(found))
    message = f"{np.count_nonzero(rows)} rows were left out by some member."
    return Finding(claim.name, claim.value, found, ok, "recomputed", message)


@checker("forest.draws")
def check_draws(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """So many rows, value, were drawn by every member."""
    drawn = _drawn(certificate, data)
    always = int(np.count_nonzero(np.all(drawn > 0, axis=0)))
    totals = drawn.sum(axis=1)
    ok = always == claim.value and bool(np.all(totals == certificate.problem["draws"]))
    return Finding(claim.name, claim.value, float(always), ok, "exact", "draws were repeated from the seeds.")


@checker("forest.vote_first_order", "forest.vote_tandem")
def check_vote(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """With the stated confidence the majority vote errs on new rows with probability at most value."""
    votes, z = _votes(certificate, data), claim.numbers
    out = votes.left_out.astype(np.float64)
    lost = (votes.wrong & votes.left_out).astype(np.float64)
    if claim.name == "forest.vote_first_order":
        counts = out.sum(axis=1)
        mean, n = float(np.mean(lost.sum(axis=1) / counts)), int(counts.min())
    else:
        joint = out @ out.T
        mean, n = float(np.mean((lost @ lost.T) / joint)), int(joint.min())
    same = abs(mean - z["empirical"]) <= ROUNDING and n == z["n"] and z["divergence"] == 0
    evidence = CONFIRM[claim.name.removeprefix("forest.")](claim.value, z, claim.witness)
    stated = claim.confidence == 1 - z["delta"] and data.weights is None
    ok = same and (evidence.ok or claim.value >= 1) and stated  # a limit of one claims nothing
    message = f"mean loss {mean:.4g} on at least {n} unseen rows; the limit follows, if the assumptions hold."
    return Finding(claim.name, claim.value, claim.value if ok else np.inf, ok, "recomputed", message)


def _targets(certificate: Certificate, data: Data) -> np.ndarray:
    if certificate.problem["classes"]:
        return codes_of(certificate.model["classes_"], data.target)
    return np.asarray(data.target, dtype=np.float64)


def _drawn(certificate: Certificate, data: Data) -> np.ndarray:
    """How often each member drew each row, (members, rows); all ones without a bootstrap."""
    seeds, n = certificate.model["tree_seeds_"], data.X.shape[0]
    weights = np.ones(n) if data.weights is None else data.weights
    if not certificate.problem["bootstrap"]:
        return np.tile(weights, (len(seeds), 1))
    if "drawn" not in data.memo:
        y = _targets(certificate, data)
        X = np.asarray(data.X, dtype=np.float64)
        order = np.lexsort((y, *X.T[::-1]))
        ends = np.cumsum(weights[order])
        table = np.zeros((len(seeds), n), dtype=np.int64)
        for line, seed in zip(table, seeds, strict=True):
            points = np.random.RandomState(seed).random_sample(certificate.problem["draws"]) * ends[-1]
            places = np.minimum(np.searchsorted(ends, points, side="right"), n - 1)
            line[order] = np.bincount(places, minlength=n)
        data.memo["drawn"] = table
    return data.memo["drawn"]


def _votes(certificate: Certificate, data: Data) -> Votes:
    if "votes" not in data.memo:
        data.memo["votes"] = _ask(certificate, data)
    return data.memo["votes"]


def _ask(certificate: Certificate, data: Data) -> Votes:
    problem, model = certificate.problem, certificate.model
    y, drawn = _targets(certificate, data), _drawn(certificate, data)
    n, members = len(y), len(drawn)
    trees = "tree_starts_" in model
    sums = np.zeros((n, max(problem["classes"], 1)))
    count, worst = np.zeros(n, dtype=np.int64), 0.0 if trees else np.nan
    wrong, left_out = np.zeros((members, n), dtype=bool), drawn == 0
    X = np.asarray(data.X, dtype=np.float64)
    for t in range(members):
        out = left_out[t]
        if trees:
            start, stop = model["tree_starts_"][t : t + 2]
            tree = {name: model[f"tree_{name}_"][start:stop] for name in _NAMES}
            leaf = _route(tree, X)
            worst = max(worst, _leaf_distance(tree, leaf, y, drawn[t], problem))
            values = tree["value"][leaf]
        else:
            values = _said(certificate, t, n)
        sums[out] += values[out]
        count += out
        if problem["classes"]:
            wrong[t] = values.argmax(axis=1) != y
    return Votes(worst, sums, count, wrong, left_out)


_NAMES = ("feature", "threshold", "left", "right", "missing_left", "value")


def _said(certificate: Certificate, t: int, n: int) -> np.ndarray:
    """What member ``t`` says of every row, from the table among the evidence."""
    table = certificate["forest.out_of_bag"].witness.get("said")
    if table is None or table.shape[:2] != (len(certificate.model["tree_seeds_"]), n):
        raise CertificateError("The table of what the members say is missing, or of another size.")
    return np.asarray(table[t], dtype=np.float64)


def _leaf_distance(tree: dict, leaf: np.ndarray, y: np.ndarray, drawn: np.ndarray, problem: dict) -> float:
    weights, size = drawn.astype(np.float64), len(tree["feature"])
    if problem["class_weights"]:
        weights = weights * np.asarray(problem["class_weights"])[y]
    held = np.bincount(leaf, weights=weights, minlength=size)
    own = np.flatnonzero((tree["feature"] < 0) & (held > 0))
    if problem["classes"]:
        size_classes = problem["classes"]
        flat = np.bincount(leaf * size_classes + y, weights=weights, minlength=size * size_classes)
        found = flat.reshape(size, size_classes)[own] / held[own, None]
        return float(np.max(np.abs(found - tree["value"][own][:, :size_classes]), initial=0.0))
    if problem["criterion"] == "absolute_error":
        return max((_median_distance(y[leaf == k], weights[leaf == k], tree["value"][k, 0]) for k in own), default=0.0)
    means = np.bincount(leaf, weights=weights * y, minlength=size)[own] / held[own]
    return float(np.max(np.abs(means - tree["value"][own, 0]), initial=0.0))


def _median_distance(y: np.ndarray, weights: np.ndarray, value: float) -> float:
    """How far a value is from the set of medians."""
    y, weights = y[weights > 0], weights[weights > 0]
    order = np.argsort(y)
    reached = np.cumsum(weights[order]) / np.sum(weights)
    low = y[order][np.searchsorted(reached, 0.5 - 1e-12)]
    high = y[order][min(int(np.searchsorted(reached, 0.5 + 1e-12, side="right")), len(y) - 1)]
    return max(0.0, float(low - value), float(value - high))


def _route(tree: dict[str, np.ndarray], X: np.ndarray) -> np.ndarray:
    """Leaf of every row."""
    node = np.zeros(len(X), dtype=np.int64)
    rows = np.arange(len(X))
    while len(rows):
        at = node[rows]
        inner = tree["feature"][at] >= 0
        rows, at = rows[inner], at[inner]
        value = X[rows, tree["feature"][at]]
        left = (value <= tree["threshold"][at]) | (np.isnan(value) & tree["missing_left"][at])
        node[rows] = np.where(left, tree["left"][at], tree["right"][at])
    return node
