"""Functions that kernel ridge regression does not penalise: the constant, polynomials, or a user's own."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.base import clone

from surefit.bases.polynomial import exponents, monomials
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, NOTHING, Rule, one_of
from surefit.kernel_machines.kernel_reading import KernelTargets
from surefit.kernels.vectors import dense

NULL_SPACE: Rule = (
    NOTHING
    | one_of("constant", "linear")
    | Rule("a degree >= 0", lambda v: COUNT.allows(v) or (type(v) is int and v == 0))
    | Rule("a function or transformer of the rows", lambda v: callable(v) or hasattr(v, "transform"))
)


def degree_of(estimator) -> int | None:
    """Return the degree of the free polynomials; None without any."""
    given = estimator.null_space
    if given is None or callable(given) or hasattr(given, "transform"):
        return 0 if estimator.fit_intercept else None
    return {"constant": 0, "linear": 1}[given] if isinstance(given, str) else int(given)


def is_users(estimator) -> bool:
    """Whether the free functions are the user's."""
    return callable(estimator.null_space) or hasattr(estimator.null_space, "transform")


def place_null_space(estimator, data: KernelTargets, rows: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Set what the functions need to know of the rows; return their values at the rows that count, the constant first."""
    degree, X = degree_of(estimator), data.X
    who = type(estimator).__name__
    if degree:
        if data.kernel.takes in ("strings", "values"):
            words = "'constant' or a function of the elements (there are no columns to make polynomials of)"
            raise InvalidParameter(who, "null_space", words, estimator.null_space)
        if comb(X.shape[1] + degree, degree) > len(rows):
            raise _dependent(who, len(rows), comb(X.shape[1] + degree, degree))
        estimator.null_centre_ = np.average(np.asarray(dense(X[rows]), dtype=np.float64), axis=0, weights=s)
    if is_users(estimator):
        given = estimator.null_space
        estimator.null_space_ = clone(given).fit(X[rows]) if hasattr(given, "transform") else given
    T = null_values(estimator, X)[rows]
    scaled = np.sqrt(s)[:, None] * T
    scaled = scaled / np.where(np.any(scaled, axis=0), np.linalg.norm(scaled, axis=0), 1.0)
    pivots = np.abs(np.diagonal(linalg.qr(scaled, mode="r", pivoting=True)[0])) if T.size else np.zeros(0)
    rank = int(np.sum(pivots > 1e-12 * max(T.shape)))
    if rank < T.shape[1]:
        raise _dependent(who, rank, T.shape[1])
    return T


def null_values(estimator, X) -> np.ndarray:
    """Return the values of the free functions, one column each, the constant first."""
    degree, n = degree_of(estimator), X.shape[0]
    if degree:
        Z = np.asarray(dense(X), dtype=np.float64) - estimator.null_centre_
        return monomials(Z, exponents(Z.shape[1], degree))
    ones = np.ones((n, 0 if degree is None else 1))
    return np.hstack([ones, _users_values(estimator, X)]) if is_users(estimator) else ones


def record_of(estimator) -> dict[str, Any] | None:
    """Return the null space as a certificate can hold it; None if there is nothing but the constant."""
    degree = degree_of(estimator)
    if is_users(estimator):
        name = getattr(estimator.null_space, "__qualname__", type(estimator.null_space).__name__)
        return {"function": name}
    return {"degree": degree, "centre": estimator.null_centre_.tolist()} if degree else None


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
            f"{type(estimator).__name__}: null_space must give one row of finite numbers an element, {X.shape[0]} rows here; got "
            f"an array of shape {values.shape}."
        )
    return values


def _dependent(who: str, rank: int, count: int) -> InvalidData:
    return InvalidData(
        f"{who}: the {count} functions of null_space (the constant counted) are linearly dependent on the training rows, which "
        f"tell {rank} of them apart; the fit would not be unique. Take a smaller null space, leave out constant columns, or "
        "add distinct rows."
    )
