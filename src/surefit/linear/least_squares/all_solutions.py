"""All solutions of a least-squares problem: one of smallest norm, and the directions that change no prediction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData


class LeastSquaresSolutions(NamedTuple):
    """Every minimizer of the sum of squares is ``(coef, intercept)`` plus a combination of the columns of ``null_space``."""

    coef: (
        np.ndarray
    )  # (d,) smallest norm of the coefficients; the intercept does not count (as LinearRegression returns)
    intercept: float
    joint_coef: np.ndarray  # (d,) smallest norm of coefficients and intercept together
    joint_intercept: float
    null_space: (
        np.ndarray
    )  # (d + 1, k) orthonormal directions (coefficients, then intercept) that leave all fitted values as they are
    rank: int
    squares: float  # the smallest sum of squares

    @property
    def unique(self) -> bool:
        """Whether there is one solution only."""
        return self.null_space.shape[1] == 0

    def solution(self, amounts) -> tuple[np.ndarray, float]:
        """Return the solution of smallest joint norm moved by ``amounts`` along the null space."""
        moved = np.append(self.joint_coef, self.joint_intercept) + self.null_space @ np.asarray(
            amounts, dtype=np.float64
        )
        return moved[:-1], float(moved[-1])


def least_squares_solutions(X, y, *, fit_intercept: bool = True) -> LeastSquaresSolutions:
    r"""Return all minimizers of :math:`\|y - X w - b\|^2`: particular solutions of smallest norm, and the null space.

    With :math:`\tilde X = [X\; 1] = U \Sigma V^\top` (rank r) they are :math:`\tilde X^+ y + (I - V V^\top) z`. Guarantee: all of
    them fit the
    rows equally; :math:`\tilde X^+ y` has the smallest norm with the intercept counted. :class:`surefit.LinearRegression` returns
    the one of smallest norm without it, which differs where columns are dependent.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows.
    y : array of shape (n,)
        Targets.
    fit_intercept : bool, default=True
        Whether there is an intercept; without one its entries are zero.

    Examples
    --------
    One row, x = 2 and y = 5:

    >>> from surefit import least_squares_solutions
    >>> found = least_squares_solutions([[2.0]], [5.0])
    >>> print(found.coef, found.intercept, found.joint_coef.round(9), round(found.joint_intercept, 9), found.unique)
    [0.] 5.0 [2.] 1.0 False
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if X.ndim != 2 or y.shape != (len(X),) or not (np.all(np.isfinite(X)) and np.all(np.isfinite(y))):
        raise InvalidData(
            f"least_squares_solutions: one finite target per row is needed; got shapes {X.shape} and {y.shape}."
        )
    n, d = X.shape
    Z = np.column_stack([X, np.ones(n) if fit_intercept else np.zeros(n)])
    U, s, Vt = np.linalg.svd(Z)
    floor = max(Z.shape) * np.finfo(float).eps * (s[0] if len(s) else 0.0)
    rank = int(np.sum(s > floor))
    joint = Vt[:rank].T @ ((U[:, :rank].T @ y) / s[:rank])
    mean = X.mean(axis=0) if fit_intercept else np.zeros(d)
    coef = np.linalg.pinv(X - mean, rcond=max(Z.shape) * np.finfo(float).eps) @ (
        y - (y.mean() if fit_intercept else 0.0)
    )
    intercept = float(y.mean() - mean @ coef) if fit_intercept else 0.0
    null = Vt[rank:].T
    if not fit_intercept:  # the zero column is not a direction of the problem
        null = np.linalg.svd(X)[2][rank:].T
        null = np.vstack([null, np.zeros((1, null.shape[1]))])
    residual = y - Z @ joint
    return LeastSquaresSolutions(coef, intercept, joint[:d], float(joint[d]), null, rank, float(residual @ residual))
