"""Boundary of a linear classifier on quadratic features: circles, ellipses and other quadrics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from surefit.bases.polynomial import KernelPolynomialFeatures, PolynomialBasis
from surefit.core.errors import InvalidData, InvalidParameter

FLAT = 1e-12  # eigenvalues below this fraction of the largest count as zero


@dataclass(frozen=True)
class Quadric:
    r"""The set :math:`x^\top A x + b^\top x + c = 0`.

    Attributes
    ----------
    A, b, c : ndarray of shape (n_features, n_features), ndarray of shape (n_features,), float
        The equation; A is symmetric.
    curvatures : ndarray of shape (n_features,)
        Eigenvalues of A, ascending.
    axes : ndarray of shape (n_features, n_features)
        Eigenvectors of A, one per column.
    """

    A: np.ndarray
    b: np.ndarray
    c: float
    curvatures: np.ndarray
    axes: np.ndarray

    def __call__(self, X) -> np.ndarray:
        """Return the values of the left-hand side, one per row."""
        X = np.asarray(X, dtype=np.float64)
        return np.einsum("ij,jk,ik->i", X, self.A, X) + X @ self.b + self.c

    @property
    def center(self) -> np.ndarray | None:
        """Point of symmetry; None if there is none, or more than one."""
        size = np.abs(self.curvatures)
        return -0.5 * linalg.solve(self.A, self.b, assume_a="sym") if size.min() > FLAT * size.max() else None

    @property
    def semi_axes(self) -> np.ndarray | None:
        """Half-lengths along ``axes`` for an ellipse or ellipsoid; otherwise None."""
        if self.center is None or not (np.all(self.curvatures > 0) or np.all(self.curvatures < 0)):
            return None
        squares = -(self.c + 0.5 * float(self.b @ self.center)) / self.curvatures
        return np.sqrt(squares) if np.all(squares > 0) else None

    @property
    def radius(self) -> float | None:
        """Radius of a circle or sphere; otherwise None."""
        lengths = self.semi_axes
        if lengths is None or np.ptp(self.curvatures) > 1e-9 * np.abs(self.curvatures).max():
            return None
        return float(np.mean(lengths))


def quadric_of(basis, coef, intercept=0.0, *, n_features: int | None = None) -> Quadric:
    r"""Convert a linear function of quadratic features to a quadric in the columns.

    .. math:: \theta^\top \phi(x) + \theta_0 = x^\top A x + b^\top x + c .

    With :math:`A = a I` the boundary is a circle with center :math:`-b / 2a` and squared radius :math:`|b|^2 / 4 a^2 - c / a`; otherwise
    it is an ellipse, a hyperbola or another conic.

    Parameters
    ----------
    basis : fitted transformer, or callable
        The features: :class:`surefit.PolynomialBasis` or :class:`surefit.KernelPolynomialFeatures` of degree 1 or 2,
        :class:`surefit.CircleBasis`, or a user-defined basis of polynomials of degree at most 2.
    coef : array of shape (n_output_features,)
        Weights, one per feature.
    intercept : float, default=0.0
        The intercept.
    n_features : int or None, default=None
        Number of columns; required for a function.

    Returns
    -------
    Quadric
        With ``center``, ``semi_axes`` and ``radius`` if defined; calling it returns the score of rows.

    Examples
    --------
    Two rings that are not linearly separable. On the columns and their sum of squares, the maximum-margin boundary is a circle:

    >>> import numpy as np
    >>> from surefit import CircleBasis, SVC, quadric_of
    >>> angle = np.arange(8) * np.pi / 4
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X, y = np.vstack([ring, 3 * ring]) + [1, 2], np.repeat([0, 1], 8)
    >>> basis = CircleBasis().fit(X)
    >>> rule = SVC(kernel="linear", C=np.inf, tol=1e-12).fit(basis.transform(X), y)
    >>> boundary = quadric_of(basis, rule.coef_[0], rule.intercept_[0])
    >>> boundary.center.round(6), round(boundary.radius, 6)
    (array([1., 2.]), 2.236068)
    """
    theta = np.asarray(coef, dtype=np.float64).ravel()
    if isinstance(basis, (PolynomialBasis, KernelPolynomialFeatures)):
        A, b, c = _from_powers(basis, theta, float(intercept))
    else:
        A, b, c = _from_values(basis, theta, float(intercept), n_features)
    curvatures, axes = linalg.eigh(A)
    return Quadric(A, b, c, curvatures, axes)


def _from_powers(basis, theta: np.ndarray, c: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Compute the equation from the exponents of the monomials."""
    if basis.degree > 2 or not hasattr(basis, "powers_"):
        raise InvalidParameter("quadric_of", "basis", "fitted, of degree 1 or 2", basis)
    powers = basis.powers_
    if len(theta) != len(powers):
        raise InvalidData(f"quadric_of: coef must have {len(powers)} weights, one per feature; got {len(theta)}.")
    theta = theta * getattr(basis, "scales_", 1.0)
    d = powers.shape[1]
    A, b = np.zeros((d, d)), np.zeros(d)
    for weight, power in zip(theta, powers, strict=True):
        columns = np.repeat(np.arange(d), power)
        if len(columns) == 2:
            A[columns[0], columns[1]] += weight / 2
            A[columns[1], columns[0]] += weight / 2
        elif len(columns) == 1:
            b[columns[0]] += weight
        else:
            c += weight
    # columns were shifted and scaled before taking powers
    center, half = getattr(basis, "center_", np.zeros(d)), getattr(basis, "half_range_", np.ones(d))
    A, b = A / np.outer(half, half), b / half
    c += float(center @ A @ center - b @ center)
    return A, b - 2 * A @ center, c


def _from_values(
    basis, theta: np.ndarray, intercept: float, n_features: int | None
) -> tuple[np.ndarray, np.ndarray, float]:
    """Compute the equation from values of the score at unit vectors and their sums; other points must agree."""
    features = getattr(basis, "transform", basis)
    d = getattr(basis, "n_features_in_", n_features)
    if not callable(features) or d is None:
        words = "a fitted transformer, or a function together with n_features"
        raise InvalidParameter("quadric_of", "basis", words, basis)

    def score(X: np.ndarray) -> np.ndarray:
        F = np.asarray(features(X), dtype=np.float64)
        if F.ndim != 2 or F.shape[1] != len(theta):
            raise InvalidData(f"quadric_of: coef must match the features of shape {F.shape}; got {len(theta)} weights.")
        return F @ theta + intercept

    unit = np.eye(d)
    c = float(score(np.zeros((1, d)))[0])
    plus, minus = score(unit), score(-unit)
    A, b = np.diag((plus + minus) / 2 - c), (plus - minus) / 2
    for i in range(d):
        for j in range(i):
            A[i, j] = A[j, i] = (float(score((unit[i] + unit[j])[None])[0]) - plus[i] - plus[j] + c) / 2
    probe = np.random.default_rng(0).standard_normal((20, d)) * 3
    expected = np.einsum("ij,jk,ik->i", probe, A, probe) + probe @ b + c
    if not np.allclose(score(probe), expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max()):
        raise InvalidParameter("quadric_of", "basis", "features that are polynomials of degree at most 2", basis)
    return A, b, c
