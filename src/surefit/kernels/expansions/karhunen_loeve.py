"""Draws of a Gaussian process from a truncated Karhunen-Loeve expansion, and the truncation error."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT
from surefit.kernels.base import Kernel
from surefit.kernels.expansions.eigenpairs import check_count


def karhunen_loeve(kernel: Kernel, X, terms: int, *, size: int = 1, random_state=None) -> np.ndarray:
    r"""Draw :math:`f_m(x) = \sum_{j \le m} \sqrt{\lambda_j} \xi_j \phi_j(x)` with independent standard normal :math:`\xi_j`.

    The covariance is the partial Mercer sum. :math:`E \|f_m\|^2 = m` in the RKHS, so the limit is not in the RKHS.

    Parameters
    ----------
    kernel : Kernel
        A kernel with closed-form eigenpairs (:class:`Min`, :class:`RBF` in one dimension).
    X : sample
        Points at which to draw.
    terms : int >= 1
        The number of terms m.
    size : int >= 1, default=1
        Number of draws.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    ndarray of shape (size, n)

    Examples
    --------
    >>> from surefit.kernels import Min, karhunen_loeve
    >>> karhunen_loeve(Min(), [[0.0], [0.5], [1.0]], 20, size=3, random_state=0).shape
    (3, 3)
    """
    pairs: Any = kernel.eigenpairs(check_count("karhunen_loeve", terms))  # type: ignore[attr-defined]
    rng = random_state if isinstance(random_state, np.random.Generator) else np.random.default_rng(random_state)
    return rng.standard_normal((check_count("karhunen_loeve", size), int(terms))) @ pairs.features(X).T


def brownian_truncation_bound(terms: int) -> float:
    r"""Bound :math:`\sup_{x, y} |\min(x, y) - \sum_{j \le m} \lambda_j \phi_j(x) \phi_j(y)| \le 2 / (\pi^2 m)` on [0, 1].

    Examples
    --------
    >>> from surefit.kernels import brownian_truncation_bound
    >>> round(brownian_truncation_bound(20), 6)
    0.010132
    """
    return 2 / (math.pi**2 * check_count("brownian_truncation_bound", terms))


def norm_tail_bound(terms: int, c: float) -> float:
    r"""Bound the probability that the squared norm of m Karhunen-Loeve terms is at most c.

    .. math:: P\Bigl(\sum_{j \le m} \xi_j^2 \le c\Bigr) \le \frac{2m}{(m - c)^2}, \qquad m > c

    by Chebyshev's inequality. The bound tends to zero as m grows, so a draw of the process is almost surely not in the
    RKHS of its kernel. The returned bound is at most 1.

    Examples
    --------
    >>> from surefit.kernels import norm_tail_bound
    >>> [round(norm_tail_bound(m, 5), 4) for m in (20, 50, 100)]
    [0.1778, 0.0494, 0.0222]
    """
    if not COUNT.allows(terms) or not 0 <= c < math.inf:
        raise InvalidParameter("norm_tail_bound", "terms, c", "an integer >= 1 and a number >= 0", (terms, c))
    return min(1.0, 2 * terms / (terms - c) ** 2) if terms > c else 1.0
