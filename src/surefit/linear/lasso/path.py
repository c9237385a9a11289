"""Regularization paths of the lasso and the elastic net, with the duality gap of each solution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.utils import check_array, check_consistent_length

from surefit.core.budget import Budget, Reason
from surefit.core.errors import ConvergenceWarning, InvalidParameter
from surefit.core.threads import threads_instead_of_blas
from surefit.core.validation import read_weights
from surefit.core.warn import warn
from surefit.linear.lasso.training import make_penalty
from surefit.linear.multi_task.path import largest_alpha, solve_targets
from surefit.operators import as_design
from surefit.solvers.coordinate_descent import alpha_max, prepare, solve_path


def lasso_path(X, y, **options):
    r"""Solve the lasso for a decreasing sequence of penalty weights.

    .. math:: \frac{1}{2n} \|y - Xw\|^2 + \alpha \|w\|_1

    Guarantee: ``dual_gaps[k]`` bounds the suboptimality of the k-th objective (theory: :ref:`fenchel-gap`).

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Training data; the columns are centered only if ``fit_intercept=True``.
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Targets; the coefficients of several targets have a common support, as for :class:`surefit.MultiTaskLasso`.
    **options
        As for :func:`enet_path`, without ``l1_ratio``.

    Returns
    -------
    alphas, coefs, dual_gaps[, n_iters]
        As for :func:`enet_path`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import lasso_path
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, 0.0, 2.0])
    >>> alphas, coefs, gaps = lasso_path(X, y, alphas=[4 / 3, 1 / 3])
    >>> print(coefs.round(6))
    [[0.  1.5]]
    """
    return enet_path(X, y, l1_ratio=1.0, **options)


def enet_path(
    X,
    y,
    *,
    l1_ratio=0.5,
    eps=1e-3,
    alphas=100,
    precompute="auto",
    Xy=None,
    copy_X=True,
    coef_init=None,
    verbose=False,
    return_n_iter=False,
    positive=False,
    fit_intercept=False,
    sample_weight=None,
    penalty_factors=None,
    tol=1e-6,
    max_iter=1000,
    max_time=None,
    random_state=None,
    selection="cyclic",
    check_input=True,
):
    r"""Solve the elastic net for a decreasing sequence of penalty weights.

    .. math:: \frac{1}{2n} \|y - Xw\|^2 + \alpha \left( \rho \|w\|_1 + \tfrac{1-\rho}{2} \|w\|^2 \right)

    Each problem is warm-started from the previous solution and reuses its working set, Gram matrix and screened
    features.

    Guarantee: ``dual_gaps[k]`` bounds the suboptimality of the k-th objective (theory: :ref:`fenchel-gap`).
    When ``max_time`` is used up, or on Ctrl-C, the solutions computed so far are returned with a warning.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Training data; the columns are centered only if ``fit_intercept=True``.
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Targets; the coefficients of several targets have a common support, as for :class:`surefit.MultiTaskElasticNet`.
        Several targets require a dense X.
    l1_ratio : float in [0, 1], default=0.5
        Share of the l1 norm in the penalty.
    eps : float > 0, default=1e-3
        Smallest alpha of the path, as a fraction of the smallest alpha at which all coefficients are zero.
    alphas : int or array, default=100
        Number of alphas, or the alphas themselves (solved in decreasing order).
    coef_init : array of shape (n_features,), optional
        Starting point of the first problem.
    return_n_iter : bool, default=False
        Whether to return the number of passes of each solution as well.
    positive : bool, default=False
        Whether to require non-negative coefficients.
    fit_intercept : bool, default=False
        Whether to fit an intercept (scikit-learn's paths have none). The intercept is ``mean(y) - mean(X) @ coef``.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows.
    penalty_factors : array of shape (n_features,), optional
        Per-feature penalty factors; 0 leaves a feature unpenalized, infinity excludes it.
    tol : float, default=1e-6
        Relative duality gap at which a solution is accepted.
    max_iter : int, default=1000
        Maximum number of passes per solution.
    max_time : float, optional
        Time limit of the whole path in seconds.
    precompute, Xy, copy_X, verbose, random_state, selection, check_input
        Accepted for compatibility with scikit-learn; they have no effect.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        Penalty weights in decreasing order.
    coefs : ndarray of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
        Coefficients.
    dual_gaps : ndarray of shape (n_alphas,)
        Proved bound on the suboptimality of each solution.
    n_iters : list of int
        Number of passes of each solution; only if ``return_n_iter`` is true.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import enet_path
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, 0.0, 2.0])
    >>> alphas, coefs, gaps = enet_path(X, y, alphas=[1.0], l1_ratio=0.5)
    >>> print(coefs.round(6))
    [[0.714286]]
    """
    X = check_array(X, accept_sparse=["csc", "csr"], dtype=[np.float64, np.float32])
    y = check_array(y, ensure_2d=False, dtype=np.float64)
    check_consistent_length(X, y)
    if y.ndim == 2 and y.shape[1] > 1:
        beyond = {"positive": positive, "sample_weight": sample_weight, "penalty_factors": penalty_factors}
        for name, value in beyond.items():
            if value is not None and value is not False:
                raise InvalidParameter("path", name, "left out for several targets", value)
        grid = weights_of(alphas, eps, lambda: largest_alpha(X, y, l1_ratio, fit_intercept))
        with Budget(max_iter, max_time) as budget, threads_instead_of_blas():
            found = solve_targets(X, y, grid, l1_ratio, fit_intercept, tol=tol, budget=budget, start=coef_init)
        _warn_unless_complete(found, grid, budget)
        return _returned(grid, [result.W.T for result in found], found, return_n_iter)
    y = y.ravel()
    weights = read_weights("path", sample_weight, X.shape[0])
    factors = None if penalty_factors is None else np.ascontiguousarray(penalty_factors, dtype=np.float64)
    with Budget(max_iter, max_time) as budget, threads_instead_of_blas():
        prepared = prepare(as_design(X), y, weights, fit_intercept)
        grid = alpha_grid(prepared, l1_ratio, eps, alphas, positive, factors)
        penalties = [make_penalty(alpha, l1_ratio, positive, factors) for alpha in grid]
        solutions = list(solve_path(prepared, penalties, tol=tol, budget=budget, start=coef_init))
    _warn_unless_complete(solutions, grid, budget)
    return _returned(
        grid, [solution.coef for solution in solutions] or [np.zeros((X.shape[1], 0))], solutions, return_n_iter
    )


def _returned(grid, coefs: list[np.ndarray], solutions, return_n_iter: bool):
    """Return the same tuple as scikit-learn's path functions; the last axis of the coefficients indexes the alphas."""
    joined = np.stack(coefs, axis=-1) if solutions else coefs[0]
    result = (grid[: len(solutions)], joined, np.array([solution.gap for solution in solutions]))
    return (*result, [int(solution.n_iter) for solution in solutions]) if return_n_iter else result


def alpha_grid(prepared, l1_ratio: float, eps: float, alphas, positive: bool, factors) -> np.ndarray:
    """Return the decreasing alphas of a path: the given ones, or a logarithmic grid that starts at the null model."""

    def largest() -> float:
        if l1_ratio == 0:
            raise InvalidParameter(
                "path", "alphas", "given explicitly when l1_ratio=0 (no finite alpha gives all zeros)", alphas
            )
        return alpha_max(prepared, make_penalty(1.0, l1_ratio, positive, factors))

    return weights_of(alphas, eps, largest)


def weights_of(alphas, eps: float, largest: Callable[[], float]) -> np.ndarray:
    """Return the given alphas in decreasing order, or ``alphas`` log-spaced values from ``largest()`` down."""
    if not isinstance(alphas, (int, np.integer)):
        grid = np.sort(np.asarray(alphas, dtype=np.float64))[::-1]
        if grid.ndim != 1 or len(grid) == 0 or not np.all(np.isfinite(grid)) or grid[-1] < 0:
            raise InvalidParameter("path", "alphas", "a count or a list of finite numbers >= 0", alphas)
        return grid
    top = largest()
    if top <= np.finfo(float).resolution:  # y is constant: every alpha gives the null model
        return np.full(int(alphas), np.finfo(float).resolution)
    return top * np.logspace(0, np.log10(eps), int(alphas))


def _warn_unless_complete(solutions, grid, budget) -> None:
    behind = [s for s in solutions if s.reason != Reason.CONVERGED]
    if len(solutions) < len(grid):
        warn(
            f"path: stopped after {len(solutions)} of {len(grid)} alphas: {(budget.stopped or Reason.MAX_ITER).sentence()}. "
            "The solutions computed so far are returned with their gaps.",
            ConvergenceWarning,
        )
    elif behind:
        worst = max(behind, key=lambda s: s.gap)
        warn(
            f"path: {len(behind)} of {len(grid)} solutions stopped early, the worst at gap {worst.gap:.2g}: "
            f"{Reason(worst.reason).sentence()}.",
            ConvergenceWarning,
        )
