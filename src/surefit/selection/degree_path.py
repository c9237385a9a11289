"""Polynomial regression of every degree from one factorization, with the degree chosen on development rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from scipy import linalg
from sklearn.utils import check_array

from surefit.bases.polynomial import PolynomialBasis
from surefit.core import tables
from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.core.validation import COUNT, read_weights
from surefit.core.warn import warn

DEPENDENT = 1e-10  # fraction of a column's norm that must remain after projecting out earlier columns


@dataclass(frozen=True, eq=False, repr=False)
class DegreePath:
    """Least-squares polynomials of degree 0, 1, 2, ...

    Attributes
    ----------
    degrees : ndarray of int
        The degrees for which the rows determine the polynomial.
    training_errors : ndarray of shape (n_degrees,)
        Mean squared errors on the training rows; they never increase.
    dev_errors : ndarray of shape (n_degrees,) or None
        Mean squared errors on the development rows.
    gaps : ndarray of shape (n_degrees,)
        Excess of the sum of squares of each fit over the minimum, due to rounding.
    best_degree : int or None
        Degree with the smallest development error; ties are resolved in favor of the smaller degree.
    coefs : tuple of ndarray
        For each degree, the coefficients of the constant and of the features of ``basis``.
    basis : PolynomialBasis
        The monomials of columns scaled to [-1, 1].
    """

    degrees: np.ndarray
    training_errors: np.ndarray
    dev_errors: np.ndarray | None
    gaps: np.ndarray
    best_degree: int | None
    coefs: tuple[np.ndarray, ...]
    basis: PolynomialBasis

    def predict(self, X, degree: int | None = None) -> np.ndarray:
        """Return the values of the polynomial of this degree (default: the best) at the rows of ``X``."""
        degree = self.best_degree if degree is None else degree
        if degree is None or degree not in self.degrees:
            known = f"one of the degrees 0 to {self.degrees[-1]}; without development rows there is no default"
            raise InvalidParameter("DegreePath", "degree", known, degree)
        coef = self.coefs[degree]
        return coef[0] + self.basis.transform(X)[:, : len(coef) - 1] @ coef[1:]

    def __repr__(self) -> str:
        dev = ["" if self.dev_errors is None else f"{e:.4g}" for e in self._or_nothing(self.dev_errors)]
        rows: list[tuple[str, ...]] = [
            (str(k) + (" *" if k == self.best_degree else ""), f"{error:.4g}", other)
            for k, error, other in zip(self.degrees, self.training_errors, dev, strict=True)
        ]
        foot = "All from one QR factorization. * least error on the development rows."
        return tables.text_table("Polynomial degrees", ("degree", "training error", "dev error"), rows, foot)

    def _or_nothing(self, errors: np.ndarray | None) -> np.ndarray:
        return np.full(len(self.degrees), np.nan) if errors is None else errors


def degree_path(X, y, max_degree: int, *, X_dev=None, y_dev=None, sample_weight=None) -> DegreePath:
    r"""Fit polynomials of all degrees up to ``max_degree`` by one QR factorization.

    Columns of the largest basis are ordered by degree, :math:`\Phi = QR`. The first :math:`m` columns of :math:`Q` span the polynomials
    of the degree with :math:`m` monomials, so all fits follow from :math:`c = Q^\top y`:

    .. math:: \beta_m = R_m^{-1} c_m, \qquad \mathrm{RSS}_m = \|y\|^2 - \|c_m\|^2 .

    Guarantee: each fit is the least-squares fit of its degree, up to the stated ``gaps`` (theory: :ref:`least-squares-gap`). The
    development error at the chosen degree is an optimistic estimate, because it was minimized to choose the degree.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Training inputs.
    y : array of shape (n_rows,)
        Targets.
    max_degree : int >= 1
        Largest degree; the path ends earlier, with a warning, if the rows do not determine a polynomial.
    X_dev, y_dev : arrays, optional
        Development rows, on which the degree is chosen.
    sample_weight : array of shape (n_rows,), optional
        Frequency weights of the training rows.

    Returns
    -------
    DegreePath
        Degrees, errors, coefficients and the best degree.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import degree_path
    >>> x = np.arange(-2.0, 3.0)[:, None]
    >>> path = degree_path(x, x.ravel() ** 2, 3)
    >>> path.training_errors.round(9).tolist()  # y = 4, 1, 0, 1, 4 has variance 2.8
    [2.8, 2.8, 0.0, 0.0]
    >>> path.predict([[5.0]], degree=2).round(9)
    array([25.])
    """
    if not COUNT.allows(max_degree):
        raise InvalidParameter("degree_path", "max_degree", COUNT.words, max_degree)
    X, y = _read(X, y, "X")
    s = read_weights("degree_path", sample_weight, len(X))
    s = np.ones(len(X)) if s is None else s
    basis = PolynomialBasis(max_degree, scale=True).fit(X[s > 0])
    root = np.sqrt(s)
    Phi = root[:, None] * np.column_stack([np.ones(len(X)), basis.transform(X)])
    target = root * y
    Q, R = linalg.qr(Phi, mode="economic", check_finite=False)
    ends = [comb(X.shape[1] + k, k) for k in range(max_degree + 1)]
    independent = np.abs(np.diag(R)) > DEPENDENT * np.linalg.norm(Phi[:, : len(R)], axis=0)
    ends = [m for m in ends if m <= len(independent) and independent[:m].all()]
    if len(ends) <= max_degree:
        warn(
            f"degree_path: the rows determine polynomials up to degree {len(ends) - 1}; the path ends there instead of at "
            f"{max_degree}. Use more distinct rows for higher degrees.",
            DataWarning,
        )
    c = Q.T @ target
    coefs, errors, gaps = [], [], []
    for m in ends:
        beta = linalg.solve_triangular(R[:m, :m], c[:m], check_finite=False)
        residual = target - Phi[:, :m] @ beta
        correction = Q[:, :m].T @ residual
        beta = beta + linalg.solve_triangular(R[:m, :m], correction, check_finite=False)
        residual = target - Phi[:, :m] @ beta
        coefs.append(beta)
        errors.append(float(residual @ residual) / float(s.sum()))
        gaps.append(float(np.sum((Q[:, :m].T @ residual) ** 2)))
    dev_errors = best = None
    if X_dev is not None:
        X_dev, y_dev = _read(X_dev, y_dev, "X_dev")
        features = np.column_stack([np.ones(len(X_dev)), basis.transform(X_dev)])
        dev_errors = np.array([np.mean((y_dev - features[:, : len(b)] @ b) ** 2) for b in coefs])
        best = int(np.argmin(dev_errors))
    return DegreePath(np.arange(len(ends)), np.array(errors), dev_errors, np.array(gaps), best, tuple(coefs), basis)


def _read(X, y, name: str) -> tuple[np.ndarray, np.ndarray]:
    X = check_array(X, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64) if y is not None else np.empty(0)
    if y.shape != (len(X),) or not np.isfinite(y).all():
        raise InvalidData(
            f"degree_path: {name} has {len(X)} rows and must have as many finite targets; got shape {y.shape}."
        )
    return X, y
