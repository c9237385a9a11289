"""Checks of the splits of forests with draws by row index and node path; the checker repeats the draws of columns and cuts."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import Enclosed, gamma
from surefit.checks.ensembles.drawn_cuts import DrawnCuts
from surefit.checks.ensembles.forest_parts import Grown, Members, grown_trees, members_of, refusal
from surefit.checks.judge import AtMost, Proof, claim, refused
from surefit.checks.trees.candidates import (
    MOST_BYTES,
    Asked,
    bin_ranges,
    bins_of,
    fill,
    shortfall,
    stated_candidates,
    wider,
)
from surefit.checks.trees.impurity import by_difference, counts_radius, falls, of_counts
from surefit.checks.trees.nodes import LEAF, route
from surefit.checks.trees.splits import LEAST_WORK, OVERHEAD, SHARE
from surefit.checks.trees.spread import over_parts
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.partitioned import Part
from surefit.core.sample import Data
from surefit.problems.trees import stopping_rules


def _why_not(certificate: Certificate, data: Data) -> str:
    by_path = certificate.problem.get("drawn_by_index")
    return refusal(certificate, data) if by_path else "columns were not drawn by the paths of the nodes"


def _rules(certificate: Certificate, grown: Grown, classes: int) -> dict[str, Any]:
    """Return the stopping rules of a tree; fractions are relative to the rows that it drew."""
    return stopping_rules(certificate.problem["stopping"], int(grown.size[0]), float(grown.weight(classes)[0]))


def _says(claim: Claim) -> str:
    z = claim.numbers
    which = "all" if z["compared"] == z["splits"] else f"{z['compared']} of"
    cut = "other random cut" if z["random"] else f"cut at one of the {z['candidates']} candidate thresholds"
    words = f"At {which} {z['splits']} splits of {z['trees']} trees no {cut} of the {z['drawn']} columns that a node draws lowers the "
    words += f"impurity more by over {claim.value:.2g} of the impurity at the root"
    return f"{words}; the thresholds separate all values in {z['complete']} of {z['columns']} columns."


@claim(
    "forest.candidate_splits",
    kind="process_fact",
    side="upper",
    theory="tree-splits",
    partitioned=True,
    about="every split, given its node, the columns drawn there and the candidate thresholds",
    says=_says,
)
def candidate_splits(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Repeat the draws of columns and bound by how much any candidate cut is better than the split, from sums by bin."""
    why = _why_not(certificate, data)
    if why:
        return refused(why)
    members, trees, d = members_of(certificate, data), grown_trees(certificate, data), data.X.shape[1]
    edges, counts = stated_candidates(claim, d)
    chosen = _chosen(
        trees, data.X.shape[0], 8 * (d + 1) * (edges.shape[1] + 2) * (1 + (members.reading.n_classes or 3))
    )
    sums = over_parts(
        data, _binned, members, [_asked(g, own, edges, members) for g, own in zip(trees, chosen, strict=True)]
    )
    share = spread = 0.0
    first, random = 0, bool(claim.witness["random_cuts"])
    for t, (grown, nodes) in enumerate(zip(trees, chosen, strict=True)):
        tables, first = sums[first : first + len(nodes)], first + len(nodes)
        drawn = DrawnCuts(certificate, grown, members.seeds[t], edges, random)
        worst, doubt = _worst(certificate, members, grown, nodes, tables, drawn)
        unit, radius = _root_impurity(grown, members)
        own, rounding = (min(part / unit if unit > 0 else float(part > 0), 1.0) for part in (worst, doubt))
        rounding = rounding + own * 2 * radius / unit if 0 < own < 1 else 0.0
        share, spread = max(share, own), max(spread, rounding)
    low, high = over_parts(data, bin_ranges, edges, members.reading, combine=wider)
    numbers = {
        "splits": sum(int(np.count_nonzero(grown.tree.kind != LEAF)) for grown in trees),
        "compared": sum(map(len, chosen)),
        "trees": len(trees),
        "candidates": int(counts.sum()),
        "random": random,
        "drawn": _n_drawn(certificate, d),
        "complete": int(np.count_nonzero(np.all((low == high) | (low > high), axis=1))),
        "columns": d,
    }
    return Proof(
        share, note=f"{numbers['compared']} splits compared with the cuts drawn.", numbers=numbers, spread=spread
    )


def _n_drawn(certificate: Certificate, d: int) -> int:
    problem = certificate.problem
    return int(problem["columns_of_a_tree"] or min(problem["columns_of_a_split"], d))


def _chosen(trees: list[Grown], n: int, size: int) -> list[np.ndarray]:
    """Return the splits of each tree to compare: all, or a random sample with a fixed seed if the work or memory would be too large."""
    inner = [np.flatnonzero(grown.tree.kind != LEAF) for grown in trees]
    work = np.concatenate([(grown.size + OVERHEAD)[own] for grown, own in zip(trees, inner, strict=True)]).astype(float)
    allowed = max(LEAST_WORK, SHARE * n * len(trees))
    order = np.random.RandomState(0).permutation(len(work))
    kept = order[: max(1, int(np.searchsorted(np.cumsum(work[order]), allowed, side="right")))][
        : max(1, MOST_BYTES // size)
    ]
    marks = np.zeros(len(work), dtype=bool)
    marks[kept] = True
    parts = np.split(marks, np.cumsum([len(own) for own in inner])[:-1])
    return [own[part] for own, part in zip(inner, parts, strict=True)]


def _asked(grown: Grown, nodes: np.ndarray, edges: np.ndarray, members: Members) -> Asked:
    place, center = np.full(len(grown.parent), -1), np.zeros(len(grown.parent))
    place[nodes] = np.arange(len(nodes))
    if members.criterion == "squared_error":
        center = grown.sums[2] / grown.sums[1] + members.center
    return Asked(grown.tree, grown.parent, place, center, edges)


def _binned(part: Part, members: Members, asked: list[Asked]) -> np.ndarray:
    """Return the sums over the rows of the selected nodes of all trees, by column and bin."""
    sample, edges, classes = (
        members.reading.rows(part._replace(weights=None)),
        asked[0].edges,
        members.reading.n_classes,
    )
    codes, found = bins_of(sample._replace(used=np.arange(len(sample.X))), edges), []
    for t, own in enumerate(asked):
        sums = np.zeros((int(own.place.max()) + 1, len(edges) + 1, edges.shape[1] + 2, 1 + (classes or 3)))
        found.append(sums)
        if len(sums):
            w = sample.w * members.weights(part, t)
            rows = np.flatnonzero(w > 0)
            fill(
                codes[rows], route(sample.X, rows, own.tree), sample.y[rows].astype(float), w[rows], own, classes, sums
            )
    return np.concatenate(found)


def _worst(
    certificate: Certificate, members: Members, grown: Grown, nodes: np.ndarray, tables: np.ndarray, drawn: DrawnCuts
) -> tuple[float, float]:
    """Bound by how much the selected splits of a tree fall short of the best cut of their node; return the rounding error too."""
    classes, worst, doubt, size = members.reading.n_classes, 0.0, 0.0, grown.size
    rules = {**_rules(certificate, grown, classes), "criterion": members.criterion}
    for node, table in zip(nodes.tolist(), tables, strict=True):
        columns = drawn.columns(node, table)
        if grown.tree.feature[node] not in columns:
            raise ValueError(f"node {node} splits a column that it did not draw")
        places = drawn.places(node, table, columns)
        lines = np.append(columns, drawn.d)
        short, rounding = shortfall(int(size[node]), grown.whole, table[lines], rules, classes, places)
        worst, doubt = max(worst, short), max(doubt, rounding)
    return worst, doubt


def _root_impurity(grown: Grown, members: Members) -> tuple[float, float]:
    """Return a lower bound on the total impurity of the root, the unit of all shortfalls, and its rounding error."""
    sums, n = grown.sums[:, 0], int(grown.size[0])
    ratio = gamma(n + len(grown.parent) + 8)
    if members.reading.n_classes:
        total = float(of_counts(sums[1:, None], members.criterion)[0])
        radius = float(sums[1:].sum()) * counts_radius(grown.whole, members.reading.n_classes, n + len(grown.parent))
    elif members.criterion == "squared_error":
        weight, moment, size, square = sums[1:5].tolist()
        total, error = square - moment**2 / weight, ratio * size
        radius = 4 * ratio * (square + moment**2 / weight) + (2 * abs(moment) * error + error**2) / weight * (
            1 + 4 * ratio
        )
    else:
        weight, moment, _, logs, sizes = sums[1:6].tolist()
        if moment == 0:  # no drawn target is positive
            return 0.0, 0.0
        mean = moment / weight
        total = logs - moment * math.log(mean)
        radius = 8 * ratio * (sizes + moment * (abs(math.log(mean)) + 1))
    return max(total - radius, 0.0), radius


class _Limits(NamedTuple):
    """Violations of the stopping rules by one tree, its smallest leaf, and missing weight or gain with the rounding error."""

    broken: int
    smallest: int
    missing: float
    rounding: float


@claim(
    "forest.limits",
    kind="process_fact",
    side="exact",
    theory="tree-splits",
    partitioned=True,
    says="{trees} trees of depth {depth} at most have {leaves} leaves with at least {smallest} rows each: {value:.0f} nodes violate a "
    "limit on depth, rows or leaves, and none misses a required weight or gain by more than {missing:.2g} of the root's.",
)
def limits(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Count the nodes that violate a limit; bound by how much required weights and gains are missed, including rounding."""
    why = _why_not(certificate, data)
    if why:
        return refused(why)
    members, trees = members_of(certificate, data), grown_trees(certificate, data)
    found = [_limited(certificate, grown, members) for grown in trees]
    numbers = {
        "trees": len(trees),
        "depth": max(int(grown.depth.max()) for grown in trees),
        "leaves": sum(int(np.count_nonzero(grown.tree.kind == LEAF)) for grown in trees),
        "smallest": min(each.smallest for each in found),
        "missing": AtMost(max(each.missing for each in found), max(each.rounding for each in found)),
    }
    broken = float(sum(each.broken for each in found))
    return Proof(broken, "exact", "draws were repeated, and the rows of all nodes counted.", numbers, limit=0.0)


def _limited(certificate: Certificate, grown: Grown, members: Members) -> _Limits:
    classes = members.reading.n_classes
    rules, inner, size = _rules(certificate, grown, classes), grown.tree.kind != LEAF, grown.size
    leaves = int(np.count_nonzero(~inner))
    broken = int(np.count_nonzero(grown.depth > rules["max_depth"]))
    broken += int(np.count_nonzero(size[inner] < rules["min_samples_split"]))
    broken += int(np.count_nonzero(size[1:] < rules["min_samples_leaf"]))
    broken += int(0 < rules["max_leaf_nodes"] < leaves)
    missing = rounding = 0.0
    weight, ratio = grown.weight(classes), gamma(int(size[0]) + len(size) + 8)
    if rules["min_weight_leaf"] > 0:
        rounding = 2 * ratio
        short = float(np.max(rules["min_weight_leaf"] - weight[1:], initial=0.0)) / float(weight[0])
        missing = max(short, 0.0) + rounding
    if rules["min_impurity_decrease"] > 0 and inner.any():
        gain, wanted = _gains(grown, members, ratio), rules["min_impurity_decrease"] * float(weight[0])
        unit = max(_root_impurity(grown, members)[0], np.finfo(float).tiny)
        own = (float(np.max(gain.rad[inner])) + ratio * wanted) / unit
        short = float(np.max((wanted - gain.mid)[inner], initial=0.0)) / unit
        missing, rounding = max(missing, short + own), rounding + own
    return _Limits(broken, int(size[~inner].min()), missing, rounding)


def _gains(grown: Grown, members: Members, ratio: float) -> Enclosed:
    """Enclose the decrease of the total impurity by each split."""
    classes, weight = members.reading.n_classes, grown.weight(members.reading.n_classes)
    if classes:
        radius = counts_radius(grown.whole, classes, int(grown.size[0]) + len(weight))
        return by_difference(grown, Enclosed(of_counts(grown.sums[1:], members.criterion), weight * radius))
    error = ratio * grown.sums[3] / weight * (1 + 4 * ratio)  # bound on the error of each mean
    fall, spread = falls(grown.parent, weight, grown.sums[2] / weight, error, ratio, members.criterion)
    return Enclosed(fall, spread * (1 + 2 * ratio) + gamma(300) * np.abs(fall))
