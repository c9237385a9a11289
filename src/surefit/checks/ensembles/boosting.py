r"""Checks of boosted trees by repeating rounds: paths, gradients, sums over leaves, and the loss.

A row goes left if its value is at most the cut of the node's bin. For each tree, the gradients and second derivatives
at the current scores are summed over the rows of every leaf, and the leaf must hold :math:`-\nu G / (H + \lambda)`, or
a quantile of the residuals (theory: ``boosted-trees``). Leaves are recomputed for the first rounds, the loss for all
rounds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT
from surefit.checks.ensembles.packed import slices
from surefit.checks.ensembles.rounds import (
    STEPS,
    Rounds,
    Setting,
    both,
    mean_loss,
    newton_distance,
    quantile_distance,
    repeat,
    weigh_sides,
)
from surefit.checks.ensembles.routes import BoostedTree
from surefit.checks.judge import AtLeast, Proof, claim, shared
from surefit.checks.labels import label_codes
from surefit.core.catalog import Entry, register
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.partitioned import Part, PartitionedRows, count_parts
from surefit.core.sample import Data
from surefit.core.threads import threads_to_check

#: Rounds whose leaves are recomputed: all of a few rounds, otherwise this share of them.
FEW, SHARE = 8, 0.1
#: Constant added to every sum of second derivatives by the definition of a step.
LEAST_CURVATURE = 1e-15

register(
    Entry(
        "boosted_trees.global",
        kind="no_claim",
        side="none",
        says="Nothing is claimed about other sums of trees: they are found greedily.",
    )
)


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


def _start(certificate: Certificate) -> np.ndarray:
    start = np.asarray(certificate.model["baseline_"], dtype=np.float64)
    if start.shape != (certificate.problem["scores"],) or not np.all(np.isfinite(start)):
        raise ValueError("the baseline must have one number per score")
    return start


def _checked(certificate: Certificate, trees: list[BoostedTree]) -> int:
    K = certificate.problem["scores"]
    return min(len(trees), K * max(FEW, math.ceil(SHARE * len(trees) / K)))


@shared
def _setting(certificate: Certificate, data: Data) -> Setting:
    trees, witness, problem = (
        _trees(certificate, data),
        certificate["boosted_trees.leaves"].witness,
        certificate.problem,
    )
    checked, classes, held_out = _checked(certificate, trees), None, None
    if problem["class_weights"] is not None:
        label_codes(certificate, data)
        classes = np.asarray(certificate.model["classes_"])
    if "held_out" in witness:
        seed, share = np.asarray(witness["held_out"], dtype=np.float64).tolist()
        if not (seed >= 0 and seed == int(seed) and 0 < share < 1):
            raise ValueError("held_out must be a seed and a share of the rows")
        held_out = int(seed), share
    whole = BoostedTree(*(np.concatenate(parts) for parts in zip(*trees, strict=True)))
    starts = np.cumsum([0, *(len(tree.feature) for tree in trees)])
    rest = BoostedTree(*(part[starts[checked] :] for part in whole))
    starts = starts[checked:] - starts[checked]
    threads = threads_to_check(certificate.params.get("n_jobs"))
    first, bins = tuple(trees[:checked]), _bins(certificate)
    return Setting(
        problem,
        classes,
        held_out,
        _start(certificate),
        first,
        rest,
        starts,
        bins,
        1 if isinstance(data.X, PartitionedRows) else threads,
    )


def _passed(certificate: Certificate, data: Data, function: Any, *small: Any, combine: Any = None) -> Any:
    """Apply a function to the rows in memory, or to all partitions, with the mask of training rows if there is one."""
    witness, n = certificate["boosted_trees.leaves"].witness, data.X.shape[0]
    mask = (np.unpackbits(witness["training"], count=n),) if "training" in witness else ()
    if isinstance(data.X, PartitionedRows):
        return data.X.map_reduce(function, *small, combine=combine, sliced=mask)
    return function(Part(data.X, data.target, data.weights, 0, "the rows"), *small, *mask)


@shared
def _rounds(certificate: Certificate, data: Data) -> Rounds:
    found = _passed(certificate, data, repeat, _setting(certificate, data), combine=both)
    if not found.rows:
        raise ValueError("no training rows are left")
    return found


@claim(
    "boosted_trees.leaves",
    kind="optimality",
    side="upper",
    theory="boosted-trees",
    infinite=True,
    partitioned=True,
    says="Every leaf of the first {checked} of {trees} trees is the best step of its rows (a Newton step, or a quantile of the "
    "residuals, its level exact up to rounding) times the learning rate, up to {value:.1g}.",
)
def leaves(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check the leaves of the first rounds by sums of gradients over their rows."""
    setting, rounds = _setting(certificate, data), _rounds(certificate, data)
    problem, checked = setting.problem, len(setting.checked)
    if setting.quantile is None:
        terms = rounds.rows + rounds.parts
        found = [
            newton_distance(tree, sums, terms, float(slip), problem, LEAST_CURVATURE)
            for tree, sums, slip in zip(setting.checked, rounds.leaves, rounds.slips, strict=True)
        ]
    else:
        found = _quantile_distances(certificate, data)
    worst, doubt = (max(column, default=0.0) for column in zip(*found, strict=True))
    note = "gradients of the first rounds were summed over the rows of every leaf."
    numbers = {"checked": checked, "trees": len(_trees(certificate, data))}
    return Proof(worst + doubt, "recomputed", note, numbers, spread=doubt)


def _quantile_distances(certificate: Certificate, data: Data) -> list[tuple[float, float]]:
    """Return the distances of the leaves of each repeated tree from quantiles of their residuals, and rounding."""
    setting, rounds = _setting(certificate, data), _rounds(certificate, data)
    rate, parts = setting.problem["rate"], count_parts(data.X)
    doubts = [
        (8 * UNIT * float(r) + 2 * float(slip)) * max(rate, 1.0) + 4 * UNIT * float(np.max(np.abs(tree.value)))
        for tree, r, slip in zip(setting.checked, rounds.residuals, rounds.slips, strict=True)
    ]
    distances = tuple(doubt / 2 * 2.0 ** np.arange(STEPS) for doubt in doubts)
    sides = _passed(certificate, data, weigh_sides, setting, distances)
    return [
        (quantile_distance(tree, own, away, setting, parts), doubt)
        for tree, own, away, doubt in zip(setting.checked, sides, distances, doubts, strict=True)
    ]


@claim(
    "boosted_trees.loss",
    kind="data_fact",
    side="upper",
    theory="boosted-trees",
    low=-math.inf,
    partitioned=True,
    says="The mean loss on {rows} training rows fell from at least {start:.6g} to at most {value:.6g} in {rounds} rounds.",
)
def loss(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Evaluate the mean loss before the first round and after the last round."""
    rounds = _rounds(certificate, data)
    before, start_doubt = mean_loss(rounds.before, rounds.weight, rounds.parts)
    after, doubt = mean_loss(rounds.after, rounds.weight, rounds.parts)
    numbers = {
        "rows": rounds.rows,
        "rounds": len(_trees(certificate, data)) // certificate.problem["scores"],
        "start": AtLeast(before - start_doubt, start_doubt),
    }
    return Proof(after + doubt, note=f"mean loss {after:.9g}.", numbers=numbers, spread=doubt)


@claim(
    "boosted_trees.monotone",
    kind="feasibility",
    side="exact",
    theory="boosted-trees",
    partitioned=True,
    says="The scores are monotone in {columns} columns, for all possible rows: {value:.0f} splits violate this.",
)
def monotone(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Count the splits of a monotone column whose leaves violate the required order."""
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
