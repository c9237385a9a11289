r"""Principal axes of a class with variances of at least a floor.

The covariance matrix resolves variances down to :math:`10^{-16}` of the largest, and the rows themselves resolve
variances down to the square of that. If the covariance matrix is too inaccurate for the floor, the axes are computed
from the singular value decomposition of the rows (theory: ``gaussian-likelihood-gap``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

UNIT = 2.0**-53
WANTED = 1e-6  # relative error of a variance allowed for products of rows


class ClassAxes(NamedTuple):
    """Axes as columns, and variances along them."""

    rotation: np.ndarray
    variances: np.ndarray  # largest first
    flat: bool  # whether some variances were raised to the floor, or are zero


def class_axes(
    C: np.ndarray, drawn: tuple[float, float] | None, rows: Any, k: int, mean: np.ndarray, floor: float
) -> ClassAxes:
    """Return the axes of ``C``; ``drawn`` is the factor and diagonal term that give C from rows of class ``k``."""
    values, vectors = np.linalg.eigh(C)  # the same routine as SciPy's, whose wrapper takes longer for few columns
    n = rows.count(k)
    rounding = (min(n, 4096) + n // 4096 + len(C) + 24) * UNIT  # relative error of sums of products
    if rounding * values[-1] > WANTED * max(values[0], floor):
        B = rows.centered_class(k, mean) if drawn is not None else _root(C)
        if B is not None:
            return _of_rows(B, drawn or (1.0, 0.0), floor)
    flat = bool(values[0] <= floor)
    if flat:
        values = np.maximum(values, floor)
    rotation, variances = vectors[:, ::-1].copy(), values[::-1].copy()
    return ClassAxes(rotation, variances, flat or bool(variances[-1] <= 0))


def _root(C: np.ndarray) -> np.ndarray | None:
    """Return a matrix with ``B' B = C``, accurate in each column; None if C is singular."""
    scale = np.sqrt(np.maximum(np.diag(C), 0.0))
    if not np.all(scale > 0):
        return None
    factor, info = linalg.lapack.dpotrf(C / scale / scale[:, None], clean=1)
    return factor * scale if info == 0 else None


def _of_rows(B: np.ndarray, drawn: tuple[float, float], floor: float) -> ClassAxes:
    """Return the axes of a multiple of ``B' B`` plus a multiple of the identity."""
    n, d = B.shape
    B = np.vstack([B, np.zeros((d - n, d))]) if n < d else B
    values, rotation = linalg.svd(B, full_matrices=False, check_finite=False)[1:]
    rotation = rotation.T.copy()
    variances = drawn[0] * values**2 + drawn[1]
    raised = variances <= floor
    variances = np.maximum(variances, floor)
    zero = floor == 0 and variances[-1] <= ((n + d) * UNIT) ** 2 * variances[0]  # error of the rows
    return ClassAxes(rotation, variances, bool(raised.any() or zero))
