"""Labelings that a class realizes on given points, each with a member that realizes it, and shattering with witnesses."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter

LARGEST = 14  # number of points for which all 2^n labelings are tried by linear programming


@dataclass(frozen=True)
class Labelings:
    """Distinct labelings of some points (rows of ``labels``, True = in the set), with one member of the class per labeling.

    Examples
    --------
    >>> from surefit.bounds import labelings
    >>> found = labelings([0.0, 1.0, 2.0], "intervals")
    >>> len(found), found.shattered, found.missing.tolist()
    (7, False, [[True, False, True]])
    """

    labels: np.ndarray
    members: tuple[tuple[float, ...], ...]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def shattered(self) -> bool:
        """Whether all labelings of the points occur, which proves a VC dimension of at least the number of points."""
        return len(self.labels) == 2 ** self.labels.shape[1]

    @property
    def missing(self) -> np.ndarray:
        """The labelings that no member realizes."""
        n = self.labels.shape[1]
        there = set(map(tuple, self.labels))
        return np.array([row for row in itertools.product([False, True], repeat=n) if row not in there], dtype=bool)


def labelings(points: Any, name: str) -> Labelings:
    r"""Return all labelings of ``points`` by a class, each with a witness; their number is the shatter coefficient of the points.

    Parameters
    ----------
    points : array of shape (n,) or (n, d)
        The points; equal points are allowed and reduce the number of labelings.
    name : str
        ``"rays"`` (member ``(axis, a)``: :math:`x \le a`), ``"stumps"`` (``(axis, a, sign)``: ``sign * (x - a) > 0``, every
        axis), ``"intervals"`` (``(a, b)``), ``"rectangles"`` (``(a_1..a_d, b_1..b_d)``), ``"half_spaces"`` (``(w_1..w_d, b)``:
        :math:`w^\top x + b > 0`) or ``"homogeneous_half_spaces"`` (``(w_1..w_d)``). Half-spaces are found by one linear
        program per labeling, for at most 14 points, with no score exactly zero.

    Examples
    --------
    >>> from surefit.bounds import labelings
    >>> [len(labelings(range(n), "stumps")) for n in range(1, 7)]
    [2, 4, 6, 8, 10, 12]
    >>> len(labelings([[0, 0], [1, 0], [0, 1], [1, 1]], "half_spaces"))  # all but the two of XOR
    14
    """
    X = np.asarray(points, dtype=np.float64)
    X = X[:, None] if X.ndim == 1 else X
    if X.ndim != 2 or len(X) == 0 or not np.all(np.isfinite(X)):
        raise InvalidData(f"labelings: points must be finite numbers, one row per point; got shape {X.shape}.")
    if name not in ENUMERATORS:
        raise InvalidParameter("labelings", "name", "one of " + ", ".join(map(repr, sorted(ENUMERATORS))), name)
    found: dict[tuple[bool, ...], tuple[float, ...]] = {}
    for labels, member in ENUMERATORS[name](X):
        found.setdefault(tuple(bool(v) for v in labels), tuple(float(v) for v in member))
    return Labelings(np.array(list(found), dtype=bool).reshape(-1, len(X)), tuple(found.values()))


def shatters(points: Any, name: str) -> bool:
    """Return whether the class realizes every labeling of the points (see :func:`surefit.bounds.labelings`).

    Examples
    --------
    >>> from surefit.bounds import shatters
    >>> diamond = [[0, 1], [1, 0], [0, -1], [-1, 0]]
    >>> shatters(diamond, "rectangles"), shatters(diamond, "half_spaces"), shatters(diamond[:3], "half_spaces")
    (True, False, True)
    """
    return labelings(points, name).shattered


def search_shattered(name: str, n: int, d: int = 1, draws: int = 50, seed: int = 0) -> np.ndarray | None:
    """Search for n random points that the class shatters; a result proves that the VC dimension is at least n.

    Examples
    --------
    >>> from surefit.bounds import search_shattered
    >>> search_shattered("half_spaces", 4, d=3).shape, search_shattered("intervals", 3)
    ((4, 3), None)
    """
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        points = rng.normal(size=(n, d))
        if shatters(points, name):
            return points
    return None


def empirical_risk_minimum(found: Labelings, y: Any, weights: Any = None) -> tuple[float, int]:
    """Return ``(error, index)`` of the exact empirical risk minimizer over enumerated labelings; ties go to the lowest index.

    Examples
    --------
    >>> from surefit.bounds import empirical_risk_minimum, labelings
    >>> stumps = labelings([0.0, 1.0, 2.0, 3.0], "stumps")
    >>> error, index = empirical_risk_minimum(stumps, [False, True, False, True])
    >>> error, stumps.members[index]
    (0.25, (0.0, 0.5, 1.0))
    """
    target = np.asarray(y, dtype=bool)
    if target.shape != (found.labels.shape[1],):
        raise InvalidData(f"empirical_risk_minimum: y must have {found.labels.shape[1]} entries; got {target.shape}.")
    share = np.full(len(target), 1 / len(target)) if weights is None else np.asarray(weights, float) / np.sum(weights)
    errors = (found.labels != target) @ share
    best = int(np.argmin(errors))
    return float(errors[best]), best


def _cuts(values: np.ndarray) -> np.ndarray:
    """Return thresholds below all values, between neighboring values, and above all values."""
    levels = np.unique(values)
    return np.concatenate([[levels[0] - 1], (levels[1:] + levels[:-1]) / 2, [levels[-1] + 1]])


def _rays(X: Any) -> Iterator[Any]:
    for axis in range(X.shape[1]):
        for a in _cuts(X[:, axis]):
            yield X[:, axis] <= a, (axis, a)


def _stumps(X: Any) -> Iterator[Any]:
    for axis in range(X.shape[1]):
        for a in _cuts(X[:, axis]):
            yield X[:, axis] > a, (axis, a, 1)
            yield X[:, axis] < a, (axis, a, -1)


def _intervals(X: Any) -> Iterator[Any]:
    if X.shape[1] != 1:
        raise InvalidData(f"labelings: intervals are sets of numbers; the points have {X.shape[1]} coordinates.")
    yield from _rectangles(X)


def _rectangles(X: Any) -> Iterator[Any]:
    """Enumerate the smallest boxes: every labeling is realized by the bounding box of its points, or by no rectangle."""
    n, d = X.shape
    yield np.zeros(n, dtype=bool), (*np.full(d, 1.0), *np.full(d, -1.0))
    for size in range(1, min(n, 2 * d) + 1):  # 2d points determine every box
        for chosen in itertools.combinations(range(n), size):
            low, high = X[list(chosen)].min(axis=0), X[list(chosen)].max(axis=0)
            yield np.all((X >= low) & (X <= high), axis=1), (*low, *high)


def _half_spaces(X: Any) -> Iterator[Any]:
    yield from _homogeneous(np.hstack([X, np.ones((len(X), 1))]))


def _homogeneous(X: Any) -> Iterator[Any]:
    if len(X) > LARGEST:
        raise InvalidParameter("labelings", "points", f"at most {LARGEST} of them for half-spaces", len(X))
    for signs in itertools.product([-1.0, 1.0], repeat=len(X)):
        w = strict_separator(X, np.array(signs))
        if w is not None:
            yield np.array(signs) > 0, w


def strict_separator(X: np.ndarray, signs: np.ndarray) -> np.ndarray | None:
    """Return w with ``signs * (X w) > 0`` for all rows (with maximal margin in the unit box), or None."""
    from scipy.optimize import linprog

    n, d = X.shape
    scaled = signs[:, None] * X / np.maximum(np.max(np.abs(X), axis=1, keepdims=True), 1e-300)
    rows = np.hstack([-scaled, np.ones((n, 1))])  # margin <= s_i x_i w
    bounds = [(-1, 1)] * d + [(None, 1)]
    solution = linprog(np.append(np.zeros(d), -1.0), A_ub=rows, b_ub=np.zeros(n), bounds=bounds, method="highs")
    w = solution.x[:d]
    return w if np.min(scaled @ w) > 1e-9 else None


ENUMERATORS: dict[str, Callable[..., Any]] = {
    "half_spaces": _half_spaces,
    "homogeneous_half_spaces": _homogeneous,
    "intervals": _intervals,
    "rays": _rays,
    "rectangles": _rectangles,
    "stumps": _stumps,
}
