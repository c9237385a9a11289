"""Unpenalized functions of kernel machines: the constant, polynomials, or user-supplied functions."""

from __future__ import annotations

from math import comb

import numpy as np
from scipy import linalg
from sklearn.base import clone

from surefit.bases.polynomial import exponents, monomials
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, NOTHING, Rule, one_of
from surefit.kernels import Kernel
from surefit.kernels.vectors import dense
from surefit.problems.kernel_ridge import null_degree

NULL_SPACE: Rule = (
    NOTHING
    | one_of("constant", "linear")
    | Rule("a degree >= 0", lambda v: COUNT.allows(v) or (type(v) is int and v == 0))
    | Rule("a function or transformer of the rows", lambda v: callable(v) or hasattr(v, "transform"))
)


def degree_of(estimator) -> int | None:
    """Return the degree of the unpenalized polynomials, or None if there are none."""
    return null_degree(estimator.get_params(deep=False))


def is_users(estimator) -> bool:
    """Whether the unpenalized functions are supplied by the user."""
    return callable(estimator.null_space) or hasattr(estimator.null_space, "transform")


def place_null_space(estimator, X, kernel: Kernel, rows: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Fit the unpenalized functions; return their values at the rows of positive weight, the constant first."""
    degree = degree_of(estimator)
    estimator.__dict__.pop("null_center_", None)  # left by an earlier fit
    who = type(estimator).__name__
    if degree:
        if kernel.takes in ("strings", "values"):
            words = "'constant' or a function of the elements (there are no columns to make polynomials of)"
            raise InvalidParameter(who, "null_space", words, estimator.null_space)
        if comb(X.shape[1] + degree, degree) > len(rows):
            raise _dependent(who, len(rows), comb(X.shape[1] + degree, degree))
        estimator.null_center_ = np.average(np.asarray(dense(X[rows]), dtype=np.float64), axis=0, weights=s)
    if is_users(estimator):
        given = estimator.null_space
        estimator.null_space_ = clone(given).fit(X[rows]) if hasattr(given, "transform") else given
    T = null_values(estimator, X)[rows]
    scaled = np.sqrt(s)[:, None] * T
    lengths = np.linalg.norm(scaled, axis=0)
    scaled = scaled / np.where(lengths > 0, lengths, 1.0)
    pivots = np.abs(np.diagonal(linalg.qr(scaled, mode="r", pivoting=True)[0])) if T.size else np.zeros(0)
    rank = int(np.sum(pivots > 1e-12 * max(T.shape)))
    if rank < T.shape[1]:
        raise _dependent(who, rank, T.shape[1])
    return T


def null_values(estimator, X) -> np.ndarray:
    """Return the values of the unpenalized functions, one column each, the constant first."""
    degree, n = degree_of(estimator), X.shape[0]
    if degree:
        Z = np.asarray(dense(X), dtype=np.float64) - estimator.null_center_
        return monomials(Z, exponents(Z.shape[1], degree))
    ones = np.ones((n, 0 if degree is None else 1))
    return np.hstack([ones, _users_values(estimator, X)]) if is_users(estimator) else ones


def free_values(estimator, X, coefficients: np.ndarray) -> np.ndarray:
    """Return the linear combinations of the unpenalized functions other than the constant, one column per target."""
    return null_values(estimator, X)[:, -len(coefficients) :] @ coefficients


def _users_values(estimator, X) -> np.ndarray:
    functions = estimator.null_space_
    values = functions.transform(X) if hasattr(functions, "transform") else functions(X)
    try:
        values = np.asarray(dense(values), dtype=np.float64)
        values = values[:, None] if values.ndim == 1 else values
    except (TypeError, ValueError):
        values = np.zeros((0, 0))
    if values.ndim != 2 or len(values) != X.shape[0] or not np.all(np.isfinite(values)):
        raise InvalidData(
            f"{type(estimator).__name__}: null_space must return one row of finite numbers per element, {X.shape[0]} rows here; got "
            f"an array of shape {values.shape}."
        )
    return values


def _dependent(who: str, rank: int, count: int) -> InvalidData:
    return InvalidData(
        f"{who}: the {count} functions of null_space (including the constant) are linearly dependent on the "
        f"training rows, which determine only {rank} of them; the fit would not be unique. Take a smaller "
        f"null space, leave out constant columns, or "
        "add distinct rows."
    )
