"""Kinds of rows around a margin, by their functional margin and by their multiplier."""

from __future__ import annotations

import math

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import Rule

KINDS = ("outside", "on margin", "inside", "misclassified")
_BOUND = Rule("a number > 0 or infinity", lambda v: isinstance(v, (int, float, np.number)) and bool(v > 0))


def kinds_by_margin(functional: np.ndarray, exact_signs: np.ndarray, tol: float) -> np.ndarray:
    """Classify rows by ``t f``: above 1, at 1 (up to ``tol``), between 0 and 1, or not positive (exact sign)."""
    kinds = np.full(len(functional), "inside", dtype="<U13")
    kinds[functional > 1] = "outside"
    kinds[np.abs(functional - 1) <= tol] = "on margin"
    kinds[exact_signs <= 0] = "misclassified"
    return kinds


def kinds_by_multiplier(who: str, alpha, C: float, n: int, tol: float) -> np.ndarray:
    """Classify rows by their multiplier: zero, strictly between 0 and ``C``, or at the bound ``C``."""
    if not _BOUND.allows(C):
        raise InvalidParameter(who, "C", _BOUND.words, C)
    alpha = np.asarray(alpha, dtype=np.float64).ravel()
    slack = tol * (C if math.isfinite(C) else np.max(np.abs(alpha), initial=0.0))
    if alpha.shape != (n,) or not np.all(np.isfinite(alpha)) or np.any(alpha < -slack) or np.any(alpha > C + slack):
        raise InvalidParameter(who, "alpha", f"{n} numbers from 0 to C = {C:g}", f"shape {alpha.shape}")
    kinds = np.full(n, "free", dtype="<U11")
    kinds[alpha <= slack] = "not support"
    if math.isfinite(C):
        kinds[alpha >= C - slack] = "bound"
    return kinds


def conflicting(functional: np.ndarray, kinds: np.ndarray, tol: float) -> np.ndarray:
    """Return rows that violate the KKT conditions: zero if ``t f < 1``, free off the margin, bound if ``t f > 1``."""
    too_near = (kinds == "not support") & (functional < 1 - tol)
    off = (kinds == "free") & (np.abs(functional - 1) > tol)
    too_far = (kinds == "bound") & (functional > 1 + tol)
    return np.flatnonzero(too_near | off | too_far)


def offset_interval(scores: np.ndarray, t: np.ndarray, alpha: np.ndarray, C: float = math.inf) -> tuple[float, float]:
    r"""Return the interval of optimal intercepts for given multipliers of a support vector machine.

    With :math:`F_i = \sum_j \alpha_j t_j K(x_j, x_i)` (``scores``), every row with a free multiplier gives
    :math:`b = t_i - F_i`; rows at a bound give one-sided limits. Without free rows, the optimal intercepts form an
    interval.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.separation.taxonomy import offset_interval
    >>> F = np.array([-8 * 0.1, 8 * 0.1, 8 * 0.1, -8 * 0.1])  # the four corners with C = 0.1: b in [-(1 - 8C), 1 - 8C]
    >>> low, high = offset_interval(F, np.array([-1, 1, 1, -1]), np.full(4, 0.1), C=0.1)
    >>> round(low, 12), round(high, 12)
    (-0.2, 0.2)
    """
    limits = t - scores
    lower = ((t > 0) & (alpha < C)) | ((t < 0) & (alpha > 0))
    upper = ((t > 0) & (alpha > 0)) | ((t < 0) & (alpha < C))
    return float(np.max(limits[lower], initial=-math.inf)), float(np.min(limits[upper], initial=math.inf))
