r"""By how much rounding can move a duality gap: whoever recomputes it has other last digits.

A score is off by :math:`\delta z_i = u\,(|x_i|^\top|w| + |b|)`, so a slope by its curvature times that and a few units in its own
last place, :math:`v = X^\top\theta` by :math:`\delta v = |X|^\top\delta\theta`, and the gap, with :math:`S` the soft threshold, by

.. math:: \sum_j |w_j - S(v_j) / l_2|\,\delta v_j + \delta v_j^2 / (2 l_2) + h \sum_i \delta\theta_i

where :math:`h` is the width of smoothed bands; without :math:`l_2` it is the scale of the dual point that is off. One row of a
billion is enough for that to exceed any tolerance.
"""

from __future__ import annotations

import numpy as np

from surefit.checks.dual_repair import balanced
from surefit.losses import Logistic
from surefit.solvers.newton.rows import Rows
from surefit.solvers.newton.scalar_scores import ScalarScores

LAST_PLACES = 4 * 2.0**-53  # of one number after a few operations
COLUMN_SUMS = 64 * 2.0**-53  # to which the probabilities of several classes can be made to sum up
NEGLIGIBLE = 1e-12  # share of the objective, below what a checker forgives
BALANCED = 1e-13  # share of the slopes to which their sum is zero
UNREAD_DIGITS = 1e-7  # of the gap itself


def gap_rounding(
    rows: Rows,
    scores,
    W: np.ndarray,
    b: np.ndarray,
    l1: float,
    l2: float,
    gap: float,
    peak: float = 0.0,
    middle: np.ndarray | None = None,
    intercept: bool = True,
) -> float:
    """Return how far off the gap at coefficients W and intercepts b may be, zero where nobody would notice.

    ``peak`` is the largest number that was added to the scores or the targets and taken away again, ``middle`` what was
    taken from the rows. With several scores the gap is recomputed from the rows as they were: its dual point sums to
    zero, but for last places.
    """
    far = np.zeros(rows.shape[1]) if middle is None or scores.n_scores == 1 else np.abs(middle)
    if l1 == 0.0 and l2 == 0.0:
        return 0.0
    Z = rows.times(W) + b
    value, slopes, state = scores.evaluate(Z)
    V = rows.transposed(slopes)
    size = max(peak, *np.abs(b), float(np.max(np.abs(getattr(scores, "y", 1.0))))) + float(np.max(np.abs(W) @ far))
    last = LAST_PLACES * np.abs(slopes)
    if scores.n_scores > 1:
        last = COLUMN_SUMS * np.tile(scores.weights[:, None], scores.n_scores)
        size *= 2.0  # a probability follows its own score and the mean of all
    curved = np.column_stack([scores.diagonal(state, k) for k in range(scores.n_scores)])
    from_far = np.outer(np.sum(last, axis=0), far)

    def effect(off_theta: np.ndarray, off_v: np.ndarray) -> float:
        if l2 > 0.0:
            beyond = np.sign(V) * np.maximum(np.abs(V) - l1, 0.0)
            own = np.sum(np.abs(W + beyond / l2) * off_v) + np.sum(off_v**2) / (2 * l2)
        else:
            largest, share = (
                float(np.max(np.abs(V))),
                float(np.max(off_v)) / l1,
            )  # by which the dual point is scaled, and off
            left = max(1.0 - l1 / largest, 0.0) if largest > 0.0 else 0.0
            bent = (left + 0.5 * share) * slopes**2 / np.maximum(curved, 1e-300)
            own = share * (l1 * np.sum(np.abs(W)) + np.sum(np.minimum(np.abs(slopes * Z), bent)))
        return float(own + scores.width * np.sum(off_theta))

    def off_slopes(off_scores: np.ndarray) -> np.ndarray:
        around = [scores.evaluate(Z + move * off_scores)[2] for move in (-1.0, 1.0)]
        steep = [np.maximum(*(scores.diagonal(other, k) for other in around)) for k in range(scores.n_scores)]
        return np.maximum(curved, np.column_stack(steep)) * np.max(off_scores, axis=1, keepdims=True) + last

    with np.errstate(over="ignore", invalid="ignore"):
        peaks = rows.peaks
        everywhere = LAST_PLACES * (np.abs(W) @ peaks + size)
        off_theta = off_slopes(np.tile(everywhere, (len(Z), 1)))
        total = effect(off_theta, np.outer(np.sum(off_theta, axis=0), peaks) + from_far)
        enough = NEGLIGIBLE * abs(value) + UNREAD_DIGITS * gap
        if total > enough:  # row by row: that a far row is far from the others says little about them
            sizes = Rows(abs(rows.X))
            off_theta = off_slopes(LAST_PLACES * (sizes.times(np.abs(W)) + size))
            total = effect(off_theta, sizes.transposed(off_theta) + from_far)
    if scores.n_scores == 1:
        total += max(_afresh(rows, scores, W, Z, slopes, V, l1, l2, intercept) - gap, 0.0)
    return 0.0 if total <= enough else total


def tame(rows: Rows, scores, W: np.ndarray, b: np.ndarray, l2: float, gap: float, objective: float) -> bool:
    r"""Whether sizes alone show that rounding is negligible; no product with the rows is needed for that.

    With the penalty :math:`l_2` the miss :math:`|w - v / l_2|` is at most :math:`\sqrt{2 g / l_2}`.
    """
    if l2 == 0.0 or scores.width:
        return False
    c, peak = float(np.sum(scores.weights)), rows.peak
    bounded = scores.n_scores > 1 or isinstance(scores.loss, Logistic)
    curvature, slopes = (0.25 * c, c) if bounded else (2.0 * c, 2.0 * np.sqrt(c * max(objective, 0.0)))
    size = peak * float(np.max(np.sum(np.abs(W), axis=1))) + float(np.max(np.abs(b))) + 1.0
    if scores.n_scores == 1:
        size += float(np.max(np.abs(scores.y)))
    off = 2.0 * LAST_PLACES * curvature * size + (LAST_PLACES if scores.n_scores == 1 else COLUMN_SUMS) * slopes
    off_v = peak * off * np.sqrt(W.size)
    total = np.sqrt(2.0 * max(gap, 0.0) / l2) * off_v + off_v**2 / (2 * l2)
    return bool(total <= NEGLIGIBLE * abs(objective))


def _afresh(rows: Rows, scores: ScalarScores, W, Z, slopes, V, l1: float, l2: float, intercept: bool) -> float:
    """Return the gap from the coefficients alone, slopes summing to zero: a solver's scores have drifted on the way."""
    if intercept and abs(slopes.sum()) > BALANCED * np.abs(slopes).sum():
        largest = 1.0 if scores.width or isinstance(scores.loss, Logistic) else np.inf
        slopes = -balanced(-slopes[:, 0], scores.weights, largest)[0][:, None]
        V = rows.transposed(slopes)
    scale = 1.0 if l2 > 0.0 else min(1.0, l1 / max(float(np.max(np.abs(V))), 1e-300))
    own = l1 * np.abs(W) + 0.5 * l2 * W**2 + scale * W * V
    if l2 > 0.0:
        own = own + np.maximum(np.abs(V) - l1, 0.0) ** 2 / (2 * l2)
    return scores.young(Z, scale * slopes) + float(np.sum(np.maximum(own, 0.0)))
