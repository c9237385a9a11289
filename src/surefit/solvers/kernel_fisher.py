r"""Fisher's direction in the space of a kernel: :math:`(\Sigma + \lambda I) f = m_1 - m_0`, as coefficients of the rows.

With the weights :math:`s`, :math:`d_i = \pm s_i / n_c` and the projection :math:`P` that takes class means away (for the weights), the
coefficients solve :math:`P K \beta / \mu + \lambda \beta = d`. As :math:`d` has no part in the image of
:math:`P`, :math:`\beta = d / \lambda + \gamma` with :math:`\gamma` in the image of :math:`P`: a symmetric positive definite system.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit.solvers.kernel_squares import solve_shifted

CERTAIN = 64.0  # times the rounding of eigenvalues, from which a part of the means outside the range is believed


class RankDirection(NamedTuple):
    """What is left of the ridge's direction as the ridge goes to zero."""

    beta: np.ndarray
    rank: int  # of the spread within classes
    least: float  # smallest eigenvalue of that spread which is not rounding
    most: float  # its largest eigenvalue
    outside: bool  # whether the direction lies where there is no spread within classes


def direction(K: np.ndarray, second: np.ndarray, s: np.ndarray, ridge: float, divisor: float) -> np.ndarray:
    """Return the coefficients of the rows; ``second`` says which rows belong to the second class."""
    root = np.sqrt(s)
    G = K * root[:, None] * root
    centred = _centring(second, root)
    inner = centred(centred(G).T)
    d = differences(second, s) / root
    beta = d / ridge
    for _ in range(2):  # the second time for what rounding has left
        left = d - centred(G @ beta) / divisor - ridge * beta
        outer = (left - centred(left)) / ridge
        right = divisor * centred(left) - centred(G @ outer)
        beta = beta + outer + centred(solve_shifted(inner, ridge * divisor, right[:, None])[:, 0])
    return root * beta


def limit_direction(K: np.ndarray, second: np.ndarray, s: np.ndarray, divisor: float) -> RankDirection:
    r"""Return the limit of the ridge's direction at zero.

    The difference of the means has a part outside the range of the spread: if that is not zero, the classes differ where none of them
    spreads, the criterion has no bound, and the direction is that part, scaled to means one apart. Otherwise it is
    :math:`\Sigma^+ (m_1 - m_0)`, the best direction there is.
    """
    root = np.sqrt(s)
    G = K * root[:, None] * root
    centred = _centring(second, root)
    values, vectors = linalg.eigh(centred(centred(G).T), check_finite=False)
    noise = 4 * len(s) * np.finfo(np.float64).eps * float(np.max(np.abs(G).sum(axis=1)))
    kept = values > noise
    values, vectors = values[kept], centred(vectors[:, kept])
    d = differences(second, s) / root
    part = d
    for _ in range(3):  # orthogonal to the range, also after rounding
        part = part - vectors @ ((vectors.T @ (G @ part)) / values)
    square, rank = float(part @ G @ part), len(values)
    least, most = (float(values[0]) / divisor, float(values[-1]) / divisor) if rank else (1.0, 1.0)
    if square > CERTAIN * noise * float(part @ part):
        return RankDirection(root * part / square, rank, least, most, True)
    beta = np.zeros(len(s))
    for _ in range(3):
        rest = d - centred(G @ beta) / divisor
        beta = beta + divisor * (vectors @ ((vectors.T @ (G @ rest)) / values**2))
    return RankDirection(root * beta, rank, least, most, False)


def _centring(second: np.ndarray, root: np.ndarray):
    """Return the projection that takes class means away, for rows multiplied by the roots of their weights."""
    sides = np.column_stack([np.where(second == side, root, 0.0) for side in (False, True)])
    sides /= np.linalg.norm(sides, axis=0)
    return lambda v: v - sides @ (sides.T @ v)


def differences(second: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return the coefficients of the difference of the class means."""
    return np.where(second, s / s[second].sum(), -s / s[~second].sum())
