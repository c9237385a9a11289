r"""Recomputation of boosting rounds for rows in memory or in partitions, in one pass for all claims.

The scores before a round follow from the trees of the certificate, not from sums over rows. Every partition therefore
repeats the rounds independently, and sums of gradients, second derivatives and losses are added over the partitions.
For leaves with quantiles, a second pass compares the weights on both sides of the leaf's value with the quantile, at
distances that double. The distance of :math:`v` from :math:`\nu [a, b]`, the set of quantiles, is at most :math:`D`
under two conditions: residuals up to :math:`(v + D) / \nu` have at least the required weight, and residuals below
:math:`(v - D) / \nu` have at most that weight.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.ensembles.losses import derivatives, gradient_terms, loss_values
from surefit.checks.ensembles.routes import BoostedTree, add_steps, leaves_of
from surefit.core.partitioned import Part, row_draws, rows_of_part, weights_in
from surefit.core.sample import read_target
from surefit.core.threads import map_blocks

ROWS = 8192  # in a block, few enough to stay in the cache
STEPS = 62  # number of distances in the second pass, each twice the previous one


class Setting(NamedTuple):
    """Data that a partition needs: the problem, the trees, and how to read its rows."""

    problem: dict[str, Any]
    classes: np.ndarray | None
    held_out: tuple[int, float] | None  # seed and share
    start: np.ndarray
    checked: tuple[BoostedTree, ...]  # trees whose leaves are recomputed
    rest: BoostedTree  # concatenated nodes of the other trees
    starts: np.ndarray
    bins: tuple[np.ndarray, np.ndarray]
    threads: int

    @property
    def quantile(self) -> float | None:
        """Level of the residual quantile that leaves contain, or None for Newton steps."""
        return {"absolute_error": 0.5, "quantile": self.problem["parameter"]}.get(self.problem["loss"])


class Loss(NamedTuple):
    """Weighted sums of the loss, of its absolute value, and of its rounding errors."""

    total: float
    size: float
    doubt: float


class Rounds(NamedTuple):
    """Sums over the training rows."""

    parts: int  # number of blocks of rows whose sums were added
    rows: int
    weight: float
    before: Loss
    after: Loss
    leaves: tuple[np.ndarray, ...]  # for each recomputed tree: sums of g, its terms, h, |h| by node
    residuals: np.ndarray  # for each recomputed tree with quantiles: the largest absolute residual
    slips: np.ndarray  # for each recomputed tree: the largest rounding error of a score before it


class Sample(NamedTuple):
    """Training rows of a partition."""

    columns: np.ndarray  # X transposed
    y: np.ndarray
    s: np.ndarray


def read_rows(part: Part, setting: Setting, *mask: np.ndarray) -> Sample:
    """Return the training rows: those of positive weight that were not held out."""
    assert part.y is not None
    y, s = read_target(part.y), weights_in(part)
    if setting.classes is not None:
        codes = np.searchsorted(setting.classes, y)
        y, s = codes.astype(np.float64), s * np.asarray(setting.problem["class_weights"])[codes]
    used = s > 0
    if mask:
        used &= mask[0] == 1
    elif setting.held_out is not None:
        seed, share = setting.held_out
        used &= row_draws(part.start, len(s), seed)[:, 0] >= share
    X = np.asarray(part.X) if used.all() else np.asarray(part.X)[used]
    return Sample(np.ascontiguousarray(X.T, dtype=np.float64), np.asarray(y, dtype=np.float64)[used], s[used])


def repeat(part: Part, setting: Setting, *mask: np.ndarray) -> Rounds:
    """Return the sums over a partition: by leaf for the first rounds, and the loss of all rounds."""

    def block(start: int, stop: int) -> Rounds:
        return _repeat(rows_of_part(part, start, stop), setting, *(marks[start:stop] for marks in mask))

    return reduce(both, map_blocks(block, len(part.X), ROWS, setting.threads))


def _repeat(part: Part, setting: Setting, *mask: np.ndarray) -> Rounds:
    sample, problem = read_rows(part, setting, *mask), setting.problem
    z, K = np.tile(setting.start[:, None], (1, len(sample.y))), len(setting.start)
    size, leaves, residuals, slips = np.abs(z), [], [], []
    before = _loss(problem, sample, z, size, 1)
    for first in range(0, len(setting.checked), K):
        g, h = derivatives(problem, sample.y, z)
        slips += [gamma(first // K + 1) * float(np.max(size, initial=0.0))] * len(setting.checked[first : first + K])
        for k, tree in enumerate(setting.checked[first : first + K]):
            leaf = leaves_of(sample.columns, tree, setting.bins)
            if setting.quantile is None:
                parts = (g[k], gradient_terms(problem, g[k], h[k]), h[k], np.abs(h[k]))
                leaves.append(np.array([np.bincount(leaf, sample.s * part, len(tree.feature)) for part in parts]))
            else:
                residuals.append(float(np.max(np.abs(sample.y - z[k]), initial=0.0)))
            step = tree.value[leaf]
            z[k] += step
            size[k] += np.abs(step)
    add_steps(sample.columns, setting.rest, setting.starts, setting.bins, z, size)
    after = _loss(problem, sample, z, size, len(setting.checked) + len(setting.starts) - 1)
    weight = _total(sample.s)
    return Rounds(1, len(sample.y), weight, before, after, tuple(leaves), np.array(residuals), np.array(slips))


def both(a: Rounds, b: Rounds) -> Rounds:
    """Add the sums of two partitions."""
    return Rounds(
        a.parts + b.parts,
        a.rows + b.rows,
        a.weight + b.weight,
        Loss(*(x + y for x, y in zip(a.before, b.before, strict=True))),
        Loss(*(x + y for x, y in zip(a.after, b.after, strict=True))),
        tuple(x + y for x, y in zip(a.leaves, b.leaves, strict=True)),
        np.maximum(a.residuals, b.residuals),
        np.maximum(a.slips, b.slips),
    )


def _loss(problem: dict[str, Any], sample: Sample, z: np.ndarray, size: np.ndarray, terms: int) -> Loss:
    """Return the sum of the loss, and its rounding from the scores and from the loss itself."""
    value, (g, h) = loss_values(problem, sample.y, z), derivatives(problem, sample.y, z)
    off = gamma(terms + 4) * size
    each = np.sum(np.abs(g) * off + np.abs(h) * off**2, axis=0) * 1.01
    largest = np.max(np.abs(z), axis=0)
    scale = np.abs(value) + np.abs(sample.y) * (1 + largest) + largest + 1
    above = 1 + gamma(len(value) + 2)  # rounding of a product and of a sum of positive terms
    return Loss(
        _total(sample.s * value),
        above * float(np.sum(sample.s * np.abs(value))),
        above * float(np.sum(sample.s * (each + 64 * UNIT * scale))),
    )


def _total(terms: np.ndarray) -> float:
    """Return the sum, rounded once; one rounded product is that of equal terms."""
    if len(terms) and np.all(terms == terms[0]):
        return float(terms[0]) * len(terms)
    return math.fsum(terms.tolist())


def mean_loss(loss: Loss, weight: float, parts: int) -> tuple[float, float]:
    """Return the mean loss and its rounding, for sums over ``parts`` blocks of rows."""
    found = loss.total / weight
    joined = gamma(parts) * (loss.size / weight + abs(found))
    return found, loss.doubt / weight * (1 + gamma(parts + 4)) + 4 * UNIT * abs(found) + joined


def newton_distance(
    tree: BoostedTree, sums: np.ndarray, terms: int, slip: float, problem: dict[str, Any], least: float
) -> tuple[float, float]:
    """Return the largest distance of a leaf from its Newton step, and its rounding, for sums of ``terms`` terms.

    Scores with an error up to ``slip`` change the sums of both derivatives by at most twice the slip times the second one
    (of a softmax: by all scores of a row).
    """
    own = tree.feature < 0
    G, A, H, C = sums[:, own]
    below = H + problem["l2"] + least
    step = -G / below
    best = np.clip(step, tree.low[own], tree.high[own])
    # relative rounding of the sums; derivatives are accurate to some units in the last place
    ratio, moved = 2 * gamma(terms + 32), 2.02 * slip * C
    with np.errstate(over="ignore", invalid="ignore"):
        room = np.maximum(below - ratio * C - moved, least / 2)
        rounding = problem["rate"] * (ratio * (A + np.abs(step) * (C + below)) + moved * (1 + np.abs(step))) / room
    distance = np.abs(tree.value[own] - problem["rate"] * best)
    return float(np.max(distance)), float(np.max(rounding)) + 4 * UNIT * float(np.max(np.abs(tree.value[own])))


class Sides(NamedTuple):
    """For each node: row count, weight, and weights of residuals up to and below thresholds at growing distances."""

    rows: np.ndarray
    weight: np.ndarray
    upto: np.ndarray  # (nodes, distances)
    under: np.ndarray


def thresholds(tree: BoostedTree, rate: float, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the residuals that correspond to a leaf value increased, and decreased, by each distance."""
    return (tree.value[:, None] + distances) / rate, (tree.value[:, None] - distances) / rate


def weigh_sides(
    part: Part, setting: Setting, distances: tuple[np.ndarray, ...], *mask: np.ndarray
) -> tuple[Sides, ...]:
    """Return the weights on both sides of all leaf values of the recomputed trees in a partition, for one score."""
    sample, found = read_rows(part, setting, *mask), []
    z = np.full(len(sample.y), setting.start[0])
    for tree, away in zip(setting.checked, distances, strict=True):
        leaf, r, m = leaves_of(sample.columns, tree, setting.bins), sample.y - z, len(tree.feature)
        above, below = thresholds(tree, setting.problem["rate"], away)
        upto, under = np.zeros((m, STEPS + 1)), np.zeros((m, STEPS + 1))
        order = np.argsort(leaf, kind="stable")
        nodes, starts = np.unique(leaf[order], return_index=True)
        for node, rows in zip(nodes, np.split(order, starts[1:]), strict=True):
            places = np.searchsorted(above[node], r[rows]), np.searchsorted(-below[node], -r[rows])
            upto[node], under[node] = (np.bincount(place, sample.s[rows], STEPS + 1) for place in places)
        upto, under = np.cumsum(upto, axis=1)[:, :-1], np.cumsum(under[:, ::-1], axis=1)[:, ::-1][:, 1:]
        found.append(Sides(np.bincount(leaf, minlength=m), np.bincount(leaf, sample.s, m), upto, under))
        z += tree.value[leaf]
    return tuple(found)


def quantile_distance(tree: BoostedTree, sides: Sides, distances: np.ndarray, setting: Setting, parts: int) -> float:
    """Return a bound on the distance of every leaf from the quantiles of its residuals."""
    assert setting.quantile is not None
    above, below = thresholds(tree, setting.problem["rate"], distances)
    low, high = tree.low[:, None], tree.high[:, None]
    room = np.array([gamma(int(rows) + parts + 4) + 1e-14 for rows in sides.rows]) * sides.weight
    wanted = setting.quantile * sides.weight
    near = ((sides.upto >= (wanted - room)[:, None]) | (high <= above)) & (low <= above)
    near &= ((sides.under <= (wanted + room)[:, None]) | (low >= below)) & (high >= below)
    first = np.where(near.any(axis=1), np.argmax(near, axis=1), STEPS)
    return float(np.max(np.append(distances, math.inf)[first], initial=0.0, where=sides.rows > 0))
