"""Signs that rows are not independent draws: noisy copies, ordered times, groups, and columns computed from the target.

No sign is conclusive, and some violations cannot be detected. Certificates therefore state their assumptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.sample import read

FEWEST = 20  # smallest number of rows for which signs are searched
WITHDRAWN = 0.05  # fraction of rows with a noisy copy above which nothing is claimed
CLOSEST = 1e-6  # difference of two cells that nearly coincide, as a fraction of the column's interquartile range
CHANCE = 1e-3  # pairs of independent rows that may nearly coincide by chance, over a whole table
SHOWN = 3
CLOCK = re.compile(r"(^|[_\s])(date|datetime|time|timestamp|day|month|year)s?($|[_\s])", re.IGNORECASE)
GROUP = re.compile(
    r"(^|[_\s])(id|group|patient|subject|user|customer|session|batch|site|household)s?($|[_\s])", re.IGNORECASE
)


class Copies(NamedTuple):
    """Pairs of rows that nearly coincide, and the fraction of rows in such pairs."""

    pairs: list[tuple[int, int]]
    share: float

    def __str__(self) -> str:
        shown = ", ".join(f"{i} and {j}" for i, j in self.pairs[:SHOWN])
        more = f" and {len(self.pairs) - SHOWN} more pairs" if len(self.pairs) > SHOWN else ""
        return (
            f"rows {shown}{more} ({self.share:.2g} of all rows) nearly coincide without being equal, like copies with noise, so that "
            "tested rows are not independent of training rows; pass groups that name the origin of each row"
        )


def noisy_copies(X: Any) -> Copies:
    """Return pairs of different rows whose continuous columns are closer than is plausible for independent rows.

    A column is continuous if most of its values occur once. Equal rows are ignored, because they are common in discrete
    tables.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.risk.signs import noisy_copies
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> len(noisy_copies(X).pairs), noisy_copies(np.vstack([X, X[:4] + 1e-9])).pairs
    (0, [(0, 100), (1, 101), (2, 102), (3, 103)])
    """
    table = read(X).X
    n = table.shape[0]
    if sparse.issparse(table) or table.dtype.kind != "f" or n < FEWEST:
        return Copies([], 0.0)
    table = table[:, np.isfinite(table).all(axis=0)].astype(np.float64)
    low, high = np.percentile(table, [25, 75], axis=0)
    spread = high - low  # a few large entries do not make the others look close
    varied = [j for j in np.flatnonzero(spread > 0) if 2 * len(np.unique(table[:, j])) > n]
    if not varied:
        return Copies([], 0.0)
    scaled = table[:, varied] / spread[varied]
    tolerance = min(CLOSEST, 0.5 * (CHANCE / n**2) ** (1 / len(varied)))
    direction = np.random.default_rng(0).uniform(0.5, 1.0, len(varied))  # nearby rows are nearby in every projection
    order = np.argsort(scaled @ direction, kind="stable")
    found = {pair for step in (1, 2, 3) for pair in _close(scaled, order, step, tolerance)}
    rows = {i for pair in found for i in pair}
    return Copies(sorted(found), len(rows) / n)


def _close(scaled: np.ndarray, order: np.ndarray, step: int, tolerance: float) -> Iterator[tuple[int, int]]:
    first, second = order[:-step], order[step:]
    apart = np.abs(scaled[first] - scaled[second]).max(axis=1)
    for k in np.flatnonzero((apart > 0) & (apart <= tolerance)):
        i, j = sorted((int(first[k]), int(second[k])))
        yield i, j


def remarks(X: Any, y: Any = None) -> list[str]:
    """Return warnings about columns: ordered times, repeated group names, or a column that determines the target."""
    names = [str(name) for name in getattr(X, "columns", [])]
    if not names or len(X) < FEWEST:
        return []
    found = []
    for j, name in enumerate(names):
        column = np.asarray(take_column(X, j))
        if column.dtype.kind in "mM" or (CLOCK.search(name) and column.dtype.kind in "iuf"):
            if np.all(column[1:] >= column[:-1]) and column[0] != column[-1]:
                found.append(
                    f"column {name!r} holds times in order; if rows close in time depend on each other, pass groups (days, runs)"
                )
        elif GROUP.search(name) and column.dtype.kind in "iuUO" and 2 <= len(set(column.tolist())) <= len(column) // 2:
            found.append(
                f"column {name!r} names groups that occur in several rows; if they depend on each other, pass it as groups"
            )
        if y is not None and _determines(column, np.asarray(y)):
            found.append(f"column {name!r} determines the target; if it was computed from the target, drop it")
    return found


def take_column(X: Any, j: int) -> Any:
    """Return a column of a table of pandas or polars."""
    return X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]


def _determines(column: np.ndarray, y: np.ndarray) -> bool:
    """Return whether a column is a relabeling of the target or an affine function of it."""
    if y.ndim != 1 or len(y) != len(column) or column.dtype.kind in "mM":
        return False
    if y.dtype.kind == "f" and column.dtype.kind in "iuf" and len(np.unique(y)) > 10:
        a, b = column - column.mean(), y - y.mean()
        norm = float(np.sqrt((a @ a) * (b @ b)))
        return norm > 0 and abs(float(a @ b)) >= (1 - 1e-12) * norm
    values = {(str(a), str(b)) for a, b in zip(column.tolist(), y.tolist(), strict=True)}
    return 1 < len(values) == len({a for a, _ in values}) == len({b for _, b in values}) and len(values) <= len(y) // 2
