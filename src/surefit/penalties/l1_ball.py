from typing import NamedTuple

import numpy as np

from surefit.penalties.base import dual_scale, penalty_conjugate, penalty_value, project


class L1Ball(NamedTuple):
    r"""The constraint :math:`\|w\|_1 \le` ``radius``; its conjugate is :math:`\mathrm{radius} \cdot \|v\|_\infty`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.penalties import L1Ball, penalty_conjugate, project
    >>> project(L1Ball(1.0), np.array([2.0, 1.0])), float(penalty_conjugate(L1Ball(2.0), np.array([3.0, -1.0])))
    (array([1., 0.]), 6.0)
    """

    radius: float


@penalty_value.register(L1Ball)
def _(penalty, w):
    return 0.0 if np.sum(np.abs(w)) <= penalty.radius else np.inf


@penalty_conjugate.register(L1Ball)
def _(penalty, v):
    largest = 0.0
    for j in range(len(v)):
        largest = max(largest, abs(v[j]))
    return penalty.radius * largest


@dual_scale.register(L1Ball)
def _(penalty, v):
    return 1.0


@project.register(L1Ball)
def _(penalty, v):
    # the projection is a soft threshold; the threshold solves sum_j (|v_j| - t)_+ = radius, piecewise linear in t
    sizes = np.abs(v)
    if np.sum(sizes) <= penalty.radius:
        return v.copy()
    descending = np.sort(sizes)[::-1]
    sums = np.cumsum(descending)
    threshold = descending[0]
    for k in range(len(v)):
        candidate = (sums[k] - penalty.radius) / (k + 1)
        if candidate >= descending[k]:
            break
        threshold = candidate
    return np.sign(v) * np.maximum(sizes - threshold, 0.0)
