"""Labeled rows in exact integer arithmetic."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.integers import integers, lifted_integers, signs
from surefit.separation.exact import null_space, primitive


class Block(NamedTuple):
    """Some lifted rows as integers; ``rows[i][j] * 2**exponents[j]`` is the entry of column ``columns[j]``."""

    rows: list[list[int]]
    columns: np.ndarray
    exponents: list[int]


class SignedRows(NamedTuple):
    """Rows ``t (x, 1)``, or ``t x`` without an intercept."""

    X: Any
    t: np.ndarray
    intercept: bool

    @property
    def dimension(self) -> int:
        """Length of a direction."""
        return self.X.shape[1] + int(self.intercept)

    def lifted(self, chosen) -> Block:
        """Return some rows as integers, without the columns that are zero in all of them."""
        return Block(*lifted_integers(self.X[chosen], self.t[chosen], self.intercept))

    def signs(self, v: list[int]) -> np.ndarray:
        """Return the exact signs of the products of all rows with ``v``."""
        return signs(self.X, v, self.intercept)[0] * self.t.astype(np.int8)

    def in_data_coordinates(self, y: list[int], block: Block) -> list[int]:
        """Return the direction of the data that acts on the rows as ``y`` acts on the integers of ``block``."""
        highest = max(block.exponents, default=0)
        v = [0] * self.dimension
        for j, entry, exponent in zip(block.columns.tolist(), y, block.exponents, strict=True):
            v[j] = entry << (highest - exponent)
        return primitive(v)

    def null_space(self, chosen) -> list[list[int]]:
        """Return a basis of the directions that vanish on the chosen rows."""
        block = self.lifted(chosen)
        vectors = [self.in_data_coordinates(y, block) for y in null_space(block.rows, len(block.columns))]
        absent = np.setdiff1d(np.arange(self.dimension), block.columns)
        return vectors + [[int(i == j) for i in range(self.dimension)] for j in absent.tolist()]

    def worst(self, v: list[int], among: np.ndarray, count: int) -> list[int]:
        """Return some of the rows most violated by ``v``, in floats; the choice affects only the number of steps."""
        floats = rounded(v)
        block = self.X[among]
        with np.errstate(all="ignore"):
            scores = np.asarray(block @ floats[: block.shape[1]]).ravel() + (floats[-1] if self.intercept else 0.0)
        return among[np.argsort(self.t[among] * scores, kind="stable")[:count]].tolist()


def rounded(v: list[int]) -> np.ndarray:
    """Return a direction as floats, with the largest absolute entry between 1/2 and 1."""
    size = max(abs(entry) for entry in v).bit_length()
    return np.array([entry / (1 << size) for entry in v])


def direction_from_floats(rows: SignedRows, w: np.ndarray, b: float) -> list[int]:
    """Return ``(w, b)`` as integers, with ``b`` moved halfway between the classes if they do not overlap."""
    if not (np.all(np.isfinite(w)) and np.isfinite(b)):
        return [0] * rows.dimension
    if not rows.intercept:
        return integers(w)[0]
    scores = np.asarray(rows.X @ w).ravel()
    above, below = np.min(scores[rows.t > 0]), np.max(scores[rows.t < 0])
    return integers(np.append(w, -(above / 2 + below / 2) if above > below else b))[0]


def shortened(rows: SignedRows, v: list[int]) -> list[int]:
    """Round a direction with long integers to floats if this does not change a sign."""
    short = integers(rounded(v))[0]
    return primitive(short) if np.array_equal(rows.signs(short), rows.signs(v)) else v


def as_witness(v: list[int]) -> np.ndarray:
    """Write integers as floats if all of them are exact (up to a power of two), else as text."""
    floats = rounded(v)
    if primitive(integers(floats)[0]) == primitive(v):
        return floats
    return np.array([str(entry) for entry in v])
