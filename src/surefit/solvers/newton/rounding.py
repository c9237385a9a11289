r"""Effect of rounding on a recomputed duality gap.

A score has the error :math:`\delta z_i = u\,(|x_i|^\top|w| + |b|)`. The error :math:`\delta\theta_i` of a derivative is
its curvature times that, plus a few units in the last place. The error of :math:`v = X^\top\theta` is
:math:`\delta v = |X|^\top\delta\theta`. With the soft threshold :math:`S`, the gap has the error

.. math:: \sum_j |w_j - S(v_j) / l_2|\,\delta v_j + \delta v_j^2 / (2 l_2) + h \sum_i \delta\theta_i

where :math:`h` is the width of the smoothed region. Without :math:`l_2`, rounding affects the scale of the dual point.
A single row with entries of 1e9 can make the error exceed any tolerance.
"""

from __future__ import annotations

import numpy as np

from surefit.losses import Logistic
from surefit.solvers.barrier.linear import balanced
from surefit.solvers.newton.minimize import Fit
from surefit.solvers.newton.rows import Rows
from surefit.solvers.newton.scalar_scores import ScalarScores

LAST_PLACES = 4 * 2.0**-53  # relative error of a number after a few operations
COLUMN_SUMS = 64 * 2.0**-53  # accuracy of the column sums of multiclass probabilities
NEGLIGIBLE = 1e-12  # fraction of the objective below the tolerance of a checker
BALANCED = 1e-13  # relative accuracy to which the derivatives sum to zero
UNREAD_DIGITS = 1e-7  # relative to the gap itself


def gap_rounding(
    rows: Rows,
    scores,
    W: np.ndarray,
    b: np.ndarray,
    penalty: tuple[float, float],
    gap: float,
    peak: float = 0.0,
    middle: np.ndarray | None = None,
    intercept: bool = True,
) -> float:
    """Return a bound on the rounding error of the gap at coefficients W and intercepts b, or zero if it is negligible.

    ``peak`` is the largest number that was added to the scores or the targets and subtracted again; ``middle`` was
    subtracted from the rows. With several scores, the checker recomputes the gap from the original rows, and its dual
    point sums to zero up to rounding.
    """
    far = np.zeros(rows.shape[1]) if middle is None or scores.n_scores == 1 else np.abs(middle)
    l1, l2 = penalty
    if l1 == 0.0 and l2 == 0.0:
        return 0.0
    Z = rows.times(W) + b
    value, derivatives, state = scores.evaluate(Z)
    V = rows.transposed(derivatives)
    size = max(peak, *np.abs(b), float(np.max(np.abs(getattr(scores, "y", 1.0))))) + float(np.max(np.abs(W) @ far))
    if scores.n_scores > 1:
        size *= 2.0  # a probability depends on its own score and the mean of all

    def last_places() -> np.ndarray:  # not stored, because the next evaluations need much memory
        if scores.n_scores > 1:
            return COLUMN_SUMS * np.broadcast_to(scores.weights[:, None], derivatives.shape)
        return LAST_PLACES * np.abs(derivatives)

    curved = np.column_stack([scores.diagonal(state, k) for k in range(scores.n_scores)])
    del state
    from_far = np.outer(np.sum(last_places(), axis=0), far)

    def effect(off_theta: np.ndarray, off_v: np.ndarray) -> float:
        if l2 > 0.0:
            beyond = np.sign(V) * np.maximum(np.abs(V) - l1, 0.0)
            own = np.sum(np.abs(W + beyond / l2) * off_v) + np.sum(off_v**2) / (2 * l2)
        else:
            largest, share = (
                float(np.max(np.abs(V))),
                float(np.max(off_v)) / l1,
            )  # relative error of the scale of the dual point
            left = max(1.0 - l1 / largest, 0.0) if largest > 0.0 else 0.0
            bent = (left + 0.5 * share) * derivatives**2 / np.maximum(curved, 1e-300)
            own = share * (l1 * np.sum(np.abs(W)) + np.sum(np.minimum(np.abs(derivatives * Z), bent)))
        return float(own + scores.width * np.sum(off_theta))

    def off_derivatives(off_scores: np.ndarray) -> np.ndarray:
        steep = curved.copy()
        for move in (-1.0, 1.0):
            other = scores.evaluate(Z + move * off_scores)[2]
            for k in range(scores.n_scores):
                np.maximum(steep[:, k], scores.diagonal(other, k), out=steep[:, k])
            del other  # before the next evaluation allocates
        steep *= np.max(off_scores, axis=1, keepdims=True)
        steep += last_places()
        return steep

    with np.errstate(over="ignore", invalid="ignore"):
        peaks = rows.peaks
        everywhere = LAST_PLACES * (np.abs(W) @ peaks + size)
        off_theta = off_derivatives(np.broadcast_to(everywhere, Z.shape))
        total = effect(off_theta, np.outer(np.sum(off_theta, axis=0), peaks) + from_far)
        enough = NEGLIGIBLE * abs(value) + UNREAD_DIGITS * gap
        if total > enough:  # row by row, because one distant row dominates the coarse bound
            sizes = Rows(abs(rows.X))
            off_theta = off_derivatives(LAST_PLACES * (sizes.times(np.abs(W)) + size))
            total = effect(off_theta, sizes.transposed(off_theta) + from_far)
    if scores.n_scores == 1:
        total += max(_afresh(rows, scores, W, Z, derivatives, V, l1, l2, intercept) - gap, 0.0)
    return 0.0 if total <= enough else total


def rounding_by_magnitudes(rows: Rows, scores, fit: Fit, l1: float, l2: float) -> float:
    r"""Return a coarse bound on the rounding error of the gap from magnitudes alone, without products with the rows.

    With the penalty :math:`l_2`, the difference :math:`|w - S(v) / l_2|` is at most :math:`\sqrt{2 g / l_2}`; without
    it, the scale of the dual point has a relative error. The scores of the solver have one rounding error per step.
    """
    W, c, peak = fit.coef, float(np.sum(scores.weights)), rows.peak
    if scores.width:  # derivatives are at most 1, and each kink is smoothed by a curvature of one over the width
        curvature, derivatives = 2.0 * c / scores.width, c
    elif scores.n_scores > 1 or isinstance(scores.loss, Logistic):
        curvature, derivatives = 0.25 * c, c
    else:
        curvature, derivatives = 2.0 * c, 2.0 * np.sqrt(c * max(fit.objective, 0.0))
    size = peak * float(np.max(np.sum(np.abs(W), axis=1))) + float(np.max(np.abs(fit.intercept))) + 1.0
    if scores.n_scores == 1:
        size += float(np.max(np.abs(scores.y)))
    last = LAST_PLACES if scores.n_scores == 1 else COLUMN_SUMS
    off_theta = (2.0 + fit.n_iter) * LAST_PLACES * curvature * size + last * derivatives
    off_v, smoothed = peak * off_theta, scores.width * off_theta
    if l2 == 0.0:
        own = off_v / l1 * (l1 * np.sum(np.abs(W)) + derivatives * size) + smoothed
        return float(own) if scores.n_scores == 1 else np.inf
    off_v *= np.sqrt(W.size)
    return float(np.sqrt(2.0 * max(fit.gap, 0.0) / l2) * off_v + off_v**2 / (2 * l2) + smoothed)


def _afresh(rows: Rows, scores: ScalarScores, W, Z, derivatives, V, l1: float, l2: float, intercept: bool) -> float:
    """Recompute the gap from the coefficients, with derivatives that sum to zero, because the solver's scores accumulate errors."""
    if intercept and abs(derivatives.sum()) > BALANCED * np.abs(derivatives).sum():
        derivatives = balanced(derivatives[:, 0])[:, None]
        V = rows.transposed(derivatives)
    scale = 1.0 if l2 > 0.0 else min(1.0, l1 / max(float(np.max(np.abs(V))), 1e-300))
    own = l1 * np.abs(W) + 0.5 * l2 * W**2 + scale * W * V
    if l2 > 0.0:
        own = own + np.maximum(np.abs(V) - l1, 0.0) ** 2 / (2 * l2)
    return scores.young(Z, scale * derivatives) + float(np.sum(np.maximum(own, 0.0)))
