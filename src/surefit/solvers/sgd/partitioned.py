"""Stochastic gradient descent on rows in partitions: a pass processes one partition after another, each row by row.

The order of the partitions depends only on the seed and the pass. The order of the rows also depends on the index of
the first row of their partition. Without shuffling, rows are processed in their original order, as in memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.partitioned import Part, PartitionedRows
from surefit.core.sample import read_target
from surefit.problems.labels import class_codes
from surefit.solvers.sgd.order import MOST_COPIES, plan_visits
from surefit.solvers.sgd.passes import Walk
from surefit.solvers.sgd.rows import rows_to_visit


class Weights(NamedTuple):
    """Properties of all sample weights that every partition needs."""

    whole: bool  # few repetitions
    mean: float  # mean of the positive weights
    visits: int  # number of steps of a pass


class Setting(NamedTuple):
    """Data that a partition needs in addition to the state of the descent."""

    problem: dict[str, Any]  # classes and their weights
    loss: Any
    penalty: tuple[float, float]
    intercept: bool
    average: int
    shuffle: bool
    weights: Weights


class State(NamedTuple):
    """One problem: its number, the state of its descent, and the sum of the losses before each step of the pass."""

    number: int
    walk: dict[str, np.ndarray]
    total: float


def weigh(rows: PartitionedRows) -> Weights:
    """Return the weight properties that decide whether rows are repeated or their steps scaled."""
    if not rows.weighted:
        return Weights(True, 1.0, rows.shape[0])
    odd, total, positive, most = rows.map_reduce(_weigh, combine=_heavier)
    whole = odd == 0 and most <= MOST_COPIES
    return Weights(whole, total / positive, int(total) if whole else int(positive))


def _weigh(part: Part) -> tuple[int, float, int, float]:
    assert part.weights is not None
    w = part.weights
    return int(np.sum(w != np.rint(w))), float(np.sum(w)), int(np.sum(w > 0)), float(np.max(w))


def _heavier(a: Any, b: Any) -> Any:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], max(a[3], b[3])


def advance(part: Part, states: list[State], setting: Setting, rules: list[Any], seeds: list[list[int]]) -> list[State]:
    """Process the rows of a partition once for each problem."""
    rows, y = rows_to_visit(part.X), read_target(part.y)
    classes, lengths = setting.problem.get("classes"), np.ones(len(y))
    codes = None if classes is None else class_codes(y, classes)
    keys = np.asarray(y if codes is None else codes, dtype=np.float64)
    order = plan_visits(rows, keys, part.X.shape[1], None, setting.shuffle).order
    if part.weights is not None:
        order = order[part.weights[order] > 0]
        if setting.weights.whole:
            order = np.repeat(order, part.weights[order].astype(np.int64))
        else:
            lengths = part.weights / setting.weights.mean
    if codes is not None:
        lengths = lengths * np.asarray(setting.problem["class_weights"])[codes]
    found = []
    for state, rule, seed in zip(states, rules, seeds, strict=True):
        walk, visits = Walk.resume(state.walk, setting.average, setting.penalty[0]), order.copy()
        if setting.shuffle:
            np.random.default_rng([*seed, part.start]).shuffle(visits)
        positive = 1 if classes is None or len(classes) == 2 else state.number
        target = keys if codes is None else np.where(codes == positive, 1.0, -1.0)
        total = walk.go(rows, visits, target, lengths, setting.loss, rule, setting.penalty, setting.intercept)
        found.append(State(state.number, walk.state, state.total + float(total)))
    return found


def partition_order(rows: PartitionedRows, seed: list[int] | None) -> list[int]:
    """Return the indices of the non-empty partitions, in order or, with a seed, in random order."""
    used = np.array([i for i, length in enumerate(rows.lengths) if length > 0])
    return (used if seed is None else np.random.default_rng(seed).permutation(used)).tolist()
