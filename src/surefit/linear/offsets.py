r"""Offsets, the known terms of scores such as log exposures: transform targets and weights so that they drop out.

With :math:`\mu_i = e^{o_i} m_i` the deviance satisfies
:math:`d_p(y_i, \mu_i) = e^{(2 - p) o_i}\, d_p(y_i e^{-o_i}, m_i)`: a fit with offsets is equivalent to a fit of the
rates :math:`y_i e^{-o_i}` without offsets and with modified weights. For the identity link, offsets are subtracted from
the targets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidData
from surefit.problems.composed import Rows


def read_offset(estimator: Any, offset: Any, n_rows: int) -> np.ndarray:
    """Return the offsets as an array of finite numbers, one per row, or raise."""
    who = type(estimator).__name__
    try:
        found = np.asarray(offset, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidData(f"{who}: offset must be numbers; got {type(offset).__name__}.") from None
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    if found.shape != (n_rows,):
        raise InvalidData(f"{who}: offset must have one number per row, {n_rows}; got shape {found.shape}.")
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        raise InvalidData(
            f"{who}: offset of row {bad[0]} is {float(found[bad[0]])!r}; expected finite numbers (logarithms of exposures > 0)."
        )
    return found


def without_offset(estimator: Any, rows: Rows, offset: Any, power: float | None) -> Rows:
    """Return equivalent rows without offsets; ``power`` is the power of the deviance, or None for the identity link."""
    known = read_offset(estimator, offset, rows.X.shape[0])
    if power is None:
        return rows._replace(targets=[t - known for t in rows.targets], offset=known)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        targets, c = [t * np.exp(-known) for t in rows.targets], rows.c * np.exp((2.0 - power) * known)
    if not all(np.all(np.isfinite(values)) for values in (*targets, c)):
        raise InvalidData(f"{type(estimator).__name__}: offsets are so large that means overflow; use other units.")
    return rows._replace(targets=targets, c=c, offset=known)
