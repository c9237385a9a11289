from typing import NamedTuple

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
class L1(NamedTuple):
    r"""Lasso penalty :math:`\Omega(w) = \alpha \|w\|_1`; its conjugate is the indicator of :math:`\|v\|_\infty \le \alpha`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.penalties import L1, penalty_value, prox
    >>> penalty_value(L1(0.5), np.array([3.0, -1.0])), float(prox(L1(0.5), 3.0, 1.0, 0)), float(prox(L1(0.5), 0.3, 1.0, 0))
    (2.0, 2.5, 0.0)
    """

    alpha: float


@coordinate_value.register(L1)
def _(penalty, w, j):
    return penalty.alpha * abs(w)


@coordinate_conjugate.register(L1)
def _(penalty, v, j):
    return 0.0 if abs(v) <= penalty.alpha else np.inf


@coordinate_scale.register(L1)
def _(penalty, v, j):
    return 1.0 if abs(v) <= penalty.alpha else penalty.alpha / abs(v)


@prox.register(L1)
def _(penalty, v, step, j):
    return np.sign(v) * max(abs(v) - step * penalty.alpha, 0.0)


@elastic_terms.register(L1)
def _(penalty, n_features):
    return ElasticTerms(np.full(n_features, penalty.alpha), np.zeros(n_features), False)
