"""Cholesky factorization by direct LAPACK calls, because SciPy's wrappers dominate the time for small matrices."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, lapack


def factorize(A: np.ndarray, overwrite: bool = False) -> np.ndarray:
    """Return the lower Cholesky factor (the upper triangle is not set); raise ``LinAlgError`` if there is none."""
    factor, failed = lapack.dpotrf(A, lower=1, overwrite_a=overwrite, clean=0)
    if failed:
        raise LinAlgError(f"the leading block of {failed} rows is not positive definite")
    return factor


def solve(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the solution of the linear system whose matrix has the lower Cholesky factor given by :func:`factorize`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.solvers.cholesky import factorize, solve
    >>> solve(factorize(np.array([[4.0, 2.0], [2.0, 3.0]])), np.array([8.0, 8.0]))
    array([1., 2.])
    """
    return lapack.dpotrs(factor, right, lower=1)[0]
