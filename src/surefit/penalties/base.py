r"""The verbs of a penalty: what a solver may ask of a convex function of the coefficients.

A separable penalty :math:`\Omega(w) = \sum_j \Omega_j(w_j)` answers for one coordinate at a time; the verbs over whole
vectors follow from those (:func:`separable`). A constraint is a penalty that is zero inside and infinite outside. Verbs work
in Python and in compiled loops, and are registered in the file of their class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.dispatch import generic
from surefit.core.jit import compiled


@generic
def coordinate_value(penalty, w, j):
    r"""Return :math:`\Omega_j(w)`; infinite outside its domain."""


@generic
def coordinate_conjugate(penalty, v, j):
    r"""Return :math:`\Omega_j^*(v) = \sup_w vw - \Omega_j(w)`; infinite outside its domain."""


@generic
def coordinate_scale(penalty, v, j):
    r"""Return the largest ``s`` in [0, 1] such that :math:`\Omega_j^*(s v)` is finite."""


@generic
def prox(penalty, v, step, j):
    r"""Return :math:`\arg\min_w \tfrac12 (w - v)^2 + \mathrm{step} \cdot \Omega_j(w)`, ``step`` > 0."""


@generic
def penalty_value(penalty, w):
    r"""Return :math:`\Omega(w)`."""


@generic
def penalty_conjugate(penalty, v):
    r"""Return :math:`\Omega^*(v) = \sup_w \langle v, w \rangle - \Omega(w)`."""


@generic
def dual_scale(penalty, v):
    r"""Return the largest ``s`` in [0, 1] such that :math:`\Omega^*(s v)` is finite."""


@generic
def project(penalty, v):
    """Return the nearest point to ``v`` of the set where a constraint is met."""


class ElasticTerms(NamedTuple):
    r"""A penalty spelt out feature by feature: :math:`a_j |w_j| + \tfrac12 b_j w_j^2`, and :math:`w_j \ge 0` if ``positive``.

    An infinite slope excludes a feature; slope and curvature zero leave it unpenalised.
    """

    slopes: np.ndarray
    curvatures: np.ndarray
    positive: bool


@generic
def elastic_terms(penalty, n_features):
    """Return the penalty as :class:`ElasticTerms`: one form, hence one compiled solver, for the whole family."""


def separable(cls: type) -> type:
    """Class decorator: derive the verbs over vectors from those over coordinates."""
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
