"""Repetition of the columns and random cuts that the nodes of a tree draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.checks.ensembles.forest_parts import Grown
from surefit.checks.trees.nodes import LEAF
from surefit.core.certificate import Certificate


class DrawnCuts:
    """Repeated draws of the columns and random cuts of a tree; the path of a node determines its splitmix64 stream."""

    def __init__(self, certificate: Certificate, grown: Grown, seed: int, edges: np.ndarray, random: bool) -> None:
        d = len(edges)
        self.d, self.random, self.wanted = d, random, int(certificate.problem["columns_of_a_split"])
        self.centers = _centers(edges) if random else edges
        size = int(certificate.problem["columns_of_a_tree"])
        self.allowed = np.arange(d) if not size else np.random.RandomState(seed).choice(d, size, replace=False)
        self.states = np.zeros(len(grown.parent), dtype=np.uint64)
        self.states[0] = _stream(np.array([seed], dtype=np.uint64), 0)[0]
        for level in range(int(grown.depth.max())):
            nodes = np.flatnonzero((grown.depth == level) & (grown.tree.kind != LEAF))
            for k, children in ((-1, grown.tree.left), (-2, grown.tree.right)):
                self.states[children[nodes]] = _stream(self.states[nodes], k)

    def columns(self, node: int, table: np.ndarray) -> np.ndarray:
        """Return the columns that a node considers: the first ones drawn that are not constant at the node."""
        varied = np.count_nonzero(table[: self.d, :, 0], axis=1) > 1
        keys = _stream(np.repeat(self.states[node], self.d), np.arange(1, self.d + 1))
        order = np.arange(self.d) if self.wanted >= self.d else np.argsort(keys, kind="stable")
        return order[varied[order] & np.isin(order, self.allowed)][: self.wanted]

    def places(self, node: int, table: np.ndarray, columns: np.ndarray) -> np.ndarray | None:
        """Return the last bin left of the random cut of each column, or None if all cuts are considered.

        A cut is uniform between the centers of the lowest and the highest bin of the node.
        """
        if not self.random:
            return None
        numbers = _stream(np.repeat(self.states[node], len(columns)), self.d + 1 + columns)
        shares = (numbers >> np.uint64(11)).astype(np.float64) / 2.0**53
        there = table[columns, :-1, 0] > 0
        low, high = np.argmax(there, axis=1), there.shape[1] - 1 - np.argmax(there[:, ::-1], axis=1)
        own, k = self.centers[columns], np.arange(len(columns))
        with np.errstate(over="ignore", invalid="ignore"):
            cuts = own[k, low] + shares * (own[k, high] - own[k, low])
        inner = np.arange(own.shape[1])[None] < high[:, None]
        last = np.maximum(np.count_nonzero((own <= cuts[:, None]) & inner, axis=1) - 1, low)
        uniform = low + (shares * (high - low)).astype(np.int64)  # over bins, if differences overflow
        return np.where(low < high, np.where(np.isfinite(cuts), last, uniform), high)


def _centers(edges: np.ndarray) -> np.ndarray:
    """Return the middle of each bin; of the first and the last bin, the only edge."""
    below = np.column_stack([edges[:, :1], edges])
    above = np.column_stack([edges, np.full(len(edges), np.inf)])
    with np.errstate(invalid="ignore"):
        return below / 2.0 + np.where(np.isinf(above), below, above) / 2.0


def _stream(state: np.ndarray, k: Any) -> np.ndarray:
    """Return the ``k``-th number of the splitmix64 stream that starts from each state."""
    z = state + np.asarray(k, dtype=np.int64).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return z ^ (z >> np.uint64(31))
