r"""The banded equations of a smoothing spline, and how nearly a fitted one meets them.

Cubic, with :math:`\gamma` the second derivatives at the knots and :math:`h` the gaps: the pull of each datum is the jump of the third
derivative, :math:`s_i (y_i - f_i) = S \lambda [f^{(3)}]_i`, and the slopes of neighbouring pieces agree,

.. math:: \frac{f_{i+1} - f_i}{h_i} - \frac{f_i - f_{i-1}}{h_{i-1}}
          = \frac{h_{i-1}}{6} \gamma_{i-1} + \frac{h_{i-1} + h_i}{3} \gamma_i + \frac{h_i}{6} \gamma_{i+1},

which is :math:`(R + S \lambda Q^\top W^{-1} Q) \gamma = Q^\top y`. Natural ends: :math:`\gamma` is zero at the last knot and, without an
origin, at the first. Linear: :math:`s_i (y_i - f_i) + S \lambda [f^{(1)}]_i = 0`.
"""

import numpy as np

from surefit.checks.spline_rotations import Line


def backward_error(target: Line, degree: int, strength, coef: np.ndarray, gaps: np.ndarray) -> float:
    """Largest residual of an equation relative to the sizes of its terms: the change of entries that would excuse it."""
    if not len(gaps):
        return 0.0
    special = int(target.lead >= 0)
    y = target.targets + coef.dtype.type(target.offset)
    weights = target.weights.astype(coef.dtype)
    residual, scale = (_cubic if degree == 3 else _linear)(y, weights, strength, coef, gaps, special)
    shares = np.abs(residual) / np.where(scale > 0, scale, 1.0)
    return float(np.max(shares, initial=0.0))


def _jumps(slopes):
    """Difference of what is right and left of each knot, nothing beyond the ends."""
    nothing = np.zeros(1, dtype=slopes.dtype)
    return np.concatenate([slopes, nothing]) - np.concatenate([nothing, slopes])


def _sums(sizes):
    nothing = np.zeros(1, dtype=sizes.dtype)
    return np.concatenate([sizes, nothing]) + np.concatenate([nothing, sizes])


def _linear(y, weights, strength, coef, gaps, special: int):
    f = coef[0]
    pulls = weights * (y - f[special:])
    tension = strength * np.diff(f) / gaps
    sizes = strength * (np.abs(f[1:]) + np.abs(f[:-1])) / gaps
    scale = weights * (np.abs(y) + np.abs(f[special:])) + _sums(sizes)[special:]
    return pulls + _jumps(tension)[special:], scale


def _cubic(y, weights, strength, coef, gaps, special: int):
    bend = coef[2]
    ends = [abs(bend[-1])] if special else [abs(bend[0]), abs(bend[-1])]
    third, sizes = np.diff(bend) / gaps, (np.abs(bend[1:]) + np.abs(bend[:-1])) / gaps
    pull = strength * _jumps(third)[special:] / weights
    pull_size = strength * _sums(sizes)[special:] / weights
    pinned = np.zeros(special, dtype=coef.dtype)
    f, f_size = np.concatenate([pinned, y - pull]), np.concatenate([pinned, np.abs(y) + pull_size])
    secant, secant_size = np.diff(f) / gaps, (f_size[1:] + f_size[:-1]) / gaps
    before, after = gaps * (bend[:-1] + 2 * bend[1:]) / 6, gaps * (2 * bend[:-1] + bend[1:]) / 6
    residual = np.diff(secant) - before[:-1] - after[1:]
    scale = secant_size[1:] + secant_size[:-1] + np.abs(before[:-1]) + np.abs(after[1:])
    if special:  # the slope is zero at the origin
        residual, scale = np.append(residual, secant[0] - after[0]), np.append(scale, secant_size[0] + np.abs(after[0]))
    return np.append(residual, ends), np.append(scale, np.max(np.abs(bend)) * np.ones(len(ends)))
