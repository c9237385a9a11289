r"""Principal axes of a class with variances of at least a floor, and how far they are from the likeliest ones.

Products of rows hold variances down to :math:`10^{-16}` of the largest, the rows themselves to its square: where the floor asks for
more than products hold, axes come from the singular values of the rows (theory: ``gaussian-likelihood-gap``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit.discriminants.claims import gamma, rounding_of
from surefit.solvers.class_moments import Grouped, centred_class

WANTED = 1e-6  # relative error of a variance that products of rows may have


class ClassAxes(NamedTuple):
    """Axes as columns, variances along them, and a bound on ``E = T' C T - I``, T being the axes over the deviations."""

    rotation: np.ndarray
    variances: np.ndarray  # largest first
    flat: bool  # some were raised to the floor
    error: float

    def likelihood_gap(self, weight: float) -> float:
        r"""Bound :math:`\tfrac n2 (\operatorname{tr} E - \ln\det(I + E))`."""
        return weight / 2 * self.error**2 / (2 * (1 - self.error)) if self.error < 0.5 else math.inf


def class_axes(
    C: np.ndarray, drawn: tuple[float, float] | None, rows: Grouped, k: int, mean: np.ndarray, floor: float
) -> ClassAxes:
    """Return the axes of ``C``; ``drawn`` says how it comes from the rows of class ``k``, if it does: a multiple and what is added."""
    values, vectors = linalg.eigh(C, check_finite=False, driver="evd")
    rounding = rounding_of(len(rows.members(k)), len(C))
    if rounding * values[-1] > WANTED * max(values[0], floor):
        B = centred_class(rows, k, mean) if drawn is not None else _root(C)
        if B is not None:
            return _of_rows(B, drawn or (1.0, 0.0), floor)
    flat = bool(values[0] <= floor)
    if flat:
        values = np.maximum(values, floor)
        C = (vectors * values) @ vectors.T
    rotation, variances = vectors[:, ::-1].copy(), values[::-1].copy()
    if variances[-1] <= 0:
        return ClassAxes(rotation, variances, True, math.inf)
    return ClassAxes(rotation, variances, flat, _error_of_products(C, rotation, variances, rounding))


def _root(C: np.ndarray) -> np.ndarray | None:
    """Return a matrix with ``B' B = C``, right to the last digits of each column; None if C is singular."""
    scale = np.sqrt(np.maximum(np.diag(C), 0.0))
    if not np.all(scale > 0):
        return None
    factor, info = linalg.lapack.dpotrf(C / scale / scale[:, None], clean=1)
    return factor * scale if info == 0 else None


def _of_rows(B: np.ndarray, drawn: tuple[float, float], floor: float) -> ClassAxes:
    """Return the axes of a multiple of ``B' B`` with something added to its diagonal."""
    n, d = B.shape
    B = np.vstack([B, np.zeros((d - n, d))]) if n < d else B
    values, rotation = linalg.svd(B, full_matrices=False, check_finite=False)[1:]
    rotation = rotation.T.copy()
    variances = drawn[0] * values**2 + drawn[1]
    raised = variances <= floor
    variances = np.maximum(variances, floor)
    if floor == 0 and variances[-1] <= gamma(n + d) ** 2 * variances[0]:  # zero, to the last digit of the rows
        return ClassAxes(rotation, variances, True, math.inf)
    T = rotation / np.sqrt(variances)
    Z, sizes = B @ T, float(np.linalg.norm(np.abs(B) @ np.abs(T)))
    length = float(np.linalg.norm(Z))
    E = drawn[0] * (Z.T @ Z) + drawn[1] * (T.T @ T) - np.eye(d)
    E[np.ix_(raised, raised)] = _positive_part(E[np.ix_(raised, raised)])
    slack = drawn[0] * (2 * gamma(d + 8) * sizes * length + gamma(n + 8) * length**2)
    slack += drawn[1] * gamma(d + 8) * float(np.linalg.norm(np.abs(T).T @ np.abs(T))) + gamma(8) * d
    return ClassAxes(rotation, variances, bool(raised.any()), float(np.linalg.norm(E)) + slack)


def _positive_part(E: np.ndarray) -> np.ndarray:
    """Where variances are at the floor only larger ones are possible, and a smaller scatter asks for none."""
    values, vectors = np.linalg.eigh(E)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def _error_of_products(C: np.ndarray, rotation: np.ndarray, variances: np.ndarray, rounding: float) -> float:
    scale = np.sqrt(np.diag(C))
    T = rotation / np.sqrt(variances) * scale[:, None]
    reach = float(np.max(np.sum(np.abs(T @ T.T), axis=1)))  # at least the square of its norm
    return float(np.linalg.norm(T.T @ (C / scale / scale[:, None]) @ T - np.eye(len(C)))) + rounding * len(C) * reach
