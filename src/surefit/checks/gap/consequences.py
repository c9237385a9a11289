r"""Consequences of a duality gap: distances from the optimal scores, certain labels, and features that are zero.

A loss whose derivative is :math:`L`-Lipschitz has a :math:`1/L`-strongly convex conjugate. Dual points within a gap
:math:`\epsilon` of the best one thus satisfy :math:`\sum_i c_i (g_i - g_i^*)^2 \le 2L\epsilon` (theory: ``gap-safe``,
``prediction-stability``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT
from surefit.checks.gap.losses import smoothness, strong_convexity
from surefit.checks.gap.penalties import Penalty
from surefit.checks.gap.theorem import Gap


def score_distance(gap: Any, loss: Any, c: np.ndarray) -> np.ndarray:
    """Return bounds on ``|z_i - z_i*|`` for a strongly convex loss; infinite for other losses and for zero weight.

    ``gap`` is a number, or one number per row.
    """
    strong = strong_convexity(loss)
    if strong == 0.0:
        return np.full(len(c), math.inf)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(c > 0, np.sqrt(2 * gap / (strong * c)) * (1 + 8 * UNIT), math.inf)


def coefficient_distance(gap: float, penalty: Penalty) -> float:
    """Return a bound on ``|w - w*|`` (Euclidean) for a strongly convex penalty; infinite for other penalties."""
    curved = penalty.l2[~penalty.excluded]
    least = float(np.min(curved, initial=math.inf))
    if least == math.inf:  # no column competes
        return 0.0
    return math.sqrt(2 * gap / least) * (1 + 8 * UNIT) if least > 0 and gap < math.inf else math.inf


def zero_in_every_solution(gap: float, loss: Any, penalty: Penalty, correlations: Any, norms: np.ndarray) -> np.ndarray:
    r"""Return which columns are zero in every solution: :math:`|v_j| + \|x_j\|_c \sqrt{2L\epsilon} < l_{1,j}`.

    ``correlations`` bound :math:`|v_j|`, ``norms`` the norms :math:`\|x_j\|_c`.
    """
    steep = smoothness(loss)
    if not (steep < math.inf and gap < math.inf):
        return penalty.excluded
    reach = norms * (math.sqrt(2 * steep * gap) * (1 + 8 * UNIT))
    return penalty.excluded | ((correlations + reach) * (1 + 4 * UNIT) < penalty.l1)


def least_multiplier(gap: float, loss: Any, penalty: Penalty, least: np.ndarray, norms: np.ndarray) -> float:
    r"""Return a lower bound on the multiplier :math:`\lambda^*` of a radius :math:`R` at the exact optimum.

    At the optimum :math:`|v_j^*| \le \lambda^* (l_{1,j} + l_{2,j} R / l_{1,j})`, since no coefficient exceeds :math:`R
    / l_{1,j}`, and :math:`|v_j^*|` is at least :math:`|v_j|` minus its radius.
    """
    assert penalty.radius is not None
    used = (penalty.l1 > 0) & ~penalty.excluded
    if not (smoothness(loss) < math.inf and gap < math.inf and used.any()):
        return 0.0
    reach = norms[used] * (math.sqrt(2 * smoothness(loss) * gap) * (1 + 8 * UNIT))
    most = penalty.l1[used] + penalty.l2[used] * float(penalty.radius) / penalty.l1[used]
    return max(float(np.max((least[used] - reach) / most)) * (1 - 16 * UNIT), 0.0)


def certain_labels(gap: Gap, y: np.ndarray, c: np.ndarray) -> np.ndarray:
    r"""Return which rows of a logistic fit have the label of the exact optimum.

    The negative entropy is 1-strongly convex in the 1-norm, so the probabilities :math:`|g_i|` of the other label
    satisfy :math:`2 c_i (|g_i| - |g_i^*|)^2 \le \epsilon`. The label is certain if one half lies outside that interval
    and the score is on the same side.
    """
    lead = y * (1.0 - 2.0 * np.abs(gap.dual))  # probability of the label 1 minus that of the label -1
    sure = np.where(lead > 0, gap.z.mid > gap.z.rad, gap.z.mid < -gap.z.rad)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reach = np.sqrt(2 * gap.value / c) * (1 + 8 * UNIT)
        return (c > 0) & sure & (np.abs(lead) - 2 * gap.dual_rad - 4 * UNIT > reach)
