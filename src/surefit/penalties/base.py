r"""Verbs of a penalty: the functions of a convex penalty that solvers use.

A separable penalty :math:`\Omega(w) = \sum_j \Omega_j(w_j)` defines its verbs for one coordinate; :func:`separable` derives the verbs for
vectors. A constraint is a penalty that is zero inside and infinite outside. Verbs work in Python and in compiled loops, and are
registered in the file of their class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.dispatch import generic
from surefit.core.jit import compiled


@generic
def coordinate_value(penalty, w, j):
    r"""Return :math:`\Omega_j(w)`; infinite outside its domain.

    Examples
    --------
    >>> from surefit.penalties import L1, coordinate_value
    >>> coordinate_value(L1(0.5), -3.0, 0)
    1.5
    """


@generic
def coordinate_conjugate(penalty, v, j):
    r"""Return :math:`\Omega_j^*(v) = \sup_w vw - \Omega_j(w)`; infinite outside its domain.

    Examples
    --------
    >>> from surefit.penalties import L1, L2, coordinate_conjugate
    >>> coordinate_conjugate(L2(2.0), 4.0, 0), coordinate_conjugate(L1(1.0), 2.0, 0)
    (4.0, inf)
    """


@generic
def coordinate_scale(penalty, v, j):
    r"""Return the largest ``s`` in [0, 1] such that :math:`\Omega_j^*(s v)` is finite.

    Examples
    --------
    >>> from surefit.penalties import L1, coordinate_scale
    >>> coordinate_scale(L1(1.0), 4.0, 0), coordinate_scale(L1(1.0), 0.5, 0)
    (0.25, 1.0)
    """


@generic
def prox(penalty, v, step, j):
    r"""Return :math:`\arg\min_w \tfrac12 (w - v)^2 + \mathrm{step} \cdot \Omega_j(w)`, ``step`` > 0.

    Examples
    --------
    >>> from surefit.penalties import L1, prox
    >>> [float(prox(L1(0.5), v, 1.0, 0)) for v in (-2.0, 0.3, 2.0)]
    [-1.5, 0.0, 1.5]
    """


@generic
def penalty_value(penalty, w):
    r"""Return :math:`\Omega(w)`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.penalties import L1, penalty_value
    >>> penalty_value(L1(0.5), np.array([3.0, -1.0]))
    2.0
    """


@generic
def penalty_conjugate(penalty, v):
    r"""Return :math:`\Omega^*(v) = \sup_w \langle v, w \rangle - \Omega(w)`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.penalties import L2, penalty_conjugate
    >>> penalty_conjugate(L2(2.0), np.array([4.0, 0.0]))
    4.0
    """


@generic
def dual_scale(penalty, v):
    r"""Return the largest ``s`` in [0, 1] such that :math:`\Omega^*(s v)` is finite.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.penalties import L1, dual_scale
    >>> dual_scale(L1(1.0), np.array([4.0, -0.5]))
    0.25
    """


@generic
def project(penalty, v):
    """Return the projection of ``v`` onto the feasible set of a constraint.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.penalties import L1Ball, project
    >>> project(L1Ball(1.0), np.array([2.0, 1.0]))
    array([1., 0.])
    """


class ElasticTerms(NamedTuple):
    r"""Elastic-net penalty per feature: :math:`a_j |w_j| + \tfrac12 b_j w_j^2`, and :math:`w_j \ge 0` if ``positive``.

    An infinite :math:`a_j` excludes a feature; :math:`a_j = b_j = 0` leaves it unpenalized.

    Examples
    --------
    >>> from surefit.penalties import L1, L2, elastic_terms
    >>> elastic_terms(L1(0.5), 2)
    ElasticTerms(slopes=array([0.5, 0.5]), curvatures=array([0., 0.]), positive=False)
    >>> elastic_terms(L2(0.5), 2).curvatures
    array([0.5, 0.5])
    """

    slopes: np.ndarray
    curvatures: np.ndarray
    positive: bool


@generic
def elastic_terms(penalty, n_features):
    """Return the penalty as :class:`surefit.penalties.ElasticTerms`, the common form that one compiled solver handles.

    Examples
    --------
    >>> from surefit.penalties import ElasticNetPenalty, Positive, elastic_terms
    >>> elastic_terms(Positive(ElasticNetPenalty(0.5, 2.0)), 2)
    ElasticTerms(slopes=array([0.5, 0.5]), curvatures=array([2., 2.]), positive=True)
    """


def separable(cls: type) -> type:
    """Derive the verbs for vectors from those for coordinates (class decorator)."""
    penalty_value.register(cls)(lambda penalty, w: _total_value(penalty, w))
    penalty_conjugate.register(cls)(lambda penalty, v: _total_conjugate(penalty, v))
    dual_scale.register(cls)(lambda penalty, v: _smallest_scale(penalty, v))
    return cls


@compiled
def _total_value(penalty, w):
    total = 0.0
    for j in range(len(w)):
        total += coordinate_value(penalty, w[j], j)
    return total


@compiled
def _total_conjugate(penalty, v):
    total = 0.0
    for j in range(len(v)):
        total += coordinate_conjugate(penalty, v[j], j)
    return total


@compiled
def _smallest_scale(penalty, v):
    scale = 1.0
    for j in range(len(v)):
        scale = min(scale, coordinate_scale(penalty, v[j], j))
    return scale
