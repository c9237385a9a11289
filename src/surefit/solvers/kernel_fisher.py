r"""Fisher's direction in the space of a kernel: :math:`(\Sigma + \lambda I) f = m_1 - m_0`, as coefficients of the rows.

With the weights :math:`s`, :math:`d_i = \pm s_i / n_c` and the projection :math:`P` that takes class means away (for the weights), the
coefficients solve :math:`P K \beta / \mu + \lambda \beta = d`. As :math:`d` has no part in the image of
:math:`P`, :math:`\beta = d / \lambda + \gamma` with :math:`\gamma` in the image of :math:`P`: a symmetric positive definite system.
"""

from __future__ import annotations

import numpy as np

from surefit.solvers.kernel_squares import solve_shifted


def direction(K: np.ndarray, second: np.ndarray, s: np.ndarray, ridge: float, divisor: float) -> np.ndarray:
    """Return the coefficients of the rows; ``second`` says which rows belong to the second class."""
    root = np.sqrt(s)
    G = K * root[:, None] * root
    sides = np.column_stack([np.where(second == side, root, 0.0) for side in (False, True)])
    sides /= np.linalg.norm(sides, axis=0)

    def centred(v: np.ndarray) -> np.ndarray:
        return v - sides @ (sides.T @ v)

    inner = centred(centred(G).T)
    d = differences(second, s) / root
    beta = d / ridge
    for _ in range(2):  # the second time for what rounding has left
        left = d - centred(G @ beta) / divisor - ridge * beta
        outer = (left - centred(left)) / ridge
        right = divisor * centred(left) - centred(G @ outer)
        beta = beta + outer + centred(solve_shifted(inner, ridge * divisor, right[:, None])[:, 0])
    return root * beta


def differences(second: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return the coefficients of the difference of the class means."""
    return np.where(second, s / s[second].sum(), -s / s[~second].sum())
