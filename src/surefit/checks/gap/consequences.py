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
from surefit.checks.gap.assembly import Gap
from surefit.checks.gap.losses import smoothness, strong_convexity
from surefit.checks.gap.penalties import Penalty
from surefit.core.jit import compiled


def score_distance(gap: Any, loss: Any, c: np.ndarray) -> np.ndarray:
    """Return bounds on ``|z_i - z_i*|`` for a strongly convex loss; infinite for other losses and for zero weight.

    ``gap`` is a number, or one number per row.
    """
    strong = strong_convexity(loss)
    if strong == 0.0:
        return np.full(len(c), math.inf)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(c > 0, np.sqrt(2 * gap / (strong * c)) * (1 + 8 * UNIT), math.inf)


def largest_score_distance(gap: float, loss: Any, least: float) -> float:
    """Return the bound of :func:`score_distance` on all rows, whose smallest weight is ``least``."""
    bend = strong_convexity(loss) * least
    return math.sqrt(2 * gap / bend) * (1 + 8 * UNIT) if bend > 0.0 and gap < math.inf else math.inf


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


def certain_labels(gap: Gap, y: np.ndarray, c: np.ndarray, more: float = 0.0) -> np.ndarray:
    r"""Return which rows of a logistic fit have the label of the exact optimum.

    The negative entropy is 1-strongly convex in the 1-norm, so the probabilities :math:`|g_i|` of the other label
    satisfy :math:`2 c_i (|g_i| - |g_i^*|)^2 \le \epsilon`. The label is certain if one half lies outside that interval
    and the score is on the same side. ``more`` is added to the radii of the dual variables.
    """
    radii = _one_or_all(gap.dual_rad), _one_or_all(gap.z.rad)
    return _certain(y, c, gap.dual, radii[0] + more, gap.z.mid, radii[1], float(gap.value))


def _one_or_all(radii: np.ndarray) -> np.ndarray:
    """Return one number if all rows share their radius."""
    return np.array(radii[:1]) if radii.strides == (0,) else radii


@compiled
def _certain(y: Any, c: Any, dual: Any, dual_rad: Any, mid: Any, rad: Any, value: Any) -> np.ndarray:
    sure = np.zeros(len(y), dtype=np.bool_)
    for i in range(len(y)):
        lead = y[i] * (1.0 - 2.0 * abs(dual[i]))  # probability of the label 1 minus that of the label -1
        score = mid[i] if lead > 0.0 else -mid[i]
        reach = abs(lead) - 2.0 * dual_rad[i if len(dual_rad) > 1 else 0] - 4.0 * UNIT
        outside = reach > 0.0 and c[i] * (reach * reach) * (1.0 - 32.0 * UNIT) > 2.0 * value
        sure[i] = outside and score > rad[i if len(rad) > 1 else 0]
    return sure
