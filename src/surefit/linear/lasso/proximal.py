"""The lasso by proximal gradient descent (ISTA and FISTA)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData


class ProximalFit(NamedTuple):
    """Result of proximal gradient descent."""

    coef: np.ndarray
    intercept: float
    objective: float  # 1 / (2 n) |y - X w - b|^2 + alpha |w|_1
    gap: float  # proved bound on the distance of the objective from the optimum
    n_iter: int
    history: np.ndarray  # objective after each step


def proximal_lasso(
    X, y, alpha: float, *, accelerated: bool = True, tol: float = 1e-10, max_iter: int = 100_000
) -> ProximalFit:
    r"""Minimize the lasso objective by proximal gradient descent.

    .. math:: w \leftarrow S\bigl(w - \tfrac1L \nabla f(w),\; \tfrac{\alpha}{L}\bigr), \qquad S(u, \tau)_j =
              \operatorname{sign}(u_j) (|u_j| - \tau)_+

    with L the largest eigenvalue of :math:`X^\top X / n` (centered columns). Guarantee: the returned duality gap bounds
    the suboptimality. Plain steps (ISTA) never increase the objective; accelerated steps (FISTA) converge at the rate
    :math:`1 / k^2`. :class:`surefit.Lasso` is faster; this function is a reference implementation.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows.
    y : array of shape (n,)
        Targets.
    alpha : float > 0
        Weight of the l1 norm, in the scaling of :class:`surefit.Lasso`.
    accelerated : bool, default=True
        Whether to use FISTA instead of ISTA.
    tol : float >= 0, default=1e-10
        Stop when the gap is at most ``tol`` times the objective of the zero model.
    max_iter : int >= 1, default=100000
        Maximum number of steps.

    Examples
    --------
    >>> from surefit import proximal_lasso
    >>> fit = proximal_lasso([[-1.0], [0.0], [1.0]], [-2.0, 0.0, 2.0], 1 / 3)
    >>> round(float(fit.coef[0]), 8), round(6 * fit.objective, 8)
    (1.5, 3.5)
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if X.ndim != 2 or y.shape != (len(X),) or not alpha > 0:
        raise InvalidData("proximal_lasso: expected a table of rows, one target per row, and alpha > 0.")
    n, mean, level = len(X), X.mean(axis=0), float(y.mean())
    Z, t = X - mean, y - level
    L = float(np.linalg.norm(Z, 2)) ** 2 / n or 1.0
    null, w = 0.5 * float(t @ t) / n, np.zeros(X.shape[1])
    ahead, momentum, history, gap = w.copy(), 1.0, [], np.inf
    for _ in range(max_iter):
        u = ahead - Z.T @ (Z @ ahead - t) / (n * L)
        new = np.sign(u) * np.maximum(np.abs(u) - alpha / L, 0.0)
        after = 0.5 * (1 + np.sqrt(1 + 4 * momentum**2)) if accelerated else 1.0
        ahead = new + ((momentum - 1) / after) * (new - w) if accelerated else new
        w, momentum = new, after
        r = t - Z @ w
        objective = 0.5 * float(r @ r) / n + alpha * float(np.abs(w).sum())
        history.append(objective)
        largest = float(np.max(np.abs(Z.T @ r), initial=0.0)) / n
        theta = r * min(1.0, alpha / largest if largest > 0 else 1.0)
        gap = objective - (0.5 * float(t @ t) - 0.5 * float((t - theta) @ (t - theta))) / n
        if gap <= tol * max(null, np.finfo(float).tiny):
            break
    return ProximalFit(w, level - float(mean @ w), objective, max(float(gap), 0.0), len(history), np.array(history))
