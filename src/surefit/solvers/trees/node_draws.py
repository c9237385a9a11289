"""Random numbers of a node, which depend on the seed of its tree and on its path from the root alone.

A node has a state of 64 bits and the stream of splitmix64 from there. The state of the root is number 0 of the stream from the seed;
numbers -1 and -2 of a node are the states of its left and right child. Of d columns, numbers 1 to d order the columns, and the next d are
random cuts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def numbers(states: Any, first: int, count: int) -> np.ndarray:
    """Return ``count`` numbers of the stream from each state, beginning with number ``first``, one line per state."""
    places = np.arange(first, first + count, dtype=np.int64).astype(np.uint64)
    z = np.asarray(states, dtype=np.uint64).reshape(-1, 1) + np.uint64(GOLDEN) * places
    z = (z ^ (z >> np.uint64(30))) * np.uint64(FIRST)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(SECOND)
    return z ^ (z >> np.uint64(31))


def root_state(seed: int) -> int:
    """Return the state of the root."""
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
    [[4, 3, 2, 0, 1]]
    """
    return np.argsort(numbers(states, 1, d), axis=1, kind="stable")


def cut_shares(states: Any, d: int) -> np.ndarray:
    """Return a uniform random number per node and column, which places its random cut."""
    return (numbers(states, d + 1, d) >> np.uint64(11)) / 2.0**53
