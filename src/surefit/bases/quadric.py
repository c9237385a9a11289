"""The boundary of a linear rule on squares and products, seen in the columns themselves: circles, ellipses and their kin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from surefit.bases.polynomial import KernelPolynomialFeatures, PolynomialBasis
from surefit.core.errors import InvalidData, InvalidParameter

FLAT = 1e-12  # eigenvalues below this share of the largest count as zero


@dataclass(frozen=True)
class Quadric:
    r"""The set :math:`x^\top A x + b^\top x + c = 0`.

    Attributes
    ----------
    A, b, c : ndarray of shape (n_features, n_features), ndarray of shape (n_features,), float
        The equation; A is symmetric.
    curvatures : ndarray of shape (n_features,)
        Eigenvalues of A, rising.
    axes : ndarray of shape (n_features, n_features)
        Eigenvectors of A, one a column.
    """

    A: np.ndarray
    b: np.ndarray
    c: float
    curvatures: np.ndarray
    axes: np.ndarray

    def __call__(self, X) -> np.ndarray:
        """Values of the left side, one a row."""
        X = np.asarray(X, dtype=np.float64)
        return np.einsum("ij,jk,ik->i", X, self.A, X) + X @ self.b + self.c

    @property
    def centre(self) -> np.ndarray | None:
        """Point of symmetry; None where there is none, or more than one."""
        size = np.abs(self.curvatures)
        return -0.5 * linalg.solve(self.A, self.b, assume_a="sym") if size.min() > FLAT * size.max() else None

    @property
    def semi_axes(self) -> np.ndarray | None:
        """Half-lengths along ``axes``, of an ellipse or ellipsoid; else None."""
        if self.centre is None or not (np.all(self.curvatures > 0) or np.all(self.curvatures < 0)):
            return None
        squares = -(self.c + 0.5 * float(self.b @ self.centre)) / self.curvatures
        return np.sqrt(squares) if np.all(squares > 0) else None

    @property
    def radius(self) -> float | None:
        """Radius of a circle or sphere; else None."""
        lengths = self.semi_axes
        if lengths is None or np.ptp(self.curvatures) > 1e-9 * np.abs(self.curvatures).max():
            return None
        return float(np.mean(lengths))


def quadric_of(basis, coef, intercept=0.0) -> Quadric:
    r"""Map a linear rule on quadratic features back to the columns.

    .. math:: \theta^\top \phi(x) + \theta_0 = x^\top A x + b^\top x + c .

    With :math:`A = a I` the boundary is a circle with centre :math:`-b / 2a` and squared radius :math:`|b|^2 / 4 a^2 - c / a`.

    Parameters
    ----------
    basis : fitted PolynomialBasis or KernelPolynomialFeatures of degree 1 or 2
        The features.
    coef : array of shape (n_output_features,)
        Weights of the rule, one a feature.
    intercept : float, default=0.0
        Its offset.

    Returns
    -------
    Quadric
        With ``centre``, ``semi_axes``, ``radius`` where it has them; calling it gives the score of rows.

    Examples
    --------
    Two rings that no line separates; the widest margin on squares is a circle between them.

    >>> import numpy as np
    >>> from surefit import PolynomialBasis, SVC, quadric_of
    >>> angle = np.arange(8) * np.pi / 4
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X, y = np.vstack([ring, 3 * ring]) + [1, 2], np.repeat([0, 1], 8)
    >>> basis = PolynomialBasis(2).fit(X)
    >>> rule = SVC(kernel="linear", C=np.inf, tol=1e-12).fit(basis.transform(X), y)
    >>> boundary = quadric_of(basis, rule.coef_[0], rule.intercept_[0])
    >>> bool(np.all((boundary(X) > 0) == (y == 1))), len(boundary.semi_axes)
    (True, 2)
    """
    if not isinstance(basis, (PolynomialBasis, KernelPolynomialFeatures)):
        raise InvalidParameter("quadric_of", "basis", "a fitted PolynomialBasis or KernelPolynomialFeatures", basis)
    if basis.degree > 2 or not hasattr(basis, "powers_"):
        raise InvalidParameter("quadric_of", "basis", "fitted, of degree 1 or 2", basis)
    powers, theta = basis.powers_, np.asarray(coef, dtype=np.float64).ravel()
    if len(theta) != len(powers):
        raise InvalidData(f"quadric_of: the basis has {len(powers)} features, coef has {len(theta)} weights.")
    theta = theta * getattr(basis, "scales_", 1.0)
    d = powers.shape[1]
    A, b, c = np.zeros((d, d)), np.zeros(d), float(intercept)
    for weight, power in zip(theta, powers, strict=True):
        columns = np.repeat(np.arange(d), power)
        if len(columns) == 2:
            A[columns[0], columns[1]] += weight / 2
            A[columns[1], columns[0]] += weight / 2
        elif len(columns) == 1:
            b[columns[0]] += weight
        else:
            c += weight
    # columns were moved and stretched before their powers were taken
    centre, half = getattr(basis, "centre_", np.zeros(d)), getattr(basis, "half_range_", np.ones(d))
    A, b = A / np.outer(half, half), b / half
    c += float(centre @ A @ centre - b @ centre)
    b = b - 2 * A @ centre
    curvatures, axes = linalg.eigh(A)
    return Quadric(A, b, c, curvatures, axes)
