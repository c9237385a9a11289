r"""Unpenalized functions of kernel regression: their enclosed values, and dual points orthogonal to them.

A dual point :math:`\theta` proves a bound only if :math:`T^\top \theta = 0` for the values :math:`T` of the free
functions. With :math:`B = T N`, :math:`N` any matrix that makes :math:`B^\top S B = I + E` with :math:`\|E\| \le e <
1`, the point :math:`\alpha c - S B a`, :math:`a = (B^\top S B)^{-1} \alpha B^\top c`, is exactly orthogonal, and the
error of :math:`\hat a \approx \alpha B^\top c` is at most :math:`(|\alpha B^\top c - \hat a| + e |\hat a|) / (1 - e)`
(theory: ``kernel-ridge-gap``).
"""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np

from surefit.checks.enclosure import UNIT, Enclosed, gamma
from surefit.checks.gap import Dense
from surefit.core.certificate import Certificate
from surefit.core.errors import CertificateError
from surefit.core.sample import Data
from surefit.kernels.vectors import dense

SMALLEST = 1e-290  # smaller products lose digits


def free_values(certificate: Certificate, data: Data) -> Enclosed:
    """Enclose the values of the free functions on all rows, the constant first."""
    problem, n = certificate.problem, data.X.shape[0]
    record = problem.get("null_space")
    ones = np.ones((n, int(problem["fit_intercept"])))
    if record is None:
        return Enclosed(ones, np.zeros_like(ones))
    if "degree" in record:
        # any center gives the same polynomials
        center = np.asarray(certificate.model["null_center_"], dtype=np.float64)
        if center.shape != (data.X.shape[1],) or not np.all(np.isfinite(center)):
            raise CertificateError("null_center_ must have one finite number per column.")
        return _monomials(np.asarray(dense(data.X), dtype=np.float64), record["degree"], center)
    functions = getattr(certificate.subject, "null_space_", None)
    if functions is None:
        raise CertificateError(
            "The null space is a function, which a certificate cannot hold; verify the model itself (model.verify)."
        )
    values = functions.transform(data.X) if hasattr(functions, "transform") else functions(data.X)
    values = np.hstack([ones, np.reshape(np.asarray(dense(values), dtype=np.float64), (n, -1))])
    return Enclosed(values, np.zeros_like(values))  # the floating-point values define the function


def free_columns(certificate: Certificate, T: Enclosed) -> Dense:
    """Return the values of the free functions as columns of the gap theorem."""
    record = certificate.problem.get("null_space") or {}
    return Dense(T.mid, roundings=2 * record["degree"] + 2 if "degree" in record else 0)


def free_part(T: Enclosed, b: np.ndarray) -> Enclosed:
    """Enclose the sum of the free functions with coefficients ``b``."""
    rad = (T.rad + gamma(len(b) + 2) * np.abs(T.mid)) @ np.abs(b) * (1 + gamma(len(b) + 4))
    return Enclosed(T.mid @ b, rad)


def free_coefficients(certificate: Certificate, targets: int, by_target: bool = False) -> np.ndarray:
    """Return the coefficients of the free functions, the constant first, one column per target.

    The model stores the other coefficients with one column per target, or with ``by_target`` one row per target.
    """
    model, lines = certificate.model, []
    if certificate.problem["fit_intercept"]:
        lines.append(np.broadcast_to(np.atleast_1d(model["intercept_"]), (1, targets)))
    elif np.any(np.asarray(model["intercept_"]) != 0.0):
        raise CertificateError("intercept_ must be zero without a constant among the free functions.")
    if "null_coef_" in model:
        others = np.asarray(model["null_coef_"], dtype=np.float64)
        lines.append(others.reshape(targets, -1).T if by_target else others.reshape(-1, targets))
    return np.vstack([np.zeros((0, targets)), *lines])


def _monomials(X: np.ndarray, degree: int, center: np.ndarray) -> Enclosed:
    """Enclose all products of at most ``degree`` centered columns, by increasing degree."""
    Z, mid, rad = X - center, [], []
    for count in range(degree + 1):
        for chosen in combinations_with_replacement(range(X.shape[1]), count):
            column = np.ones(len(X))
            for j in chosen:
                exact = (column == 0.0) | (Z[:, j] == 0.0)
                column = column * Z[:, j]
                if np.any(~exact & (np.abs(column) < SMALLEST)):
                    raise CertificateError("Products of columns underflow; scale the columns of X.")
            mid.append(column)
            rad.append(gamma(2 * count + 2) * np.abs(column))
    return Enclosed(np.column_stack(mid), np.column_stack(rad))


def repairs(T: Enclosed, s: np.ndarray, C: np.ndarray) -> Enclosed | None:
    """Enclose ``B a`` for each column of ``C`` (alpha times coefficients); None for nearly dependent functions."""
    n, q = T.mid.shape
    if q == 0:
        return Enclosed(np.zeros_like(C), np.zeros_like(C))
    triangle = np.linalg.qr(np.sqrt(s)[:, None] * T.mid, mode="r")
    try:
        N = np.linalg.inv(triangle)
    except np.linalg.LinAlgError:
        return None
    if n < q or not (np.all(np.isfinite(N)) and np.all(N.diagonal() != 0.0)):
        return None
    N = np.triu(N)  # a triangular matrix without zeros on its diagonal is invertible, whatever its rounding
    B = T.mid @ N
    B_rad = (T.rad + gamma(q + 2) * np.abs(T.mid)) @ np.abs(N) * (1 + gamma(q + 4))
    size = (np.abs(B) + B_rad) * (1 + 4 * UNIT)
    product = (B * s[:, None]).T @ B - np.eye(q)
    noise = gamma(n + 4) * ((size * s[:, None]).T @ size) + 2 * (size * s[:, None]).T @ B_rad
    e = float(np.linalg.norm(np.abs(product) + noise * (1 + gamma(n + 4)))) * (1 + gamma(q * q + 8))
    if not e < 0.5:
        return None
    mid, rad = np.zeros_like(C), np.zeros_like(C)
    lengths = np.sqrt(np.sum(size**2, axis=1)) * (1 + gamma(q + 6))
    for k in range(C.shape[1]):
        c = C[:, k]
        a = np.array([math.fsum(B[:, j] * c) for j in range(q)])
        off = (4 * UNIT * np.abs(B).T @ np.abs(c) + B_rad.T @ np.abs(c)) * (1 + gamma(n + 8)) + 4 * UNIT * np.abs(a)
        reach = float(np.linalg.norm(off) + e * np.linalg.norm(a)) / (1 - e) * (1 + gamma(q + 8))
        mid[:, k] = B @ a
        rad[:, k] = (B_rad @ np.abs(a) + gamma(q + 2) * size @ np.abs(a) + lengths * reach) * (1 + gamma(q + 6))
    return Enclosed(mid, rad)
