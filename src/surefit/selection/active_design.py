"""Active design for linear models: choice of the next input without using responses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit.core.errors import InvalidData, InvalidParameter

REFACTOR = 32  # rank-one updates between two inversions, which limits the accumulation of rounding errors


class Query(NamedTuple):
    """Chosen candidate.

    Attributes
    ----------
    row : int
        Index among the candidates; ties are resolved in favor of the first.
    gain : float
        Improvement of the criterion: the decrease of the trace, or the variance of the prediction.
    bound : float
        The largest gain of any input whose norm is at most that of the candidates.
    efficiency : float
        ``gain / bound``, at most 1.
    """

    row: int
    gain: float
    bound: float
    efficiency: float


class ActiveDesign:
    r"""Greedy choice of inputs for linear regression.

    With :math:`A = (X^\top X + \alpha I)^{-1}` and :math:`v = (x, 1)`, a measurement at x lowers :math:`\mathrm{tr} A`, the mean squared
    error of the coefficients in units of the noise variance, by exactly

    .. math:: f(v) = \frac{v^\top A^2 v}{1 + v^\top A v} \;\le\; \frac{c^2 \lambda_1^2}{1 + c^2 \lambda_1}, \qquad \|v\| \le c,

    where :math:`\lambda_1` is the largest eigenvalue of :math:`A`. The other criterion is the variance :math:`v^\top A v` of the
    prediction, whose greedy choice maximizes :math:`\det X^\top X`.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Inputs measured so far.
    criterion : {"trace", "variance"}, default="trace"
        Criterion to improve.
    fit_intercept : bool, default=True
        Append the constant 1 to each input.
    alpha : float >= 0, default=0.0
        Ridge term, needed if there are fewer independent inputs than coefficients.

    Attributes
    ----------
    inverse_ : ndarray
        :math:`A`.
    history_ : list of float
        Traces of :math:`A`, before and after each measurement.

    Examples
    --------
    After -1 and 1, the ends of [-1, 1] are optimal again, with gain 1/4:

    >>> from surefit import ActiveDesign
    >>> design = ActiveDesign([[1.0], [-1.0]])
    >>> design.choose([[-1.0], [0.0], [1.0]])
    Query(row=0, gain=0.25, bound=0.25, efficiency=1.0)
    >>> design.add([1.0]).trace
    0.75
    """

    def __init__(self, X, *, criterion="trace", fit_intercept=True, alpha=0.0):
        if criterion not in ("trace", "variance"):
            raise InvalidParameter("ActiveDesign", "criterion", "'trace' or 'variance'", criterion)
        if not (np.isfinite(alpha) and alpha >= 0):
            raise InvalidParameter("ActiveDesign", "alpha", "a finite number >= 0", alpha)
        self.criterion, self.fit_intercept, self.alpha = criterion, bool(fit_intercept), float(alpha)
        rows = self._rows(X)
        self._gram = rows.T @ rows + self.alpha * np.eye(rows.shape[1])
        self._updates = 0
        self.inverse_ = self._inverted()
        self.history_ = [self.trace]

    @property
    def trace(self) -> float:
        """Trace of the inverse: the mean squared error of the coefficients in units of the noise variance."""
        return float(np.trace(self.inverse_))

    def scores(self, candidates) -> np.ndarray:
        """Return the gain of each candidate."""
        V = self._rows(candidates)
        VA = V @ self.inverse_
        variance = (VA * V).sum(axis=1)
        return variance if self.criterion == "variance" else (VA**2).sum(axis=1) / (1 + variance)

    def choose(self, candidates) -> Query:
        """Return the best candidate and the largest possible gain over all inputs of at most that norm."""
        scores = self.scores(candidates)
        best = int(np.argmax(scores))
        size = float((self._rows(candidates) ** 2).sum(axis=1).max())
        largest = float(linalg.eigvalsh(self.inverse_)[-1])
        bound = size * largest if self.criterion == "variance" else size * largest**2 / (1 + size * largest)
        return Query(best, float(scores[best]), bound, float(scores[best]) / bound)

    def add(self, x) -> ActiveDesign:
        """Add a measurement at ``x``. Returns the design."""
        v = self._rows(np.atleast_2d(np.asarray(x, dtype=np.float64)))
        if len(v) != 1:
            raise InvalidData(f"ActiveDesign: add expects one input; got {len(v)}.")
        self._gram += v.T @ v
        self._updates += 1
        if self._updates % REFACTOR == 0:
            self.inverse_ = self._inverted()
        else:
            u = self.inverse_ @ v[0]
            self.inverse_ = self.inverse_ - np.outer(u, u) / (1 + v[0] @ u)
        self.history_.append(self.trace)
        return self

    def run(self, candidates, n_queries: int) -> list[Query]:
        """Choose and add ``n_queries`` candidates in sequence; a candidate may be chosen again."""
        candidates = np.asarray(candidates, dtype=np.float64)
        queries = []
        for _ in range(n_queries):
            query = self.choose(candidates)
            self.add(candidates[query.row])
            queries.append(query)
        return queries

    def _rows(self, X) -> np.ndarray:
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or not len(X) or not np.isfinite(X).all():
            raise InvalidData(f"ActiveDesign: inputs must be a table of finite numbers; got shape {X.shape}.")
        rows = np.column_stack([X, np.ones(len(X))]) if self.fit_intercept else X
        known = getattr(self, "_gram", None)
        if known is not None and rows.shape[1] != len(known):
            raise InvalidData(f"ActiveDesign: inputs must have as many columns as X; got {X.shape[1]}.")
        return rows

    def _inverted(self) -> np.ndarray:
        values, V = linalg.eigh(self._gram)
        if values[0] <= len(values) * np.finfo(float).eps * values[-1]:
            raise InvalidData(
                "ActiveDesign: the inputs do not determine the coefficients; add independent inputs, or set alpha > 0."
            )
        return (V / values) @ V.T
