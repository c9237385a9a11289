r"""Rademacher complexity of balls: kernel machines, and linear functions with a bounded l_p norm."""

import math
from typing import Any

import numpy as np

from surefit.bounds.rademacher import Complexity, mean_over_signs
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, POSITIVE, REAL


def kernel_ball_rademacher(
    gram: Any,
    radius: float = 1.0,
    offset: float = 0.0,
    *,
    exact: bool | None = None,
    draws: int = 1000,
    delta: float = 0.01,
    seed: int = 0,
) -> Complexity:
    r"""Return the complexity of :math:`\{\langle f, \Phi(x) \rangle + b : \|f\| \le \Lambda, |b| \le B\}` from the Gram matrix.

    .. math:: \hat{\mathfrak R} = \frac1m E_\sigma\Bigl[\Lambda \sqrt{\sigma^\top K \sigma}\Bigr] + \frac Bm E_\sigma
              \Bigl|\sum_i \sigma_i\Bigr|
              \;\le\; \frac{\Lambda \sqrt{\operatorname{tr} K}}{m} + \frac{B}{\sqrt m}.

    Guarantee: the first expression is exact for at most 16 points and otherwise a Monte Carlo estimate with its error; the term of the
    intercept is always exact (theory: :ref:`rademacher`).

    Parameters
    ----------
    gram : array of shape (m, m)
        Kernel matrix, positive semi-definite.
    radius, offset : float
        :math:`\Lambda > 0` and :math:`B \ge 0`; a one-sided constraint on b would make the complexity infinite.
    exact, draws, delta, seed
        As for :func:`empirical_rademacher`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import kernel_ball_rademacher
    >>> round(kernel_ball_rademacher(np.eye(2), radius=1.0, offset=1.0).value, 8)  # (sqrt 2 + 1) / 2
    1.20710678
    """
    K = _gram("kernel_ball_rademacher", gram)
    m = len(K)
    _check_ball("kernel_ball_rademacher", radius, offset)

    def norms(signs: np.ndarray) -> np.ndarray:
        return radius * np.sqrt(np.maximum(np.einsum("ij,ij->i", signs @ K, signs), 0.0)) / m

    bounds = radius * np.sqrt(np.maximum(np.diag(K), 0.0))
    ball = mean_over_signs(norms, m, bounds, exact, draws, delta, seed)
    shift = offset * mean_absolute_sum(m) / m
    return Complexity(ball.value + shift, ball.upper + shift, ball.delta, ball.exact, m)


def kernel_ball_trace(trace: float, n: int, radius: float = 1.0, offset: float = 0.0) -> float:
    r"""Return the trace bound :math:`\Lambda \sqrt{\operatorname{tr} K} / n + B / \sqrt n` on the same complexity.

    Examples
    --------
    >>> from surefit.bounds import kernel_ball_trace
    >>> round(kernel_ball_trace(2.0, 2, radius=1.0, offset=1.0), 6)  # sqrt 2
    1.414214
    """
    _check_ball("kernel_ball_trace", radius, offset)
    if not (trace >= 0 and COUNT.allows(n)):
        raise InvalidParameter("kernel_ball_trace", "trace, n", "a number >= 0 and an integer >= 1", (trace, n))
    return radius * math.sqrt(trace) / n + offset / math.sqrt(n)


def linear_ball_rademacher(
    X: Any,
    radius: float = 1.0,
    p: float = 2.0,
    *,
    exact: bool | None = None,
    draws: int = 1000,
    delta: float = 0.01,
    seed: int = 0,
) -> Complexity:
    r"""Return the complexity of linear functions with :math:`\|w\|_p \le \Lambda`.

    .. math:: \hat{\mathfrak R} = \frac{\Lambda}{m} E_\sigma \|X^\top \sigma\|_{p^*}

    Guarantee: exact for at most 16 rows, otherwise a Monte Carlo estimate with its error (theory: :ref:`rademacher`).

    Parameters
    ----------
    X : array of shape (m, d)
        The rows.
    radius : float > 0
        :math:`\Lambda`.
    p : float >= 1, or inf
        Norm of the weights; the dual exponent is :math:`p^* = p / (p - 1)`.
    exact, draws, delta, seed
        As for :func:`empirical_rademacher`.

    Examples
    --------
    >>> from surefit.bounds import linear_ball_rademacher
    >>> [linear_ball_rademacher([[1.0, 0.0], [0.0, 1.0]], p=p).value for p in (1, float("inf"))]
    [0.5, 1.0]
    """
    matrix, dual = _rows("linear_ball_rademacher", X), dual_exponent(p)
    _check_ball("linear_ball_rademacher", radius, 0.0)
    m = len(matrix)

    def norms(signs: np.ndarray) -> np.ndarray:
        return radius * np.linalg.norm(signs @ matrix, ord=dual, axis=1) / m

    bounds = radius * np.linalg.norm(matrix, ord=dual, axis=1)
    return mean_over_signs(norms, m, bounds, exact, draws, delta, seed)


def linear_ball_closed_form(X: Any, radius: float = 1.0, p: float = 2.0) -> float:
    r"""Return a closed-form bound on :func:`surefit.bounds.linear_ball_rademacher`, for p = 1, 2 or infinity.

    ========= ==================================================================
    p = 1     :math:`\Lambda \max_j \|x_{\cdot j}\|_2 \sqrt{2 \ln(2d)} / m`
    p = 2     :math:`\Lambda \sqrt{\sum_i \|x_i\|_2^2} / m`
    p = inf   :math:`\Lambda \sum_j \|x_{\cdot j}\|_2 / m`
    ========= ==================================================================

    Examples
    --------
    >>> from surefit.bounds import linear_ball_closed_form
    >>> round(linear_ball_closed_form([[1.0, 0.0], [0.0, 1.0]], p=2), 6)
    0.707107
    """
    matrix = _rows("linear_ball_closed_form", X)
    _check_ball("linear_ball_closed_form", radius, 0.0)
    m, d = matrix.shape
    columns = np.linalg.norm(matrix, axis=0)
    if p == 1:
        return radius * float(np.max(columns)) * math.sqrt(2 * math.log(2 * d)) / m
    if p == 2:
        return radius * float(np.linalg.norm(matrix)) / m
    if math.isinf(p):
        return radius * float(np.sum(columns)) / m
    raise InvalidParameter("linear_ball_closed_form", "p", "1, 2 or inf (others: linear_ball_rademacher)", p)


def mean_absolute_sum(n: int) -> float:
    r"""Return :math:`E |\sum_{i \le n} \sigma_i|`, the mean absolute value of a sum of random signs, in closed form.

    Examples
    --------
    >>> from surefit.bounds import mean_absolute_sum
    >>> [round(mean_absolute_sum(n), 12) for n in (1, 2, 3, 4)]
    [1.0, 1.0, 1.5, 1.5]
    """
    half = (n + 1) // 2  # E = 2 half C(2 half, half) / 4^half
    if half < 500:
        return 2 * half * math.comb(2 * half, half) / 4**half
    log_ratio = math.lgamma(half + 0.5) - math.lgamma(half + 1.0) if half < 10_000 else _log_central(half)
    return 2 * half * math.exp(log_ratio) / math.sqrt(math.pi)


def dual_exponent(p: float) -> float:
    """Return the exponent of the dual norm."""
    if not (REAL.allows(p) or p == math.inf) or p < 1:
        raise InvalidParameter("dual_exponent", "p", "a number >= 1, or inf", p)
    return math.inf if p == 1 else 1.0 if math.isinf(p) else p / (p - 1)


def _log_central(k: int) -> float:
    """Return ``ln(Gamma(k + 1/2) / Gamma(k + 1))`` for large k by its series, where lgamma would cancel."""
    return -0.5 * math.log(k) - 1 / (8 * k) + 1 / (192 * k**3)


def _gram(who: str, gram: Any) -> np.ndarray:
    K = np.asarray(gram, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.size == 0 or not np.all(np.isfinite(K)):
        raise InvalidData(f"{who}: gram must be a square matrix of finite numbers; got shape {K.shape}.")
    return K


def _rows(who: str, X: Any) -> np.ndarray:
    matrix = np.asarray(X, dtype=np.float64)
    if matrix.ndim != 2 or matrix.size == 0 or not np.all(np.isfinite(matrix)):
        raise InvalidData(f"{who}: X must be a matrix of finite numbers; got shape {matrix.shape}.")
    return matrix


def _check_ball(who: str, radius: float, offset: float) -> None:
    if not POSITIVE.allows(radius):
        raise InvalidParameter(who, "radius", POSITIVE.words, radius)
    if not (REAL.allows(offset) and offset >= 0):
        raise InvalidParameter(who, "offset", "a finite number >= 0", offset)
