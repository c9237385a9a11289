r"""Centering of columns that are far from the origin; the intercept absorbs the shift exactly.

:math:`x^\top w + b = (x - m)^\top w + (b + m^\top w)` for any :math:`m`, so a statement proved for the centered columns holds for the
original columns, provided that :math:`b + m^\top w` is not rounded. For a column that varies by 1 around a million, centering saves six
digits in every product.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from surefit.core.jit import compiled, quietly
from surefit.core.storage import is_sparse

FAR = 30.0  # distance from the origin, as a multiple of the spread, beyond which a column loses digits
ROWS = 200  # sampled to measure the spread
NEAR = 14.0  # multiple of the mean distance from the mean up to which a column is certainly not far from the origin


def center(X: Any) -> np.ndarray | None:
    """Return the medians of the columns if some column is far from the origin, else None. Sparse data are never centered.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.centering import center
    >>> center(np.array([[1e6, 1.0], [1e6 + 1, 3.0], [1e6 + 2, 2.0]])).tolist(), center(np.eye(3))
    ([1000001.0, 2.0], None)
    """
    if is_sparse(X):
        return None
    sample = np.ascontiguousarray(X[:: -(-len(X) // ROWS)], dtype=np.float64)
    with quietly(over="ignore", invalid="ignore"):
        if _all_near(sample, NEAR):
            return None
    middle = np.median(sample, axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.mean(np.abs(sample - middle), axis=0)
        widest = np.max(spread, initial=0.0)  # a constant column is compared with the spread of the others
        far = np.abs(middle) > FAR * np.where(spread > 0.0, spread, widest)
    return middle if widest > 0.0 and np.isfinite(widest) and far.any() else None


@compiled
def _all_near(sample: Any, near: Any) -> Any:
    """Return whether all columns are certainly near the origin; most data need no median.

    With the mean absolute deviation s from the median, a far column has |mean| > (FAR - 1) s, and its mean absolute
    deviation from the mean is at most 2 s.
    """
    n, d = sample.shape
    for j in range(d):
        total = spread = 0.0
        for i in range(n):
            total += sample[i, j]
        mean = total / n
        for i in range(n):
            spread += abs(sample[i, j] - mean)
        if not abs(mean) <= near / n * spread:  # also if a number is missing
            return False
    return True


def column_means(X: np.ndarray) -> np.ndarray:
    """Return the means of the columns by one product, which reads rows in the order of memory.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.centering import column_means
    >>> column_means(np.array([[1.0, 4.0], [3.0, 8.0]])).tolist()
    [2.0, 6.0]
    """
    return np.ones(len(X)) @ X / len(X)


def moved_intercept(b: float, middle: np.ndarray, w: np.ndarray) -> float:
    """Return ``b + middle'w``, rounded once.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.centering import moved_intercept
    >>> moved_intercept(-1e16, np.array([1e8, 3.0]), np.array([1e8, 0.5]))
    1.5
    """
    used = np.flatnonzero((w != 0.0) & (middle != 0.0))
    exact = sum(
        (Fraction(m) * Fraction(c) for m, c in zip(middle[used].tolist(), w[used].tolist(), strict=True)), Fraction(b)
    )
    return float(exact)
