"""Claims about splits, each compared with all cuts of its node; for large trees a fixed sample of nodes is compared."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.judge import Proof, claim, refused, shared
from surefit.checks.trees.cuts import Limits, Node, Worth, best_categories, best_cuts, columns_of, gains_of
from surefit.checks.trees.impurity import Totals, counts_radius, of_counts, root_impurity, totals
from surefit.checks.trees.nodes import (
    LEAF,
    THRESHOLD,
    Nodes,
    Routed,
    certified_nodes,
    children_of,
    read_rows,
    trained,
    whole_weights,
)
from surefit.checks.trees.searches import CODES, Targets, best_thresholds
from surefit.checks.trees.spread import Shape, reading_of, spread_over
from surefit.core.catalog import Entry, register
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError
from surefit.core.partitioned import PartitionedRows
from surefit.core.sample import Data
from surefit.core.threads import blas_threads, map_blocks

#: Work per column and node, in units of sorting and summing one value, in addition to that of its rows.
OVERHEAD = 200
#: Work that is always allowed, and allowed work as a share of one sort of the whole table.
LEAST_WORK, SHARE = 60_000, 0.1
HEAPS = 20  # relative cost of medians
SHARED, BLOCKS = 2**17, 8  # number of values from which threads share the columns, and in how many blocks
FEW = 1024  # number of splits up to which their order is cached; callers only read it

register(
    Entry(
        "tree.random_splits",
        kind="no_claim",
        side="none",
        says="Columns or cuts were drawn at random: no split is claimed to be the best of its node.",
    )
)
register(
    Entry(
        "tree.constrained_splits",
        kind="no_claim",
        side="none",
        says="Monotonic constraints were imposed: no split is claimed to be the best of its node.",
    )
)


def sent_down(certificate: Certificate, data: Data, tree: Nodes) -> Shape:
    """Return a tree with all rows of positive weight, in memory or in partitions."""
    if isinstance(data.X, PartitionedRows):
        return spread_over(tree, data.X, reading_of(certificate, data))
    sample = read_rows(certificate, data)
    return trained(tree, sample, sample.used)


@shared
def grown(certificate: Certificate, data: Data) -> Any:
    """Return the certified tree with the rows that it was grown on."""
    if isinstance(data.X, PartitionedRows):
        if any(claim.name == "tree.reduced_error" for claim in certificate.claims):
            raise CertificateError("The rows of a reduced-error pruning are verified in memory only.")
        return sent_down(certificate, data, certified_nodes(certificate))
    sample = read_rows(certificate, data)
    names = [claim.witness["rows"] for claim in certificate.claims if claim.name == "tree.reduced_error"]
    rows = np.intersect1d(np.asarray(names[0], dtype=np.int64), sample.used) if names else sample.used
    return trained(certified_nodes(certificate), sample, rows)


@shared
def impurities(certificate: Certificate, data: Data) -> Totals:
    """Return the impurities of all nodes of the certified tree."""
    return totals(grown(certificate, data), certificate.problem["criterion"])


def _says(claim: Claim) -> str:
    z = claim.numbers
    which = "all" if z["compared"] == z["splits"] else f"{z['compared']} of"
    where = "all cuts" if z["candidates"] < 0 else f"all cuts at the {z['candidates']} allowed thresholds"
    return (
        f"At {which} {z['splits']} splits, compared with {where} of all columns at their nodes, no cut lowers the impurity more "
        f"by over {claim.value:.2g} of the root's impurity."
    )


@claim(
    "tree.splits",
    kind="optimality",
    side="upper",
    theory="tree-splits",
    about="every split, given its node",
    says=_says,
)
def splits(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that no cut of any column is better than the split of its node by more than ``value``."""
    problem = certificate.problem
    shape, found = grown(certificate, data), impurities(certificate, data)
    edges = _edges(certificate, claim, shape.sample.X.shape[1])
    if edges is not None:
        own = np.flatnonzero((shape.tree.kind == THRESHOLD) & np.isfinite(shape.tree.threshold))
        for node in own:
            if shape.tree.threshold[node] not in edges[shape.tree.feature[node]]:
                return refused(f"node {node} uses a threshold that is not among the allowed ones")
    limits = Limits(problem["min_samples_leaf"], problem["min_weight_leaf"], edges)
    nodes = chosen_nodes(shape, problem["criterion"], len(shape.sample.X))
    worst, doubt = largest_shortfall(shape, nodes, problem, limits)
    unit = root_impurity(found)  # no decrease exceeds it, so a share of 1 is vacuous
    share, spread = (min(part / unit if unit > 0 else float(part > 0), 1.0) for part in (worst, doubt))
    spread = spread + share * 2 * float(found.total.rad[0]) / unit if 0 < share < 1 else 0.0
    inner = int(np.count_nonzero(shape.tree.kind != LEAF))
    candidates = -1 if edges is None else int(sum(map(len, edges)))
    numbers = {"splits": inner, "compared": len(nodes), "candidates": candidates}
    note = f"{len(nodes)} of {inner} splits compared with all cuts at their nodes."
    return Proof(share, note=note, numbers=numbers, spread=spread)


def chosen_nodes(shape: Shape, criterion: str, n: int) -> np.ndarray:
    """Return the splits to compare: all if that is fast, otherwise a fixed random sample that the work allows."""
    inner = np.flatnonzero(shape.tree.kind != LEAF)
    d = shape.sample.X.shape[1]
    work = (shape.size + OVERHEAD)[inner] * float(d) * (HEAPS if criterion == "absolute_error" else 1)
    work = work * len(shape.outputs())
    allowed = max(LEAST_WORK, SHARE * n * d)
    if work.sum() <= allowed:
        return inner
    order = _fixed_order(len(inner)) if len(inner) <= FEW else _order(len(inner))
    kept = order[np.cumsum(work[order]) <= allowed]
    if not len(kept) and len(inner):
        kept = np.array([np.argmin(work)])
    return np.sort(inner[kept])


def _order(count: int) -> np.ndarray:
    return np.random.RandomState(0).permutation(count)


_fixed_order = lru_cache(256)(_order)  # the seed of a generator takes as long as the search for cuts at 40 small nodes


def largest_shortfall(shape: Routed, nodes: np.ndarray, problem: dict[str, Any], limits: Limits) -> tuple[float, float]:
    """Bound by how much more the best cut of a node lowers the total impurity than its split, and its rounding.

    The result is the largest over ``nodes``. All nodes are searched in one compiled pass.
    """
    sample, whole, worst, doubt = shape.sample, shape.whole, 0.0, 0.0
    if not len(nodes):
        return worst, doubt
    categorical = set(problem["categorical"])
    columns = [j for j in range(sample.X.shape[1]) if j not in categorical]
    if sample.y.ndim == 1 and not categorical and (shape.tree.kind[nodes] == THRESHOLD).all():
        if sample.n_classes:
            return _largest_of_classes(shape, nodes, problem["criterion"], limits)
        if problem["criterion"] == "squared_error":
            return _largest_of_squares(shape, nodes, limits)
    mine = [shape.of(node) for node in nodes.tolist()]
    rows = [Node(sample, each, problem["criterion"], whole) for each in mine]
    best = best_cuts(rows, sample.X[np.concatenate(mine)], columns, limits)
    for k, (node, own) in enumerate(zip(rows, mine, strict=True)):
        found = [best_categories(node, sample.X[own, j], limits, problem["multiway"]) for j in categorical]
        best[k] = max([best[k], *found])
    outputs = len(rows[0].parts)
    share = (1 + 4 * UNIT) / outputs if outputs > 1 else 1.0  # impurities are averaged over the outputs
    gains = gains_of(rows, [_sides(shape, node) for node in nodes.tolist()])
    for node, most, (low, high) in zip(rows, best, gains, strict=True):
        rounding = node.doubt
        worst = max(worst, (max(most - low, 0.0) + rounding) * share)
        doubt = max(doubt, (2 * (high - low) + 2 * rounding) * share)
    return worst, doubt


def _sides(shape: Routed, node: int) -> list[slice]:
    """Return the rows of the children of a node as ranges of its rows."""
    start, children = shape.first[node], children_of(shape, node)
    return [slice(shape.first[child] - start, shape.last[child] - start) for child in children]


class _Listed(NamedTuple):
    """Rows of several nodes in turn."""

    starts: np.ndarray  # of the rows of each node, and the end
    node: np.ndarray  # index of the node of each row
    mine: np.ndarray  # the rows
    side: np.ndarray  # twice the index, plus one on the right


def _listed(shape: Routed, nodes: np.ndarray) -> _Listed:
    sizes = shape.size[nodes]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    index = np.repeat(np.arange(len(nodes)), sizes)
    place = np.arange(starts[-1]) + (shape.first[nodes] - starts[:-1])[index]
    right = shape.tree.right[nodes][index]
    side = 2 * index + ((place >= shape.first[right]) & (place < shape.last[right]))
    return _Listed(starts, index, shape.rows[place], side)


def _largest_of_classes(shape: Routed, nodes: np.ndarray, criterion: str, limits: Limits) -> tuple[float, float]:
    """Return the same for thresholds and one target with classes, for all nodes at once."""
    sample, m, (starts, _, mine, side) = shape.sample, len(nodes), _listed(shape, nodes)
    classes: int = sample.n_classes
    w, y = sample.w[mine], sample.y[mine]
    doubts = 3 * _radii(w, starts, classes, shape.whole) * np.add.reduceat(w, starts[:-1])
    targets = Targets(y[None].astype(np.float64), w, np.array([classes]), CODES.index(criterion), 0.0, np.zeros((m, 1)))
    best = _best(sample.X[mine], starts, targets, _ratios(starts), limits)
    counts = np.bincount(side * classes + y, weights=w, minlength=2 * classes * m).reshape(-1, classes).T
    own = -of_counts(counts, criterion).reshape(m, 2).sum(axis=1)
    return float((np.maximum(best - own, 0.0) + doubts).max()), float((2 * doubts).max())


def _largest_of_squares(shape: Routed, nodes: np.ndarray, limits: Limits) -> tuple[float, float]:
    """Return the same for thresholds and squared errors of one target, for all nodes at once."""
    sample, m, (starts, index, mine, side) = shape.sample, len(nodes), _listed(shape, nodes)
    w, y, first, ratio = sample.w[mine], sample.y[mine], starts[:-1], _ratios(starts)
    total, base = np.add.reduceat(w, first), y[starts[:-1]]
    y = y - (np.add.reduceat(w * (y - base[index]), first) / total + base)[index]
    sums = np.array([w, w * y, w * np.abs(y)])
    _, left_over, size = np.add.reduceat(sums, first, axis=1)
    # The constant S^2 / W of a centered node is at most gamma^2 times its sum of squares.
    doubts = 4 * (left_over**2 + (ratio * size) ** 2) / total
    targets = Targets(y[None], w, np.array([0]), CODES.index("squared_error"), 0.0, np.zeros((m, 1)))
    best = _best(sample.X[mine], starts, targets, ratio, limits)
    sides = np.array([np.bincount(side, weights=line, minlength=2 * m) for line in sums])
    worth = Worth()
    worth.criterion, worth.classes, worth.ratio = "squared_error", 0, np.repeat(ratio, 2)
    low, high = (worth.worth(sides, sign).reshape(m, 2).sum(axis=1) for sign in (-1, 1))
    return float((np.maximum(best - low, 0.0) + doubts).max()), float((2 * (high - low) + 2 * doubts).max())


def _ratios(starts: Any) -> np.ndarray:
    """Return the relative rounding of sums over the rows of each node."""
    return np.asarray(gamma(2 * np.diff(starts) + 8))


def _best(X: np.ndarray, starts: np.ndarray, targets: Targets, ratios: np.ndarray, limits: Limits) -> np.ndarray:
    """Return the largest gain of a threshold on any column at each node; threads share the columns of many rows."""
    d, rows, weight = X.shape[1], max(limits.rows, 1), float(limits.weight)
    table, levels = columns_of(X, range(d), limits)

    def best(first: int, last: int) -> np.ndarray:
        return np.asarray(best_thresholds(table[first:last], levels[first:last], starts, targets, ratios, rows, weight))

    if X.size < SHARED:
        return best(0, d)
    return np.maximum.reduce(map_blocks(best, d, -(-d // BLOCKS), blas_threads()))


def _radii(w: np.ndarray, starts: np.ndarray, classes: int, whole: bool) -> Any:
    """Return the bounds of ``counts_radius`` for all nodes; one for all if sums of all weights are exact."""
    if whole:
        return counts_radius(True, classes, 0)
    parts = np.split(w, starts[1:-1])
    return np.array([counts_radius(whole_weights(part), classes, len(part)) for part in parts])


def _edges(certificate: Certificate, claim: Claim, d: int) -> list[np.ndarray] | None:
    """Return the allowed thresholds of each column: declared by the parameters, or bin edges from the witness."""
    declared = certificate.problem.get("thresholds")
    if declared is not None:
        return [np.asarray(line, dtype=np.float64) for line in declared]
    if not certificate.problem.get("binned"):
        return None
    counts = np.asarray(claim.witness["edge_counts"], dtype=np.int64)
    if counts.shape != (d,) or counts.min() < 0 or counts.sum() != len(claim.witness["edges"]):
        raise ValueError("the edges of the bins are not one list per column")
    lines = np.split(np.asarray(claim.witness["edges"], dtype=np.float64), np.cumsum(counts)[:-1])
    if not all(np.all(line[1:] > line[:-1]) for line in lines):
        raise ValueError("the edges of the bins are not in ascending order")
    return lines
