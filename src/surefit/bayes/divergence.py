"""Relative entropy of two probability vectors."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import rel_entr

from surefit.core.errors import InvalidData

ROUNDING = 1e-9


def kl_divergence(p, q) -> float:
    r"""Return the relative entropy :math:`D(p \| q) = \sum_i p_i \ln(p_i / q_i)` of two probability vectors.

    :math:`0 \ln 0 = 0`; infinite if some :math:`q_i = 0 < p_i`. Guarantee: never negative, and zero only for equal vectors.
    :math:`-D(p_{\theta^*} \| p_\theta)` is the limit of the mean log-likelihood ratio, which is why maximum likelihood
    is consistent.

    Parameters
    ----------
    p, q : array of shape (n,)
        Probabilities, each summing to one.

    Examples
    --------
    >>> from surefit import kl_divergence
    >>> kl_divergence([0.5, 0.5], [0.5, 0.5]), round(kl_divergence([1.0, 0.0], [0.5, 0.5]), 4)
    (0.0, 0.6931)
    >>> kl_divergence([0.5, 0.5], [1.0, 0.0])
    inf
    """
    p, q = (probabilities("kl_divergence", name, values) for name, values in (("p", p), ("q", q)))
    if p.shape != q.shape:
        raise InvalidData(f"kl_divergence: p and q must have the same length; got {len(p)} and {len(q)}.")
    return max(0.0, math.fsum(rel_entr(p, q)))


def probabilities(who: str, name: str, values) -> np.ndarray:
    """Validate and return a probability vector."""
    found = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if found.ndim != 1 or not np.all(found >= 0) or abs(math.fsum(found) - 1) > ROUNDING:
        raise InvalidData(
            f"{who}: {name} must be numbers >= 0 that sum to one; their sum is {math.fsum(found.ravel())!r}."
        )
    return found
