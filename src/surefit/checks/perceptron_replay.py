r"""Replays the log of an online perceptron in plain NumPy, every number with its radius.

The exact weights after :math:`j` updates are :math:`w_j = w_0 + \sum_{i \le j} s_i x_{r_i}` and
:math:`b_j = b_0 + \beta \sum_{i \le j} s_i`, where row :math:`r_i` was updated with the signed step :math:`s_i = a_i t_{r_i}`
and :math:`\beta = c^2` for the constant feature :math:`c`. A running float sum :math:`\hat w_j` is off by at most
:math:`u \sum_{i \le j} |\hat w_i|`; integers, and multiples of a small power of two, are multiplied and added without error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.checks.enclosure import UNIT, Enclosed, gamma, row_blocks, transposed_times

WHOLE = 2.0**51  # integers up to here are floats, with room for a few sums
GRIDS = (0, 2, 5)  # data may be multiples of 2^-g and still be added without error
ENTRIES = 2**20  # numbers a block


class Path(NamedTuple):
    """The updates of one two-class problem."""

    X: Any
    t: np.ndarray  # labels, -1 and 1
    rows: np.ndarray  # row of each update
    steps: np.ndarray  # a_j > 0 of each update
    bias_step: float  # beta
    w: np.ndarray  # weights before the first update
    b: float
    relative: float = 0.0  # relative error of the steps themselves, in units of 2^-53


class Block(NamedTuple):
    """Consecutive updates with the weights before each of them (and, last, after all of them)."""

    updates: slice
    columns: Any  # those the lines of W stand for
    D: np.ndarray  # rows of the updates
    W: np.ndarray  # one line more than D
    W_rad: np.ndarray
    b: np.ndarray
    b_rad: np.ndarray


class Replay(NamedTuple):
    """What the log says when it is replayed."""

    margins: Enclosed  # t (x'w + b) before each update
    squares: Enclosed  # |w|^2 + b^2 / beta after each update
    w: Enclosed
    b: Enclosed
    exact: bool  # integers throughout: no radius is needed


def replay(path: Path) -> Replay:
    """Replay all updates."""
    k = len(path.rows)
    mid, rad, lengths, lengths_rad = (np.zeros(k) for _ in range(4))
    fine = _grid(path)  # data are multiples of 2^-fine, weights of 2^-2fine, margins of 2^-3fine, squares of 2^-4fine
    exact, last = fine is not None, None
    for block in _blocks(path, fine):
        here = block.updates
        terms = block.W[:-1] * block.D
        t = path.t[path.rows[here]]
        size = np.sum(np.abs(terms), axis=1)
        exact = exact and not np.any(block.W_rad) and _fits(size + np.abs(block.b[:-1]), 3 * (fine or 0))
        mid[here] = t * (np.sum(terms, axis=1) + block.b[:-1])
        if not exact:
            own = gamma(block.D.shape[1] + 3) * (size + np.abs(block.b[:-1]))
            rad[here] = np.sum(block.W_rad[:-1] * np.abs(block.D), axis=1) * (1 + 1e-12) + block.b_rad[:-1] + own
        lengths[here], lengths_rad[here] = _lengths(path, path.rows[here], exact)
        last = block
    squares = _squares(path, Enclosed(mid, rad), Enclosed(lengths, lengths_rad), fine if exact else None)
    w, w_rad = path.w.astype(np.float64), np.zeros(len(path.w))
    if last is not None:
        w, w_rad = last.columns.finish(last)
    b = Enclosed(
        np.array([path.b if last is None else last.b[-1]]), np.array([0.0 if last is None else last.b_rad[-1]])
    )
    return Replay(Enclosed(mid, rad), squares, Enclosed(w, w_rad), b, exact)


def sum_of_counts(path: Path, counts: np.ndarray, minus: float, plus: float) -> tuple[Enclosed, Enclosed]:
    """Weights and offset from how often each row was updated, with the errors a solver's running sums may have made."""
    signed = counts * np.where(path.t > 0, plus, -minus)
    rows = np.flatnonzero(counts)
    part, steps = path.X[rows], int(counts.sum()) + 2
    total = transposed_times(part, signed[rows])
    size = transposed_times(abs(part), np.abs(signed[rows])).magnitude + np.abs(path.w)
    w = Enclosed(path.w + total.mid, total.rad + gamma(steps) * size * (1 + 2 * gamma(steps)))
    b_size = abs(path.b) + path.bias_step * float(np.sum(np.abs(signed)))
    b = path.b + path.bias_step * math.fsum(signed)
    return w, Enclosed(np.array([b]), np.array([gamma(steps + 2) * b_size]))


def squared_lengths(X, bias_step: float) -> Enclosed:
    """Enclose ``|x_i|^2 + beta`` for every row."""
    mid = np.empty(X.shape[0])
    for here in row_blocks(X.shape[0]):
        part = X[here]
        if sparse.issparse(part):
            mid[here] = np.asarray(part.multiply(part).sum(axis=1)).ravel()
        else:
            part = np.asarray(part, dtype=np.float64)
            mid[here] = np.einsum("ij,ij->i", part, part)
    mid += bias_step
    return Enclosed(mid, mid * gamma(X.shape[1] + 3))


class _Columns:
    """The weights outside of a block, and which of them the block changes."""

    def __init__(self, w: np.ndarray):
        self.w, self.rad = w.astype(np.float64), np.zeros(len(w))
        self.used: Any = slice(None)

    def finish(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        self.w[self.used], self.rad[self.used] = block.W[-1], block.W_rad[-1]
        return self.w, self.rad


def _blocks(path: Path, fine: int | None) -> Iterator[Block]:
    columns = _Columns(path.w)
    b, b_rad = float(path.b), 0.0
    unit = bool(np.all(path.steps == 1.0)) and path.relative == 0.0
    begin, k, size = 0, len(path.rows), _updates_a_block(path.X)
    while begin < k:
        here = slice(begin, min(begin + size, k))
        D = _dense_part(path.X, path.rows[here], columns)
        signed = path.steps[here] * path.t[path.rows[here]]
        P = signed[:, None] * D
        W = np.cumsum(np.vstack([columns.w[columns.used], P]), axis=0)
        shifts = signed * path.bias_step
        offsets = np.cumsum(np.concatenate([[b], shifts]))
        W_rad, offset_rad = np.zeros_like(W), np.zeros_like(offsets)
        W_rad[0], offset_rad[0] = columns.rad[columns.used], b_rad
        if fine is None or np.any(W_rad[0]) or b_rad or not (_fits(W, 2 * fine) and _fits(offsets, 2 * fine)):
            product = 0.0 if unit else (1.0 + path.relative) * UNIT
            grown = np.vstack([W_rad[0], UNIT * np.abs(W[1:]) + product * np.abs(P)])
            W_rad = np.cumsum(grown, axis=0) * (1 + gamma(len(grown) + 4))
            loss = UNIT * np.abs(offsets[1:]) + (1.0 + path.relative) * UNIT * np.abs(shifts)
            offset_rad = np.cumsum(np.concatenate([[b_rad], loss])) * (1 + gamma(len(grown) + 4))
        block = Block(here, columns, D, W, W_rad, offsets, offset_rad)
        yield block
        columns.finish(block)
        b, b_rad = float(offsets[-1]), float(offset_rad[-1])
        begin = here.stop


def _dense_part(X, rows: np.ndarray, columns: _Columns) -> np.ndarray:
    part = X[rows]
    if not sparse.issparse(part):
        return np.asarray(part, dtype=np.float64)
    columns.used = np.unique(part.tocsr().indices)
    return part.tocsc()[:, columns.used].toarray().astype(np.float64)


def _updates_a_block(X) -> int:
    if sparse.issparse(X):
        entries_a_row = max(1.0, X.nnz / max(X.shape[0], 1))
        return max(1, int(math.sqrt(ENTRIES / entries_a_row)))
    return max(1, min(4096, ENTRIES // max(1, X.shape[1])))


def _lengths(path: Path, rows: np.ndarray, exact: bool) -> tuple[np.ndarray, np.ndarray]:
    lengths = squared_lengths(path.X[rows], path.bias_step)
    return lengths.mid, np.zeros(len(rows)) if exact else lengths.rad


def _squares(path: Path, margins: Enclosed, lengths: Enclosed, fine: int | None) -> Enclosed:
    """``|w_j|^2 = |w_{j-1}|^2 + 2 a m + a^2 |x|^2``, summed up with all errors; none if ``fine`` says so."""
    a = path.steps
    start = math.fsum(path.w * path.w) + (path.b * path.b / path.bias_step if path.bias_step else 0.0)
    growth = 2 * a * margins.mid + a * a * lengths.mid
    mid = start + np.cumsum(growth)
    easy = path.b == 0.0 or path.bias_step == 1.0  # else the start is a quotient
    if fine is not None and easy and _fits(np.concatenate([mid, growth, [start]]), 4 * fine):
        return Enclosed(mid, np.zeros(len(mid)))
    errors = 2 * a * margins.rad + a * a * lengths.rad + 6 * UNIT * (2 * a * np.abs(margins.mid) + a * a * lengths.mid)
    rad = (8 * UNIT * start + np.cumsum(errors) + UNIT * np.cumsum(np.abs(mid))) * (1 + gamma(len(mid) + 8))
    return Enclosed(mid, rad)


def _grid(path: Path) -> int | None:
    """Smallest ``g`` of ``GRIDS`` for which rows, steps, start and constant are multiples of ``2^-g``; None if there is none."""
    part = path.X[np.unique(path.rows)]
    values = part.data if sparse.issparse(part) else np.asarray(part, dtype=np.float64).ravel()
    others = np.concatenate([np.unique(path.steps), path.w, [path.b, path.bias_step]])
    if path.relative:
        return None
    for g in GRIDS:
        if all(bool(np.all(v * 2.0**g == np.rint(v * 2.0**g))) and _fits(v, g) for v in (others, values)):
            return g
    return None


def _fits(values: np.ndarray, g: int) -> bool:
    """Whether multiples of ``2^-g`` of this size are floats."""
    return float(np.max(np.abs(values), initial=0.0)) * 2.0**g < WHOLE
