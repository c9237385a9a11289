"""Properties of a design that do not depend on the target: eigenvalues, condition numbers and variance inflation."""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np

from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.core.validation import NON_NEGATIVE

INFLATED = 1e6  # variance inflation above which standard errors are not meaningful


class DesignReport(NamedTuple):
    """Eigenvalues, condition numbers and variance inflation factors of a design."""

    eigenvalues: np.ndarray  # of X'X + alpha I, ascending; the constant column last in X
    rank: int  # of X, including the constant column
    condition_number: float  # ratio of the largest to the smallest eigenvalue
    condition_bound: float  # (largest eigenvalue of X'X + alpha) / alpha; infinite without a penalty
    variance_trace: (
        float  # trace of (X'X)^-1, the variance of all coefficients in units of the noise variance; inf if singular
    )
    inflation: (
        np.ndarray
    )  # (d,) variance inflation factor of each column, 1 for columns that are orthogonal to the others

    @property
    def worst_column(self) -> int:
        """Column whose standard error is inflated most."""
        return int(np.argmax(self.inflation))


def design_report(X, *, fit_intercept: bool = True, alpha: float = 0.0, names=None) -> DesignReport:
    r"""Report eigenvalues, condition numbers and variance inflation of a design.

    The covariance of the least-squares estimate is :math:`\sigma^2 (X^\top X)^{-1}`, so its trace is
    :math:`\sigma^2 \sum_j 1 / \lambda_j`. With a penalty, the smallest eigenvalue of :math:`X^\top X + \alpha I` is at
    least :math:`\alpha`, and the condition number is at most :math:`(\lambda_{max} + \alpha) / \alpha`. Without a
    penalty, a warning is issued if the columns are dependent up to rounding, or nearly so.

    Parameters
    ----------
    X : array of shape (n, d)
        Design.
    fit_intercept : bool, default=True
        Whether to append a column of ones.
    alpha : float >= 0, default=0.0
        Ridge penalty on all columns, including the constant one.
    names : list of str or None, default=None
        Names of the columns, for the warning.

    Examples
    --------
    >>> from surefit import design_report
    >>> report = design_report([[0.0], [1.0], [2.0]])
    >>> report.eigenvalues.round(4), round(report.variance_trace, 6)
    (array([0.8377, 7.1623]), 1.333333)
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or not np.all(np.isfinite(X)):
        raise InvalidData("design_report: X must be a table of finite numbers.")
    if not NON_NEGATIVE.allows(alpha):
        raise InvalidParameter("design_report", "alpha", NON_NEGATIVE.words, alpha)
    Z = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    singular = np.linalg.svd(Z, compute_uv=False)
    floor = max(Z.shape) * np.finfo(float).eps * (singular[0] if len(singular) else 0.0)
    rank = int(np.sum(singular > floor))
    squares = np.zeros(Z.shape[1])
    squares[: len(singular)] = np.where(singular > floor, singular, 0.0) ** 2
    values = np.sort(squares + float(alpha))
    full = rank == Z.shape[1]
    inflation = _inflation(X - X.mean(axis=0) if fit_intercept else X)
    report = DesignReport(
        values,
        rank,
        float(values[-1] / values[0]) if values[0] > 0 else math.inf,
        float((squares.max() + alpha) / alpha) if alpha > 0 else math.inf,
        float(np.sum(1 / squares)) if full else math.inf,
        inflation,
    )
    if alpha == 0 and (not full or report.inflation.max(initial=1.0) > INFLATED):
        name = f"{report.worst_column}" if names is None else repr(names[report.worst_column])
        state = "dependent" if not full else f"nearly dependent (variance inflation {report.inflation.max():.3g})"
        warnings.warn(
            f"design_report: the columns are {state}, column {name} most of all; standard errors are not "
            f"meaningful. Drop columns, or use Ridge.",
            DataWarning,
            stacklevel=2,
        )
    return report


def _inflation(Z: np.ndarray) -> np.ndarray:
    """Return the variance inflation factors ``1 / (1 - R2)``, with the ``R2`` of each column given the others."""
    factors = np.ones(Z.shape[1])
    for j in range(Z.shape[1]):
        size = float(Z[:, j] @ Z[:, j])
        others = np.delete(Z, j, axis=1)
        if size == 0.0:
            factors[j] = math.inf
        elif others.shape[1]:
            rest = Z[:, j] - others @ np.linalg.lstsq(others, Z[:, j], rcond=None)[0]
            share = float(rest @ rest) / size
            factors[j] = 1 / share if share > np.finfo(float).eps ** 2 else math.inf
    return factors
