"""Random numbers of a node, which depend only on the seed of its tree and on its path from the root.

A node has a state of 64 bits, from which a splitmix64 stream starts. The state of the root is number 0 of the stream
that starts from the seed. Numbers -1 and -2 of the stream of a node are the states of its left and right child. With d
columns, numbers 1 to d determine the order in which the columns are drawn, and the next d numbers determine the random
cuts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def numbers(states: Any, first: int, count: int) -> np.ndarray:
    """Return ``count`` numbers of the stream of each state, beginning with number ``first``, one row per state."""
    places = np.arange(first, first + count, dtype=np.int64).astype(np.uint64)
    z = np.asarray(states, dtype=np.uint64).reshape(-1, 1) + np.uint64(GOLDEN) * places
    z = (z ^ (z >> np.uint64(30))) * np.uint64(FIRST)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(SECOND)
    return z ^ (z >> np.uint64(31))


def root_state(seed: int) -> int:
    """Return the state of the root of the tree with this seed."""
    return int(numbers([seed], 0, 1)[0, 0])


def child_states(states: Any) -> np.ndarray:
    """Return the states of the left and the right child of each node, (nodes, 2)."""
    return numbers(states, -2, 2)[:, ::-1]


def column_orders(states: Any, d: int) -> np.ndarray:
    """Return the columns in the order in which each node draws them, (nodes, d).

    Examples
    --------
    >>> from surefit.solvers.trees.node_draws import column_orders, root_state
    >>> column_orders([root_state(3)], 5).tolist()
    [[2, 1, 4, 0, 3]]
    """
    return np.argsort(numbers(states, 1, d), axis=1, kind="stable")


def cut_shares(states: Any, d: int) -> np.ndarray:
    """Return uniform random numbers per node and column, which determine the random cuts."""
    return (numbers(states, d + 1, d) >> np.uint64(11)) / 2.0**53
