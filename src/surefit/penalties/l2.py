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
class L2(NamedTuple):
    r"""Ridge penalty :math:`\Omega(w) = \tfrac{\beta}{2} \|w\|^2`; its conjugate is :math:`\|v\|^2 / (2\beta)`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.penalties import L2, penalty_value, prox
    >>> penalty_value(L2(0.5), np.array([2.0, 0.0])), prox(L2(1.0), 3.0, 1.0, 0)
    (1.0, 1.5)
    """

    beta: float


@coordinate_value.register(L2)
def _(penalty, w, j):
    return 0.5 * penalty.beta * w * w


@coordinate_conjugate.register(L2)
def _(penalty, v, j):
    if penalty.beta > 0.0:
        return 0.5 * v * v / penalty.beta
    return 0.0 if v == 0.0 else np.inf


@coordinate_scale.register(L2)
def _(penalty, v, j):
    return 1.0 if penalty.beta > 0.0 or v == 0.0 else 0.0


@prox.register(L2)
def _(penalty, v, step, j):
    return v / (1.0 + step * penalty.beta)


@elastic_terms.register(L2)
def _(penalty, n_features):
    return ElasticTerms(np.zeros(n_features), np.full(n_features, penalty.beta), False)
