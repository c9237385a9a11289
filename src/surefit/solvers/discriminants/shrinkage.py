r"""Shrinkage of covariance matrices toward a multiple of the identity: :math:`(1 - a) C + a \frac{\operatorname{tr} C}{d} I`.

The shrinkage :math:`a` is given, or that of Ledoit and Wolf (2004) for standardized columns :math:`z`, which minimizes an estimate of the
expected squared error:

.. math::

    a = \min\Bigl(1, \frac{\beta}{\delta}\Bigr), \quad
    \beta = \frac{1}{d n} \Bigl( \frac1n \sum_i s_i \|z_i\|^4 - \|C\|_F^2 \Bigr), \quad
    \delta = \frac1d \Bigl\| C - \frac{\operatorname{tr} C}{d} I \Bigr\|_F^2 ,\quad n = \sum_i s_i .
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def shrink(C: np.ndarray, share: float) -> np.ndarray:
    """Return ``(1 - share) C + share tr(C)/d I``."""
    shrunk = (1 - share) * C
    shrunk.flat[:: len(C) + 1] += share * np.trace(C) / len(C)
    return shrunk


def scales(C: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return the standard deviations, with one for constant columns."""
    deviations = np.sqrt(np.maximum(np.diag(C), 0.0))
    varies = deviations > 10 * np.finfo(np.float64).eps * np.abs(mean)
    return np.where(varies, deviations, 1.0)


def ledoit_wolf(C: np.ndarray, mean: np.ndarray, total: float, rows: Any, classes: Iterable[int]) -> np.ndarray:
    """Return the covariance ``C`` of the rows of some classes with Ledoit-Wolf shrinkage for standardized columns."""
    d, scale = len(C), scales(C, mean)
    standard = C / scale / scale[:, None]
    quartic = rows.fourth_powers(classes, mean, scale)
    square = float(np.sum(standard**2))
    beta = (quartic / total - square) / (d * total)
    delta = (square - float(np.trace(standard)) ** 2 / d) / d
    beta = min(beta, delta)
    share = 0.0 if d == 1 or beta <= 0 or delta <= 0 else beta / delta
    return shrink(standard, share) * scale * scale[:, None]


def covariance(C: np.ndarray, shrinkage, mean: np.ndarray, total: float, rows: Any, classes: Iterable[int]):
    """Return ``C`` shrunk according to ``shrinkage`` (None, a number, or "auto"); ``classes`` lists the classes of its rows."""
    if shrinkage is None:
        return C
    if shrinkage == "auto":
        return ledoit_wolf(C, mean, total, rows, classes)
    return shrink(C, float(shrinkage))
