"""Subtrees grown by several threads.

The rows of different nodes are different, so their subtrees can be grown at the same time, and every split depends on the rows of its
node alone: the tree has the same bits for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np

from surefit.solvers.trees import flat
from surefit.solvers.trees.nodes import NODE

LEAST = 2**18  # number of values from which a subtree is divided among threads


class Piece(NamedTuple):
    """Root of a subtree: its range of rows, its depth, and limits of its value."""

    first: int
    last: int
    depth: int
    low: float
    high: float


#: ``run(piece, few)`` returns nodes and sums of a subtree; nodes of at most ``few`` rows are not split, for the reason ``STOPPED``.
Run = Callable[[Piece, int], tuple[np.ndarray, np.ndarray]]


def grow_subtrees(run: Run, whole: Piece, d: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Grow a tree on ``d`` columns; return its nodes and sums."""
    parts: list[tuple[int, int, np.ndarray, np.ndarray]] = []
    running: dict[Future[Any], int] = {}
    count = 1
    with ThreadPoolExecutor(threads) as pool:

        def start(place: int, piece: Piece) -> None:
            rows = piece.last - piece.first
            few = rows - 1 if rows * d >= LEAST else 0  # split a large node only once
            running[pool.submit(run, piece, few)] = place

        start(0, whole)
        while running:
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                nodes, sums = done.result()
                shift = count - 1
                parts.append((running.pop(done), shift, nodes, sums))
                count += len(nodes) - 1
                for k in np.flatnonzero(nodes["reason"] == flat.STOPPED).tolist():
                    start(shift + k, Piece(*(nodes[name][k].item() for name in Piece._fields)))
    return _joined(parts, count)


def _joined(parts: list[tuple[int, int, np.ndarray, np.ndarray]], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes of all parts. Each is given with the place of its root, where its parent has a node without children."""
    nodes, sums = np.empty(count, dtype=NODE), np.empty((count, parts[0][3].shape[1]))
    for place, shift, own, own_sums in parts:  # parents come first
        places = np.arange(shift, shift + len(own))
        places[0] = place
        for name in ("left", "right"):
            own[name] = np.where(own[name] >= 0, own[name] + shift, own[name])
        nodes[places], sums[places] = own, own_sums
    return nodes, sums
