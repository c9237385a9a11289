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
class ElasticNetPenalty(NamedTuple):
    r"""Elastic net :math:`\Omega(w) = \alpha \|w\|_1 + \tfrac{\beta}{2} \|w\|^2`.

    Its conjugate is :math:`\sum_j (|v_j| - \alpha)_+^2 / (2\beta)`, finite everywhere if :math:`\beta > 0`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.penalties import ElasticNetPenalty, penalty_conjugate, penalty_value
    >>> penalty = ElasticNetPenalty(1.0, 2.0)
    >>> penalty_value(penalty, np.array([2.0])), penalty_conjugate(penalty, np.array([3.0]))
    (6.0, 1.0)
    """

    alpha: float
    beta: float


@coordinate_value.register(ElasticNetPenalty)
def _(penalty, w, j):
    return penalty.alpha * abs(w) + 0.5 * penalty.beta * w * w


@coordinate_conjugate.register(ElasticNetPenalty)
def _(penalty, v, j):
    beyond = max(abs(v) - penalty.alpha, 0.0)
    if penalty.beta > 0.0:
        return 0.5 * beyond * beyond / penalty.beta
    return 0.0 if beyond == 0.0 else np.inf


@coordinate_scale.register(ElasticNetPenalty)
def _(penalty, v, j):
    if penalty.beta > 0.0 or abs(v) <= penalty.alpha:
        return 1.0
    return penalty.alpha / abs(v)


@prox.register(ElasticNetPenalty)
def _(penalty, v, step, j):
    return np.sign(v) * max(abs(v) - step * penalty.alpha, 0.0) / (1.0 + step * penalty.beta)


@elastic_terms.register(ElasticNetPenalty)
def _(penalty, n_features):
    return ElasticTerms(np.full(n_features, penalty.alpha), np.full(n_features, penalty.beta), False)
