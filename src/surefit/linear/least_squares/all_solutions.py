"""All solutions of a least-squares problem: minimum-norm solutions and a basis of the null space."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData


class LeastSquaresSolutions(NamedTuple):
    """All minimizers of the sum of squares: ``(coef, intercept)`` plus any vector in the span of ``null_space``."""

    coef: np.ndarray  # (d,) minimum norm of the coefficients without the intercept, as in LinearRegression
    intercept: float
    joint_coef: np.ndarray  # (d,) minimum norm of the coefficients and the intercept together
    joint_intercept: float
    null_space: (
        np.ndarray
    )  # (d + 1, k) orthonormal directions (coefficients, then intercept) that do not change the fitted values
    rank: int
    squares: float  # the smallest sum of squares

    @property
    def unique(self) -> bool:
        """Whether the solution is unique."""
        return self.null_space.shape[1] == 0

    def solution(self, amounts) -> tuple[np.ndarray, float]:
        """Return the solution of smallest joint norm plus ``amounts`` times the null-space directions."""
        moved = np.append(self.joint_coef, self.joint_intercept) + self.null_space @ np.asarray(
            amounts, dtype=np.float64
        )
        return moved[:-1], float(moved[-1])


def least_squares_solutions(X, y, *, fit_intercept: bool = True) -> LeastSquaresSolutions:
    r"""Return all minimizers of :math:`\|y - X w - b\|^2`: two minimum-norm solutions and a basis of the null space.

    With :math:`\tilde X = [X\; 1] = U \Sigma V^\top` (rank r), the minimizers are
    :math:`\tilde X^+ y + (I - V V^\top) z` for any z. Guarantee: all of them have the same fitted values. The solution
    :math:`\tilde X^+ y` minimizes the norm of the coefficients and the intercept together.
    :class:`surefit.LinearRegression` minimizes the norm of the coefficients only; the two may differ if the columns are
    dependent.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows.
    y : array of shape (n,)
        Targets.
    fit_intercept : bool, default=True
        Whether to include an intercept; otherwise its entries are zero.

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
    if not fit_intercept:  # without an intercept, the zero column is not part of the problem
        null = np.linalg.svd(X)[2][rank:].T
        null = np.vstack([null, np.zeros((1, null.shape[1]))])
    residual = y - Z @ joint
    return LeastSquaresSolutions(coef, intercept, joint[:d], float(joint[d]), null, rank, float(residual @ residual))
