"""Checks of out-of-bag errors of forests with draws by row index.

One pass over the rows repeats the draws of every tree and evaluates the tree on the rows that it did not draw.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.ensembles.forest_parts import Members, members_of, refusal
from surefit.checks.judge import Proof, refused, shared
from surefit.checks.trees.nodes import route
from surefit.checks.trees.spread import over_parts
from surefit.core.certificate import Certificate
from surefit.core.partitioned import Part, exact_sum, weights_in
from surefit.core.sample import Data

ROWS = 8192  # number of rows per block when pairs of members are counted


class Tally(NamedTuple):
    """Exact sums over the rows that are out of bag for some member, and counts for pairs of members."""

    rows: int
    weight: int
    loss: int
    rounding: int
    joint: np.ndarray  # (members, members): number of rows that are out of bag for both
    lost: np.ndarray  # number of these rows that both misclassify


@shared
def tally(certificate: Certificate, data: Data) -> Tally:
    """Return the out-of-bag sums over all rows."""
    return over_parts(data, _tallied, members_of(certificate, data))


def _tallied(part: Part, members: Members) -> Tally:
    sample, M = members.reading.rows(part._replace(weights=None)), len(members.trees)
    y, w, classes = sample.y, weights_in(part), members.reading.n_classes
    total, sizes = np.zeros((2, len(w), max(classes, 1)))
    unseen, wrong = np.zeros((2, M, len(w)), dtype=bool)
    for t, tree in enumerate(members.trees):
        rows = np.flatnonzero(members.weights(part, t) == 0)
        values = tree.value[route(sample.X, rows, tree)][:, : total.shape[1]]
        total[rows] += values
        sizes[rows] += np.abs(values)
        unseen[t, rows] = True
        wrong[t, rows] = bool(classes) & (values.argmax(axis=1) != y[rows])
    heard = np.count_nonzero(unseen, axis=0)
    kept = np.flatnonzero((heard > 0) & (w > 0))
    mean, mine = total[kept] / heard[kept, None], w[kept]
    if classes:
        loss, rounding = (mean.argmax(axis=1) != y[kept]).astype(float), np.zeros(len(kept))
    else:
        off, each = mean[:, 0] - y[kept], gamma(M + 4) * sizes[kept, 0] / heard[kept]
        loss, rounding = off**2, (2 * np.abs(off) * each + each**2 + 8 * UNIT * off**2) * (1 + 8 * UNIT)
    pairs = [np.zeros((M, M)), np.zeros((M, M))]
    for start in range(0, len(w) if classes else 0, ROWS):
        for found, marks in zip(pairs, (unseen, wrong), strict=True):
            block = marks[:, start : start + ROWS].astype(float)
            found += block @ block.T
    return Tally(len(kept), exact_sum(mine), exact_sum(mine * loss), exact_sum(mine * rounding), *pairs)


def out_of_bag_in_parts(certificate: Certificate, data: Data) -> Proof:
    """Recompute the out-of-bag error: each row is predicted by the members that did not draw it."""
    why = refusal(certificate, data)
    if why or not certificate.problem["bootstrap"]:
        return refused(why or "without draws no row is out of bag")
    found = tally(certificate, data)
    if not found.rows:
        return refused("no row was left out by any member")
    value = float(Fraction(found.loss, found.weight))
    spread = float(Fraction(found.rounding, found.weight)) * (1 + 8 * UNIT) + 4 * UNIT * value
    numbers = {"rows": found.rows, "classes": bool(certificate.problem["classes"])}
    return Proof(value, "recomputed", "draws were repeated, and the other rows sent down.", numbers, spread=spread)


def unseen_losses(certificate: Certificate, data: Data, pairs: bool) -> tuple[np.ndarray, int]:
    """Return the out-of-bag error rates of members, or the joint ones of pairs, and the smallest number of out-of-bag rows."""
    found = tally(certificate, data)
    joint, lost = (found.joint, found.lost) if pairs else (np.diag(found.joint), np.diag(found.lost))
    return lost / np.maximum(joint, 1), int(joint.min())
