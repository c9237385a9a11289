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
class Weighted(NamedTuple):
    r"""Per-feature factors :math:`f_j \ge 0` on a separable penalty: :math:`\Omega(w) = \sum_j f_j \Omega_j(w_j)`.

    A factor of 0 leaves a feature unpenalized, and infinity excludes it (its coefficient is zero).

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.penalties import L1, Weighted, penalty_value
    >>> penalty_value(Weighted(L1(1.0), np.array([0.0, 2.0])), np.array([5.0, -1.0]))
    2.0
    """

    base: Any
    factors: np.ndarray


@coordinate_value.register(Weighted)
def _(penalty, w, j):
    factor = penalty.factors[j]
    if w == 0.0 or factor == 0.0:  # infinity times zero is zero here
        return 0.0
    return factor * coordinate_value(penalty.base, w, j)


@coordinate_conjugate.register(Weighted)
def _(penalty, v, j):
    factor = penalty.factors[j]
    if np.isinf(factor):
        return 0.0
    if factor == 0.0:
        return 0.0 if v == 0.0 else np.inf
    return factor * coordinate_conjugate(penalty.base, v / factor, j)


@coordinate_scale.register(Weighted)
def _(penalty, v, j):
    factor = penalty.factors[j]
    if np.isinf(factor):
        return 1.0
    if factor == 0.0:
        return 1.0 if v == 0.0 else 0.0
    return coordinate_scale(penalty.base, v / factor, j)


@prox.register(Weighted)
def _(penalty, v, step, j):
    factor = penalty.factors[j]
    if factor == 0.0:
        return v
    if np.isinf(factor):
        return 0.0
    return prox(penalty.base, v, step * factor, j)


@elastic_terms.register(Weighted)
def _(penalty, n_features):
    base = elastic_terms(penalty.base, n_features)
    excluded = np.isinf(penalty.factors)
    factors = np.where(excluded, 0.0, penalty.factors)
    slopes = np.where(excluded, np.inf, base.slopes * factors)
    return ElasticTerms(slopes, base.curvatures * factors, base.positive)
