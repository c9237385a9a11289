r"""Leave-one-out predictions: from one factorization for (kernel) ridge and least squares, otherwise by refitting.

Leaving row i out of a ridge fit with intercept changes the prediction at x by a rank-one term,

.. math:: \hat f_{-i}(x) = \hat f(x) - \tilde x^\top A^{-1} \tilde x_i \, \frac{r_i}{1 - h_i}, \qquad
          A = \tilde X^\top \tilde X + \lambda \,\mathrm{diag}(1, \dots, 1, 0), \quad h_i = \tilde x_i^\top A^{-1} \tilde x_i .
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

BLOCK = 1 << 22  # numbers stored at a time while intervals are computed


class LinearLeftOut(NamedTuple):
    """All leave-one-out models of a linear fit: its ``coef`` and intercept ``shift``, and one direction per row."""

    center: np.ndarray
    coef: np.ndarray
    level: float
    directions: np.ndarray  # (n_features, n_rows): contribution of row i to the coefficients
    shifts: np.ndarray  # (n_rows,): contribution of row i to the intercept
    residuals: np.ndarray  # leave-one-out residuals of the training rows

    def answers(self, X: np.ndarray) -> np.ndarray:
        """Return the prediction of each row by each leave-one-out model, shape (rows of X, training rows)."""
        Z = np.asarray(X, dtype=np.float64) - self.center
        return (Z @ self.coef + self.level)[:, None] - Z @ self.directions - self.shifts


def penalty_of(model: Any) -> float | None:
    """Return the ridge penalty if the leave-one-out fits of the model have a closed form, else None."""
    name = type(model).__name__
    home = type(model).__module__.split(".")[0]
    if home not in ("surefit", "sklearn") or getattr(model, "positive", False):
        return None
    if name == "LinearRegression":
        return 0.0
    plain = getattr(model, "radius", None) is None and not getattr(model, "penalize_intercept", False)
    return float(model.alpha) if name == "Ridge" and plain and np.ndim(model.alpha) == 0 else None


def linear_left_out(X, y: np.ndarray, penalty: float, fit_intercept: bool) -> LinearLeftOut | None:
    """Return all leave-one-out fits from one singular value decomposition; None if one of them is not unique."""
    table = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    n, target = len(y), np.asarray(y, dtype=np.float64)
    center = table.mean(axis=0) if fit_intercept else np.zeros(table.shape[1])
    level = float(target.mean()) if fit_intercept else 0.0
    U, s, Vt = linalg.svd(table - center, full_matrices=False)
    keep = s > s.max(initial=0.0) * max(table.shape) * np.finfo(float).eps
    U, s, Vt = U[:, keep], s[keep], Vt[keep]
    shrunk = s / (s * s + penalty)
    leverage = (U * U) @ (s * shrunk) + (1.0 / n if fit_intercept else 0.0)
    if np.any(1.0 - leverage <= 1e-10) or (penalty == 0.0 and len(s) < table.shape[1]):
        return None
    coef = Vt.T @ (shrunk * (U.T @ (target - level)))
    residual = (target - level - (table - center) @ coef) / (1.0 - leverage)
    directions = (Vt.T * shrunk) @ U.T * residual
    shifts = residual / n if fit_intercept else np.zeros(n)
    return LinearLeftOut(center, coef, level, directions, shifts, residual)


def equal_folds(order: np.ndarray, n_folds: int) -> np.ndarray:
    """Return the fold of each row, with folds of equal size; the few remaining rows (-1) are used for training by every model."""
    size = len(order) // n_folds
    folds = np.full(len(order), -1)
    folds[order[: size * n_folds]] = np.repeat(np.arange(n_folds), size)
    return folds


class KernelLeftOut(NamedTuple):
    """All leave-one-out models of a kernel ridge fit: one column of dual coefficients per row left out."""

    model: Any  # a copy of the fit with these columns as its targets
    residuals: np.ndarray

    def answers(self, X) -> np.ndarray:
        """Return the prediction of each row by each leave-one-out model, shape (rows of X, training rows)."""
        return np.asarray(self.model.predict(X), dtype=np.float64)


def kernel_left_out(model: Any, X: Any, y: np.ndarray) -> KernelLeftOut | None:
    r"""Return all leave-one-out fits of a kernel ridge regression from one inverse; None if there is no closed form.

    With :math:`c = (K + \alpha I)^{-1} y` and :math:`G = (K + \alpha I)^{-1}`, the fit without row i has the coefficients :math:`c -
    G_{\cdot i}\, c_i / G_{ii}`, of which the i-th is zero, and its error at row i is :math:`c_i / G_{ii}`.
    """
    plain = not getattr(model, "fit_intercept", False) and getattr(model, "null_space", None) is None
    home = type(model).__module__.split(".")[0]
    if type(model).__name__ != "KernelRidge" or home not in ("surefit", "sklearn") or not plain:
        return None
    if getattr(model, "radius", None) is not None or model.kernel == "precomputed" or np.ndim(model.alpha) > 0:
        return None
    n, twin = len(y), copy.copy(model)
    twin.dual_coef_ = np.eye(n)
    gram = np.asarray(twin.predict(X), dtype=np.float64)  # the kernel values as computed by the model
    try:
        factor = linalg.cho_factor(gram + float(model.alpha) * np.eye(n), lower=True)
    except linalg.LinAlgError:
        return None
    inverse = linalg.cho_solve(factor, np.eye(n))
    coef = inverse @ np.asarray(y, dtype=np.float64)
    residuals = coef / np.diag(inverse)
    twin.dual_coef_ = coef[:, None] - inverse * residuals
    return KernelLeftOut(twin, residuals)
