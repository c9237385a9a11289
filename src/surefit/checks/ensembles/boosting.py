r"""Checks boosted trees by repeating rounds: routes, gradients, sums of the leaves, and the loss.

A row goes left where its value is at most the cut of the node's bin. For each tree the gradients and curvatures at the scores so
far are summed over the rows of every leaf, and the leaf must hold :math:`-\nu G / (H + \lambda)`, or a quantile of the residuals
(theory: ``boosted-trees``). The first rounds are repeated; the loss is that of all rounds.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.ensembles.losses import derivatives
from surefit.checks.ensembles.packed import slices
from surefit.checks.ensembles.routes import BoostedTree, add_steps, leaves_of
from surefit.checks.judge import AtLeast, Proof, claim, shared
from surefit.checks.labels import label_codes, row_weights
from surefit.core.catalog import Entry, register
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

#: Rounds whose leaves are recomputed: all if they are few, else this share of them.
FEW, SHARE = 8, 0.1
#: Added to every curvature by the definition of a step.
LEAST_CURVATURE = 1e-15

register(
    Entry(
        "boosted_trees.global",
        kind="no_claim",
        side="none",
        says="Nothing is claimed about other sums of trees: they are found greedily.",
    )
)


class Sample(NamedTuple):
    """Training rows of the fit."""

    columns: np.ndarray  # rows of X, transposed
    y: np.ndarray
    s: np.ndarray


@shared
def _sample(certificate: Certificate, data: Data) -> Sample:
    problem, s, y = certificate.problem, row_weights(data), data.target
    if problem["class_weights"] is not None:
        codes = label_codes(certificate, data)[0]
        y, s = codes.astype(np.float64), s * np.asarray(problem["class_weights"])[codes]
    rows = np.flatnonzero(s > 0)
    witness = certificate["boosted_trees.leaves"].witness
    if "training" in witness:
        rows = rows[np.unpackbits(witness["training"], count=len(s))[rows] == 1]
    if not len(rows):
        raise ValueError("no training rows are left")
    X = np.asarray(data.X) if len(rows) == len(s) else np.asarray(data.X)[rows]
    return Sample(np.ascontiguousarray(X.T, dtype=np.float64), np.asarray(y, dtype=np.float64)[rows], s[rows])


@shared
def _trees(certificate: Certificate, data: Data) -> list[BoostedTree]:
    model, d = certificate.model, data.X.shape[1]
    names = ("feature", "bin", "missing_left", "left", "right", "subset", "value", "low", "high")
    parts = slices(model, d, names)
    array = {name: np.ascontiguousarray(model[f"tree_{name}_"]) for name in names}
    cuts, sizes, kinds = (
        np.asarray(model["bin_cuts_"]),
        np.asarray(model["n_bins_"]),
        np.asarray(model["is_categorical_"]),
    )
    m = len(array["feature"])
    if len(parts) % certificate.problem["scores"] or cuts.ndim != 2 or sizes.shape != (d,) or kinds.shape != (d,):
        raise ValueError("the bins must have one line per column, and every round one tree per score")
    if len(cuts) != d or array["subset"].shape != (m, 8) or np.any((sizes < 0) | (sizes > cuts.shape[1] + 1)):
        raise ValueError("bins or categories of the trees are not stored")
    if np.isnan(array["low"]).any() or np.isnan(array["high"]).any():
        raise ValueError("the limits of a leaf are not numbers")
    feature, bins = np.maximum(array["feature"], 0), array["bin"].astype(np.int64)
    last = (bins < 0) | (bins >= sizes[feature] - 1)
    cut = np.where(last, np.inf, cuts[feature, np.clip(bins, 0, cuts.shape[1] - 1)])
    coded = (bins < 0) & (array["feature"] >= 0)
    if np.any(coded & ~kinds[feature].astype(bool)):
        raise ValueError("a tree splits a numeric column by categories")
    array["missing_left"] = array["missing_left"].astype(bool)
    whole = BoostedTree(cut=cut, coded=coded, **{k: v for k, v in array.items() if k != "bin"})
    return [BoostedTree(*(part[rows] for part in whole)) for rows in parts]


def _bins(certificate: Certificate) -> tuple[np.ndarray, np.ndarray]:
    cuts = np.ascontiguousarray(certificate.model["bin_cuts_"], dtype=np.float64)
    return cuts, np.minimum(np.asarray(certificate.model["n_bins_"], dtype=np.int64), cuts.shape[1])


def _start(certificate: Certificate, n: int) -> np.ndarray:
    start = np.asarray(certificate.model["baseline_"], dtype=np.float64)
    if start.shape != (certificate.problem["scores"],) or not np.all(np.isfinite(start)):
        raise ValueError("the baseline must have one number per score")
    return np.tile(start[:, None], (1, n))


@claim(
    "boosted_trees.leaves",
    kind="optimality",
    side="upper",
    theory="boosted-trees",
    infinite=True,
    says="Every leaf of the first {checked} of {trees} trees is the best step of its rows (a Newton step, or a quantile of the "
    "residuals) times the learning rate, up to {value:.1g}.",
)
def leaves(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Repeat the first rounds: gradients are summed over the rows of every leaf."""
    sample, trees, problem = _sample(certificate, data), _trees(certificate, data), certificate.problem
    z, K, worst, doubt = _start(certificate, len(sample.y)), problem["scores"], 0.0, 0.0
    checked = min(len(trees), K * max(FEW, math.ceil(SHARE * len(trees) / K)))
    quantile = {"absolute_error": 0.5, "quantile": problem["parameter"]}.get(problem["loss"])
    for first in range(0, checked, K):
        _, g, h = derivatives(problem, sample.y, z)
        for k, tree in enumerate(trees[first : first + K]):
            leaf = leaves_of(sample.columns, tree, _bins(certificate))
            if quantile is None:
                distance, rounding = _newton_distance(tree, leaf, sample.s * g[k], sample.s * h[k], problem)
            else:
                residual = sample.y - z[k]
                distance, rounding = _quantile_distance(tree, leaf, residual, sample.s, quantile, problem["rate"])
            worst, doubt = max(worst, distance), max(doubt, rounding)
            z[k] += tree.value[leaf]
    note = "gradients of the first rounds were summed over the rows of every leaf."
    numbers = {"checked": checked, "trees": len(trees)}
    return Proof(worst + doubt, "recomputed", note, numbers, spread=doubt)


def _newton_distance(
    tree: BoostedTree, leaf: np.ndarray, g: np.ndarray, h: np.ndarray, problem: dict[str, Any]
) -> tuple[float, float]:
    """Largest distance of a leaf from its Newton step, and the rounding in it."""
    size, own = len(tree.feature), tree.feature < 0
    G, A, H, C = (np.bincount(leaf, weights=part, minlength=size)[own] for part in (g, np.abs(g), h, np.abs(h)))
    below = H + problem["l2"] + LEAST_CURVATURE
    step = -G / below
    best = np.clip(step, tree.low[own], tree.high[own])
    ratio = 2 * gamma(
        len(leaf) + 32
    )  # of sums; gradients and curvatures themselves are right to some units in the last place
    with np.errstate(over="ignore", invalid="ignore"):
        room = np.maximum(below - ratio * C, LEAST_CURVATURE / 2)
        rounding = problem["rate"] * ratio * (A + np.abs(step) * (C + below)) / room
    distance = np.abs(tree.value[own] - problem["rate"] * best)
    return float(np.max(distance)), float(np.max(rounding)) + 4 * UNIT * float(np.max(np.abs(tree.value[own])))


def _quantile_distance(
    tree: BoostedTree, leaf: np.ndarray, r: np.ndarray, s: np.ndarray, q: float, rate: float
) -> tuple[float, float]:
    """How far a leaf is from the set of quantiles of its residuals; sums of weights are compared up to their rounding."""
    worst = 0.0
    order = np.lexsort((r, leaf))
    found, starts = np.unique(leaf[order], return_index=True)
    for node, start, stop in zip(found, starts, [*starts[1:], len(order)], strict=True):
        values, reached = r[order[start:stop]], np.cumsum(s[order[start:stop]])
        wanted, room = q * reached[-1], (gamma(len(values) + 4) + 1e-14) * reached[-1]
        low = values[min(int(np.searchsorted(reached, wanted - room)), len(values) - 1)]
        high = values[min(int(np.searchsorted(reached, wanted + room, side="right")), len(values) - 1)]
        low, high = np.clip([low, high], tree.low[node], tree.high[node])
        worst = max(worst, float(rate * low - tree.value[node]), float(tree.value[node] - rate * high))
    return worst, 8 * UNIT * float(np.max(np.abs(r))) * max(rate, 1.0)


@claim(
    "boosted_trees.loss",
    kind="data_fact",
    side="upper",
    theory="boosted-trees",
    low=-math.inf,
    says="The mean loss on {rows} training rows fell from at least {start:.6g} to at most {value:.6g} in {rounds} rounds.",
)
def loss(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Evaluate the mean loss before the first round and after the last."""
    sample, trees, problem = _sample(certificate, data), _trees(certificate, data), certificate.problem
    z, K = _start(certificate, len(sample.y)), problem["scores"]
    before, start_doubt = _mean_loss(problem, sample, z, np.abs(z), 1)
    size = np.abs(z)
    starts = np.cumsum([0, *(len(tree.feature) for tree in trees)])
    whole = BoostedTree(*(np.concatenate(parts) for parts in zip(*trees, strict=True)))
    add_steps(sample.columns, whole, starts, _bins(certificate), z, size)
    after, doubt = _mean_loss(problem, sample, z, size, len(trees))
    numbers = {"rows": len(sample.y), "rounds": len(trees) // K, "start": AtLeast(before - start_doubt, start_doubt)}
    return Proof(after + doubt, note=f"mean loss {after:.9g}.", numbers=numbers, spread=doubt)


def _mean_loss(
    problem: dict[str, Any], sample: Sample, z: np.ndarray, size: np.ndarray, terms: int
) -> tuple[float, float]:
    """Mean loss, and the rounding in it: of the scores, of the loss and of its sum."""
    value, g, h = derivatives(problem, sample.y, z)
    total = math.fsum(sample.s)
    off = gamma(terms + 4) * size
    each = np.sum(np.abs(g) * off + np.abs(h) * off**2, axis=0) * 1.01
    scale = np.abs(value) + np.abs(sample.y) * (1 + np.max(np.abs(z), axis=0)) + np.max(np.abs(z), axis=0) + 1
    found = math.fsum(sample.s * value) / total
    return found, math.fsum(sample.s * (each + 64 * UNIT * scale)) / total + 4 * UNIT * abs(found)


@claim(
    "boosted_trees.monotone",
    kind="feasibility",
    side="exact",
    theory="boosted-trees",
    says="The scores are monotone in {columns} columns, for all possible rows: {value:.0f} splits violate this.",
)
def monotone(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """At every cut of a monotone column all leaves of one side are on the right side of all leaves of the other."""
    signs, wrong = certificate.problem["monotone"], 0
    for tree in _trees(certificate, data):
        lowest, highest = tree.value.copy(), tree.value.copy()
        for node in range(len(tree.feature) - 1, -1, -1):
            j = int(tree.feature[node])
            if j < 0:
                continue
            left, right = int(tree.left[node]), int(tree.right[node])
            lowest[node], highest[node] = min(lowest[left], lowest[right]), max(highest[left], highest[right])
            wrong += int(signs[j] > 0 and highest[left] > lowest[right])
            wrong += int(signs[j] < 0 and lowest[left] < highest[right])
    columns = sum(sign != 0 for sign in signs)
    return Proof(float(wrong), "exact", f"{wrong} splits violate monotonicity.", {"columns": int(columns)}, limit=0.0)
