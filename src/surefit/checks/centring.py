r"""Columns far from the origin: subtract a centre from each, and the intercept takes it over exactly.

:math:`x^\top w + b = (x - m)^\top w + (b + m^\top w)` for any :math:`m`, so whatever is proved about centred columns holds for the
columns themselves, as long as :math:`b + m^\top w` is not rounded on the way. Where a column varies by 1 around a million, that
saves six digits of every product.
"""

from fractions import Fraction

import numpy as np
from scipy import sparse

FAR = 30.0  # times its spread: a column that far from the origin costs digits
ROWS = 200  # looked at


def centre(X) -> np.ndarray | None:
    """Return medians of the columns if some column is far from the origin, else None; sparse ones are near it.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.checks.centring import centre
    >>> centre(np.array([[1e6, 1.0], [1e6 + 1, 3.0], [1e6 + 2, 2.0]])).tolist(), centre(np.eye(3))
    ([1000001.0, 2.0], None)
    """
    if sparse.issparse(X):
        return None
    sample = np.asarray(X[:: -(-len(X) // ROWS)], dtype=np.float64)
    middle = np.median(sample, axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.mean(np.abs(sample - middle), axis=0)
        widest = np.max(spread, initial=0.0)  # a constant column is far if it is so for the others
        far = np.abs(middle) > FAR * np.where(spread > 0.0, spread, widest)
    return middle if widest > 0.0 and np.isfinite(widest) and far.any() else None


def moved_intercept(b: float, middle: np.ndarray, w: np.ndarray) -> float:
    """Return ``b + middle'w``, rounded once.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.checks.centring import moved_intercept
    >>> moved_intercept(-1e16, np.array([1e8, 3.0]), np.array([1e8, 0.5]))
    1.5
    """
    used = np.flatnonzero((w != 0.0) & (middle != 0.0))
    exact = sum(
        (Fraction(m) * Fraction(c) for m, c in zip(middle[used].tolist(), w[used].tolist(), strict=True)), Fraction(b)
    )
    return float(exact)
