r"""Checks boosted trees by repeating all rounds: bins, routes, gradients, sums of the leaves, and the loss.

A row goes left where its bin, the number of cuts below its value, is at most that of the node. For each tree the slopes and
curvatures at the scores so far are summed over the rows of every leaf, and the leaf must hold :math:`-\nu G / (H + \lambda)`,
or a quantile of the residuals (theory: ``boosted-trees``).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logsumexp

from surefit.checks.base import Data, Finding, checker
from surefit.checks.stump import codes_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError

ROUNDING = 1e-8  # relative, of the loss


class Replay(NamedTuple):
    """All rounds, repeated."""

    losses: np.ndarray  # before each round and after the last
    worst_leaf: float  # largest distance of a leaf from the step it should be


@checker("boosted_trees.leaves")
def check_leaves(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Every leaf holds the best step of its rows, up to value."""
    found = _replay(certificate, data).worst_leaf
    message = "gradients of every round were summed over the rows of every leaf."
    return Finding(claim.name, claim.value, found, found <= claim.value, "recomputed", message)


@checker("boosted_trees.loss")
def check_loss(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The mean loss on the training rows is value."""
    found = float(_replay(certificate, data).losses[-1])
    ok = abs(found - claim.value) <= ROUNDING * (1 + abs(found))
    return Finding(claim.name, claim.value, found, ok, "recomputed", f"mean loss {found:.9g}.")


@checker("boosted_trees.monotone_loss")
def check_monotone_loss(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The loss never rose by more than value in a round; the log is the true one."""
    losses = _replay(certificate, data).losses
    rise = float(np.max(np.diff(losses), initial=0.0))
    log = claim.witness["log"]
    room = ROUNDING * (1 + float(np.max(np.abs(losses))))
    ok = len(log) == len(losses) and bool(np.all(np.abs(log - losses) <= room)) and rise <= claim.value + room
    return Finding(claim.name, claim.value, rise, ok, "recomputed", f"{len(losses)} losses were recomputed.")


@checker("boosted_trees.monotone")
def check_monotone(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """At every cut of a monotone column all leaves of one side are on the right side of all leaves of the other."""
    signs, wrong = certificate.problem["monotone"], 0
    for tree in _trees(certificate):
        lowest, highest = tree["value"].copy(), tree["value"].copy()
        for node in range(len(tree["feature"]) - 1, -1, -1):
            j = int(tree["feature"][node])
            if j < 0:
                continue
            left, right = int(tree["left"][node]), int(tree["right"][node])
            lowest[node], highest[node] = min(lowest[left], lowest[right]), max(highest[left], highest[right])
            wrong += signs[j] > 0 and highest[left] > lowest[right]
            wrong += signs[j] < 0 and lowest[left] < highest[right]
    return Finding(
        claim.name, claim.value, float(wrong), wrong <= claim.value, "exact", f"{wrong} cuts are the wrong way."
    )


def _replay(certificate: Certificate, data: Data) -> Replay:
    if "boosted_trees" not in data.memo:
        data.memo["boosted_trees"] = _repeat(certificate, data)
    return data.memo["boosted_trees"]


def _repeat(certificate: Certificate, data: Data) -> Replay:
    model, problem = certificate.model, certificate.problem
    n = data.X.shape[0]
    rows = np.flatnonzero(np.unpackbits(certificate["boosted_trees.leaves"].witness["training"], count=n))
    y, s = _targets(certificate, data, rows)
    codes = _bins(np.asarray(data.X[rows], dtype=np.float64), model)
    z = np.tile(np.asarray(model["baseline_"], dtype=np.float64)[:, None], (1, len(rows)))
    total, losses, worst = math.fsum(s), [], 0.0
    trees = _trees(certificate)
    quantile = {"absolute_error": 0.5, "quantile": problem["parameter"]}.get(problem["loss"])
    for first in range(0, len(trees), problem["scores"]):
        loss, g, h = _derivatives(problem, y, z)
        losses.append(math.fsum(s * loss) / total)
        for k, tree in enumerate(trees[first : first + problem["scores"]]):
            leaf = _route(tree, codes)
            if quantile is None:
                worst = max(worst, _newton_distance(tree, leaf, s * g[k], s * h[k], problem))
            else:
                worst = max(worst, _quantile_distance(tree, leaf, y - z[k], s, quantile, problem["rate"]))
            z[k] += tree["value"][leaf]
    losses.append(math.fsum(s * _derivatives(problem, y, z)[0]) / total)
    return Replay(np.array(losses), worst)


def _newton_distance(tree: dict, leaf: np.ndarray, g: np.ndarray, h: np.ndarray, problem: dict) -> float:
    size = len(tree["feature"])
    G, H = np.bincount(leaf, weights=g, minlength=size), np.bincount(leaf, weights=h, minlength=size)
    best = np.clip(-G / (H + problem["l2"] + 1e-15), tree["low"], tree["high"])
    own = tree["feature"] < 0
    return float(np.max(np.abs(tree["value"] - problem["rate"] * best)[own], initial=0.0))


def _quantile_distance(tree: dict, leaf: np.ndarray, r: np.ndarray, s: np.ndarray, q: float, rate: float) -> float:
    """How far a leaf is from the set of quantiles of its residuals."""
    worst = 0.0
    order = np.lexsort((r, leaf))
    leaves, starts = np.unique(leaf[order], return_index=True)
    for node, start, stop in zip(leaves, starts, [*starts[1:], len(order)], strict=True):
        values, reached = r[order[start:stop]], np.cumsum(s[order[start:stop]])
        wanted = q * reached[-1]
        low = values[min(np.searchsorted(reached, wanted * (1 - 1e-12)), len(values) - 1)]
        high = values[min(np.searchsorted(reached, wanted * (1 + 1e-12), side="right"), len(values) - 1)]
        low, high = np.clip([low, high], tree["low"][node], tree["high"][node])
        v = tree["value"][node]
        worst = max(worst, float(rate * low - v), float(v - rate * high))
    return worst


def _derivatives(problem: dict, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Loss, slopes and curvatures of every row; slopes and curvatures have one row a score."""
    name, f = problem["loss"], z[0]
    one = np.ones((1, len(f)))
    if name == "log_loss" and problem["scores"] == 1:
        p = expit(f)
        return np.logaddexp(0, f) - y * f, (p - y)[None], (p * (1 - p))[None]
    if name == "log_loss":
        own = np.arange(len(z))[:, None] == y[None]
        p = np.exp(z - logsumexp(z, axis=0))
        return logsumexp(z, axis=0) - np.sum(z * own, axis=0), p - own, p * (1 - p)
    if name == "exponential":
        e = np.exp(-(2 * y - 1) * f)
        return e, (-(2 * y - 1) * e)[None], e[None]
    r = y - f
    if name == "squared_error":
        return r**2 / 2, -r[None], one
    if name in ("absolute_error", "quantile"):
        q = 0.5 if name == "absolute_error" else problem["parameter"]
        loss = np.maximum(q * r, (q - 1) * r)
        return (2 * loss if name == "absolute_error" else loss), one, one
    if name == "huber":
        delta = problem["parameter"]
        size = np.abs(r)
        loss = np.where(size <= delta, r**2 / 2, delta * (size - delta / 2))
        return loss, -np.clip(r, -delta, delta)[None], one
    if name == "poisson":
        return np.exp(f) - y * f, (np.exp(f) - y)[None], np.exp(f)[None]
    if name == "gamma":
        e = y * np.exp(-f)
        return e + f, (1 - e)[None], e[None]
    raise CertificateError(f"The checker does not know the loss {name!r}.")


def _targets(certificate: Certificate, data: Data, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    classes, target = certificate.model.get("classes_"), data.target
    s = np.ones(len(target)) if data.weights is None else data.weights
    if classes is None:
        return np.asarray(target, dtype=np.float64)[rows], s[rows]
    codes = codes_of(classes, target)
    return codes[rows].astype(np.float64), (s * np.asarray(certificate.problem["class_weights"])[codes])[rows]


def _bins(X: np.ndarray, model: dict[str, np.ndarray]) -> np.ndarray:
    codes = np.empty(X.shape, dtype=np.uint8)
    for j, column in enumerate(X.T):
        size = int(model["n_bins_"][j])
        if model["is_categorical_"][j]:
            known = model["bin_cuts_"][j, :size]
            place = np.minimum(np.searchsorted(known, column), size - 1)
            codes[:, j] = np.where(known[place] == column, place, 255)
        else:
            place = np.searchsorted(model["bin_cuts_"][j, : size - 1], column)
            codes[:, j] = np.where(np.isnan(column), 255, place)
    return codes


def _trees(certificate: Certificate) -> list[dict[str, Any]]:
    starts = certificate.model["tree_starts_"]
    names = ("feature", "bin", "missing_left", "left", "right", "subset", "value", "low", "high")
    return [
        {name: certificate.model[f"tree_{name}_"][start:stop] for name in names} for start, stop in pairwise(starts)
    ]


def _route(tree: dict[str, Any], codes: np.ndarray) -> np.ndarray:
    """Leaf of every row."""
    node = np.zeros(len(codes), dtype=np.int64)
    rows = np.arange(len(codes))
    while len(rows):
        at = node[rows]
        inner = tree["feature"][at] >= 0
        rows, at = rows[inner], at[inner]
        code = codes[rows, tree["feature"][at]].astype(np.int64)
        bits = (tree["subset"][at, code >> 5] >> (code & 31).astype(np.uint32)) & 1
        left = np.where(tree["bin"][at] >= 0, code <= tree["bin"][at], bits == 1)
        left = np.where(code == 255, tree["missing_left"][at], left)
        node[rows] = np.where(left, tree["left"][at], tree["right"][at])
    return node
