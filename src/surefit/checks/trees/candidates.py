"""Comparison of splits with cuts at candidate thresholds, from sums over bins that partitions can add up."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import gamma
from surefit.checks.judge import Proof, claim, refused
from surefit.checks.trees.cuts import Worth
from surefit.checks.trees.impurity import counts_radius, moment_values, root_impurity
from surefit.checks.trees.nodes import LEAF, Nodes, Rows, route
from surefit.checks.trees.splits import chosen_nodes, grown, impurities
from surefit.checks.trees.spread import Reading, Shape, over_parts, reading_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.jit import compiled
from surefit.core.partitioned import Part, by_blocks
from surefit.core.sample import Data

#: Largest number of bytes of the sums that one pass returns.
MOST_BYTES = 2**25
MISSING = 255  # bin of missing values


class Asked(NamedTuple):
    """Nodes whose rows are summed by bin, and the centers of their targets."""

    tree: Nodes
    parent: np.ndarray
    place: np.ndarray  # (m,) index of each node among the sums, -1 if it is not needed
    center: np.ndarray  # (m,)
    edges: np.ndarray  # (d, .) candidate thresholds, infinite after the last


def _says(claim: Claim) -> str:
    z = claim.numbers
    which = "all" if z["compared"] == z["splits"] else f"{z['compared']} of"
    words = f"At {which} {z['splits']} splits no cut at one of the {z['candidates']} candidate thresholds lowers the impurity more "
    words += f"by over {claim.value:.2g} of the root's impurity"
    return (
        f"{words}; the thresholds separate all values in {z['complete']} of {z['columns']} columns, "
        "where they are all cuts."
    )


@claim(
    "tree.candidate_splits",
    kind="optimality",
    side="upper",
    theory="tree-splits",
    partitioned=True,
    about="every split, given its node and the candidate thresholds",
    says=_says,
)
def candidate_splits(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that no cut at a candidate threshold is better than the split by more than ``value``."""
    problem = certificate.problem
    if problem["categorical"] or problem["criterion"] == "absolute_error":
        return refused("medians and categories are compared with all cuts")
    shape, found, reading = grown(certificate, data), impurities(certificate, data), reading_of(certificate, data)
    n, d = data.X.shape
    edges, counts = stated_candidates(claim, d)
    bins, kinds = edges.shape[1] + 2, 1 + (reading.n_classes or 3)
    nodes = chosen_nodes(shape, problem["criterion"], n)
    nodes = np.sort(np.random.RandomState(1).permutation(nodes)[: max(1, MOST_BYTES // (8 * (d + 1) * bins * kinds))])
    asked = _asked(shape, nodes, edges, problem["criterion"])
    sums = over_parts(data, sum_bins, asked, reading, len(nodes))
    worst = doubt = 0.0
    for node, table in zip(nodes.tolist(), sums, strict=True):
        short, rounding = shortfall(int(shape.size[node]), shape.whole, table, problem, reading.n_classes)
        worst, doubt = max(worst, short), max(doubt, rounding)
    unit = root_impurity(found)
    share, spread = (min(part / unit if unit > 0 else float(part > 0), 1.0) for part in (worst, doubt))
    spread = spread + share * 2 * float(found.total.rad[0]) / unit if 0 < share < 1 else 0.0
    low, high = over_parts(data, bin_ranges, edges, reading, combine=wider)
    complete = np.all((low == high) | (low > high), axis=1)
    numbers = {
        "splits": int(np.count_nonzero(shape.tree.kind != LEAF)),
        "compared": len(nodes),
        "candidates": int(counts.sum()),
        "complete": int(np.count_nonzero(complete)),
        "columns": d,
    }
    return Proof(share, note=f"{len(nodes)} splits compared with all candidates.", numbers=numbers, spread=spread)


def stated_candidates(claim: Claim, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ascending thresholds of each column, padded by infinity, and their numbers."""
    counts = np.asarray(claim.witness["edge_counts"], dtype=np.int64)
    if counts.shape != (d,) or counts.min() < 0 or counts.max() > MISSING - 1:
        raise ValueError("the candidate thresholds are not one list per column")
    lines = np.split(np.asarray(claim.witness["edges"], dtype=np.float64), np.cumsum(counts)[:-1])
    if counts.sum() != sum(map(len, lines)) or not all(np.all(line[1:] > line[:-1]) for line in lines):
        raise ValueError("the candidate thresholds are not in ascending order")
    table = np.full((d, max(int(counts.max()), 1)), np.inf)
    for line, own in zip(lines, table, strict=True):
        own[: len(line)] = line
    return table, counts


def _asked(shape: Shape, nodes: np.ndarray, edges: np.ndarray, criterion: str) -> Asked:
    place, center = np.full(len(shape.parent), -1), np.zeros(len(shape.parent))
    place[nodes] = np.arange(len(nodes))
    if criterion == "squared_error":
        middle = shape.center
        weight, moment, _ = shape.at_nodes(moment_values, middle)
        center = moment / weight + middle
    return Asked(shape.tree, shape.parent, place, center, edges)


@by_blocks
def sum_bins(part: Part, asked: Asked, reading: Reading, count: int) -> np.ndarray:
    """Return the sums of each node by column and bin; an additional column has the sums of both children."""
    sample = reading.rows(part)
    bins, classes = asked.edges.shape[1] + 2, reading.n_classes
    sums = np.zeros((count, len(asked.edges) + 1, bins, 1 + (classes or 3)))
    codes = bins_of(sample, asked.edges)
    kept = route(sample.X, sample.used, asked.tree)
    fill(codes, kept, sample.y[sample.used].astype(np.float64), sample.w[sample.used], asked, classes, sums)
    return sums


def bins_of(sample: Rows, edges: np.ndarray) -> np.ndarray:
    """Return the bin of every value of the rows of positive weight; missing values have the last bin."""
    X, last = sample.X[sample.used], edges.shape[1] + 1
    codes = np.empty(X.shape, dtype=np.int64)
    for j, line in enumerate(edges):
        codes[:, j] = np.searchsorted(line, X[:, j], side="left")
        codes[np.isnan(X[:, j]), j] = last
    return codes


@compiled
def fill(codes: Any, kept: Any, y: Any, w: Any, asked: Any, classes: Any, sums: Any) -> None:
    """Add rows to the sums of all nodes that they pass, by column and bin."""
    d = codes.shape[1]
    for i in range(len(kept)):
        below, node = -1, kept[i]
        while node >= 0:
            place = asked.place[node]
            if place >= 0:
                off = y[i] - asked.center[node]
                for j in range(d + 1):
                    at = codes[i, j] if j < d else 0 if below == asked.tree.left[node] else 1
                    own = sums[place, j, at]
                    own[0] += 1.0
                    if classes > 0:
                        own[1 + int(y[i])] += w[i]
                    else:
                        own[1] += w[i]
                        own[2] += w[i] * off
                        own[3] += w[i] * abs(off)
            below, node = node, asked.parent[node]


class _Sums(Worth):
    """Node whose cuts are evaluated from sums."""

    def __init__(self, criterion: str, classes: int, size: int, mean: float) -> None:
        self.criterion, self.classes, self.ratio, self.mean = criterion, classes, gamma(2 * size + 8), mean


def shortfall(
    n: int, whole: bool, table: np.ndarray, problem: dict[str, Any], classes: int, places: np.ndarray | None = None
) -> tuple[float, float]:
    """Bound by how much the best cut of a node with ``n`` rows lowers the impurity more than its split, and the rounding in the bound.

    Sums of ``whole`` weights are exact. Each column has one cut only if ``places`` says after which bin.
    """
    criterion, columns = problem["criterion"], table[:-1]
    split = table[-1, :2].T[1:]
    total = split.sum(axis=1)
    weight = total.sum() if classes else total[0]
    sums = _Sums(criterion, classes, n, total[1] / weight if criterion == "poisson" else 0.0)
    if classes:
        doubt = 3 * counts_radius(whole, classes, n) * weight
    elif criterion == "squared_error":  # targets are centered at the mean, up to rounding
        doubt = 4 * (total[1] ** 2 + (sums.ratio * total[2]) ** 2) / weight
    else:
        doubt = gamma(16 * n + 64) * total[1]
    best = -np.inf
    for missing_first in (False, True):
        missing = columns[:, -1:]
        order = np.concatenate([missing, columns[:, :-1]] if missing_first else [columns[:, :-1], missing], axis=1)
        left, right = np.cumsum(order, axis=1)[:, :-1], np.cumsum(order[:, ::-1], axis=1)[:, ::-1][:, 1:]
        if places is not None:
            lines = np.flatnonzero(places + missing_first < left.shape[1])  # else no row is left for the right side
            left, right = (side[lines, places[lines] + missing_first] for side in (left, right))
        best = max(best, _best(sums, left, right, problem))
    low, high = (float(np.sum(sums.worth(split, sign))) for sign in (-1, 1))
    return max(best - low, 0.0) + doubt, 2 * (high - low) + 2 * doubt


def _best(sums: _Sums, left: np.ndarray, right: np.ndarray, problem: dict[str, Any]) -> float:
    """Return an upper bound on the largest gain of the cuts with these sums on both sides."""
    rows, least = max(problem["min_samples_leaf"], 1), float(problem["min_weight_leaf"])
    allowed = (left[..., 0] >= rows) & (right[..., 0] >= rows)
    gains, room = np.zeros(np.count_nonzero(allowed)), 1 + 2 * sums.ratio
    heavy = np.ones(len(gains), dtype=bool)
    for side in (left, right):
        own = side[allowed].T[1:]
        heavy &= (own.sum(axis=0) if sums.classes else own[0]) * room >= least
        gains += sums.worth(own, 1)
        if sums.criterion == "poisson":
            gains[own[1] <= 0] = -np.inf  # a leaf must predict a positive rate
    return float(np.max(gains[heavy], initial=-np.inf))


def bin_ranges(part: Part, edges: np.ndarray, reading: Reading) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest value in each bin of each column, over rows of positive weight."""
    sample = reading.rows(part)
    d, bins = len(edges), edges.shape[1] + 2
    low, high = np.full((d, bins), np.inf), np.full((d, bins), -np.inf)
    codes, X = bins_of(sample, edges), sample.X[sample.used]
    for j in range(d):
        known = ~np.isnan(X[:, j])
        np.minimum.at(low[j], codes[known, j], X[known, j])
        np.maximum.at(high[j], codes[known, j], X[known, j])
    return low, high


def wider(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the ranges of both parts."""
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])
