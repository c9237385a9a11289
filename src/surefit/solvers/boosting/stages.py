"""Work of a partition in gradient boosting: scores and rounded gradients stay with the binned rows; sums are returned.

A stage belongs to one round. It is computed from the stage of the previous round, so a partition whose worker died is
computed again from its rows.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.solvers.boosting.arranged import Orders, Request, Splits, histograms, leaves_of, ordered
from surefit.solvers.boosting.gradient import Tree, add_scores, leaf_sums
from surefit.solvers.boosting.histograms import Scale, quantize
from surefit.solvers.boosting.losses import gradients
from surefit.solvers.boosting.rows import Binned, Rows


class Measured(NamedTuple):
    """Weighted losses, and bounds on the derivatives and curvatures of the training rows."""

    loss: float
    steepest: float
    sharpest: float
    held_loss: float


def is_finite(measured: Measured) -> bool:
    """Whether another round can start: neither the loss nor a derivative of the training rows overflowed."""
    return bool(np.all(np.isfinite(measured[:3])))


class Stage(NamedTuple):
    """Scores of a partition before a round, shape (scores, rows), with the gradients in units of a scale."""

    learn: np.ndarray
    held: np.ndarray
    measured: Measured
    cells: np.ndarray  # (scores, rows, 2); empty before the first scale is known
    orders: Orders


class Look(NamedTuple):
    """Sums over the rows: losses, and histograms by tree."""

    measured: Measured
    found: dict[int, np.ndarray]


def begin(binned: Binned, start: np.ndarray, trees: list[list[Tree]], loss: Any) -> Stage:
    """Return the stage of a partition after the rounds so far, without rounded gradients."""
    learn, held = (np.tile(start[:, None], (1, len(rows.y))) for rows in binned)
    for round_ in trees:
        for k, tree in enumerate(round_):
            add_scores(binned.learn.words, [tree], learn[k], 1)
            add_scores(binned.held.words, [tree], held[k], 1)
    return staged(binned, loss, None, learn, held)


def rescale(binned: Binned, loss: Any, scale: Scale, stage: Stage) -> Stage:
    """Return a stage with its gradients in units of ``scale``."""
    return staged(binned, loss, scale, stage.learn, stage.held)


def advance(
    binned: Binned, loss: Any, scale: Scale, splits: list[Splits], values: list[np.ndarray], stage: Stage
) -> Stage:
    """Return the stage of a partition after one more round, with its gradients in units of ``scale``."""
    learn, held = stage.learn.copy(), stage.held.copy()
    for k, (own, value) in enumerate(zip(splits, values, strict=True)):
        learn[k] += value[_leaves(binned.learn, own, stage.orders, k)]
        held[k] += value[_leaves(binned.held, own, Orders(), k)]
    return staged(binned, loss, scale, learn, held)


def staged(binned: Binned, loss: Any, scale: Scale | None, learn: np.ndarray, held: np.ndarray) -> Stage:
    """Return the stage of a partition at given scores."""
    g, h = _like(learn)
    measured = measure(binned, loss, learn, held, g, h)
    cells = np.empty((0 if scale is None else len(learn), learn.shape[1], 2), dtype=np.int64)
    if scale is not None:
        for k, own in enumerate(cells):
            quantize(g[k], h[k], scale.gradient, scale.curvature, scale.count_bits, own)
    return Stage(learn, held, measured, cells, Orders())


def measure(binned: Binned, loss: Any, learn: np.ndarray, held: np.ndarray, g: np.ndarray, h: np.ndarray) -> Measured:
    """Return the losses at given scores; ``g`` and ``h`` receive the derivatives of the training rows."""
    held_loss = gradients(loss, binned.held.y, held, binned.held.s, *_like(held))[0] if held.size else 0.0
    rows, total = binned.learn, (0.0, 0.0, 0.0)
    if len(rows.y):
        total = gradients(loss, rows.y, learn, rows.s, g, h)
    return Measured(float(total[0]), float(total[1]), float(total[2]), float(held_loss))


def _like(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.empty_like(z), np.empty_like(z)


def look(binned: Binned, asked: dict[int, Request], stage: Stage) -> Look:
    """Return the losses of a partition, and the histograms that the trees request."""
    rows, found = binned.learn, {}
    for k, request in asked.items():
        order = ordered(rows.words, request.splits, request.nodes, stage.orders, k) if len(request.nodes) else None
        found[k] = histograms(rows.words, rows.by_row, stage.cells[k], request, order)
    return Look(stage.measured, found)


def joined(a: Look, b: Look) -> Look:
    """Add the sums of two partitions."""
    x, y = a.measured, b.measured
    largest = max(x.steepest, y.steepest), max(x.sharpest, y.sharpest)
    if math.isnan(x.steepest + y.steepest + x.sharpest + y.sharpest):
        largest = math.nan, math.nan  # max may return either of NaN and a number
    measured = Measured(x.loss + y.loss, *largest, x.held_loss + y.held_loss)
    return Look(measured, {k: own + b.found[k] for k, own in a.found.items()})


def sum_leaves(binned: Binned, loss: Any, splits: list[Splits], stage: Stage) -> tuple[np.ndarray, ...]:
    """Return the sums of gradients and curvatures over the rows of a partition in each leaf of each tree."""
    g, h = _like(stage.learn)
    measure(binned, loss, stage.learn, stage.held[:, :0], g, h)
    return tuple(
        leaf_sums(_leaves(binned.learn, own, stage.orders, k), g[k], h[k], len(own.feature))
        for k, own in enumerate(splits)
    )


def residuals(binned: Binned, splits: Splits, stage: Stage) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return residuals, weights and leaves of the rows of a partition, for one tree."""
    rows = binned.learn
    return rows.y - stage.learn[0], rows.s, _leaves(rows, splits, stage.orders, 0)


def _leaves(rows: Rows, splits: Splits, orders: Orders, tree: int) -> np.ndarray:
    return leaves_of(splits, ordered(rows.words, splits, np.zeros(0, dtype=np.int64), orders, tree))
