from typing import Any, NamedTuple

import numpy as np

from surefit.penalties.base import (
    ElasticTerms,
    coordinate_conjugate,
    coordinate_scale,
    coordinate_value,
    elastic_terms,
    prox,
    separable,
)


@separable
class Positive(NamedTuple):
    r"""A separable penalty restricted to :math:`w \ge 0`.

    All penalties here have their minimum at zero. For such a base penalty, the conjugate is that of the base at
    :math:`\max(v, 0)`, and the proximal point is the positive part of that of the base.

    Examples
    --------
    >>> from surefit.penalties import L1, Positive, prox
    >>> float(prox(Positive(L1(0.5)), 3.0, 1.0, 0)), prox(Positive(L1(0.5)), -3.0, 1.0, 0)
    (2.5, 0.0)
    """

    base: Any


@coordinate_value.register(Positive)
def _(penalty, w, j):
    return np.inf if w < 0.0 else coordinate_value(penalty.base, w, j)


@coordinate_conjugate.register(Positive)
def _(penalty, v, j):
    return coordinate_conjugate(penalty.base, max(v, 0.0), j)


@coordinate_scale.register(Positive)
def _(penalty, v, j):
    return coordinate_scale(penalty.base, max(v, 0.0), j)


@prox.register(Positive)
def _(penalty, v, step, j):
    return max(prox(penalty.base, v, step, j), 0.0)


@elastic_terms.register(Positive)
def _(penalty, n_features):
    base = elastic_terms(penalty.base, n_features)
    return ElasticTerms(base.slopes, base.curvatures, True)
