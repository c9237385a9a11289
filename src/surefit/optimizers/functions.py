r"""Objectives of gradient descent: smooth functions with the two constants that step sizes depend on.

:math:`L` (``smoothness``) is the Lipschitz constant of the gradient, :math:`\mu` (``strong_convexity``) the smallest curvature (on a
quadratic: the smallest positive eigenvalue, because gradients lie in the range). An infinite :math:`L` means that no fixed step is safe;
with :math:`\mu = 0`, the gradient does not bound the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.losses import Lp, Squared, curvature, is_margin_loss, slope, smoothness, value

DENSE_SIDE = 1500  # smaller dimension up to which all eigenvalues are computed


class SmoothFunction:
    """Differentiable function of a vector.

    Parameters
    ----------
    value, gradient : callable(w)
        The function and its gradient.
    dimension : int
        Length of ``w``.
    smoothness : float, default=inf
        Lipschitz constant of the gradient; needed by fixed steps.
    strong_convexity : float, default=0.0
        Smallest curvature.
    exact : bool, default=False
        Whether the constants are attained, as on a quadratic; then steps longer than 2/L diverge.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.optimizers import GradientDescent, SmoothFunction
    >>> bowl = SmoothFunction(lambda w: float(w @ w), lambda w: 2 * w, 2, smoothness=2.0, strong_convexity=2.0)
    >>> GradientDescent().minimize(bowl, np.ones(2)).value
    0.0
    """

    def __init__(
        self,
        value: Callable[[np.ndarray], float],
        gradient: Callable[[np.ndarray], np.ndarray],
        dimension: int,
        *,
        smoothness: float = np.inf,
        strong_convexity: float = 0.0,
        exact: bool = False,
    ):
        self.value, self.gradient, self.dimension = value, gradient, int(dimension)
        self.smoothness, self.strong_convexity, self.exact = float(smoothness), float(strong_convexity), bool(exact)


class Quadratic(SmoothFunction):
    r"""Quadratic function :math:`\frac12 w^\top Q w - c^\top w` with a symmetric :math:`Q`.

    Parameters
    ----------
    Q : ndarray of shape (d, d)
        Hessian.
    c : ndarray of shape (d,), default=zeros
        Linear term.

    Examples
    --------
    >>> from surefit.optimizers import Quadratic
    >>> Quadratic([[4.0, 0.0], [0.0, 1.0]]).smoothness
    4.0
    """

    def __init__(self, Q, c=None):
        Q = np.atleast_2d(np.asarray(Q, dtype=np.float64))
        c = np.zeros(len(Q)) if c is None else np.asarray(c, dtype=np.float64)
        if Q.shape != (len(c), len(c)) or not np.array_equal(Q, Q.T):
            raise InvalidData(f"Quadratic: Q must be symmetric and match c; got shapes {Q.shape} and {c.shape}.")
        eigenvalues = np.linalg.eigvalsh(Q)
        super().__init__(
            lambda w: float(0.5 * w @ Q @ w - c @ w),
            lambda w: Q @ w - c,
            len(c),
            smoothness=float(np.max(np.abs(eigenvalues))),
            strong_convexity=_least_positive(eigenvalues),
            exact=True,
        )
        self.Q, self.c = Q, c


class FiniteSum(SmoothFunction):
    """Mean of functions, one per row, with gradients over batches of rows.

    Parameters
    ----------
    value : callable(w)
        The mean.
    batch_gradient : callable(w, rows)
        Mean gradient of the functions numbered ``rows``.
    n_rows, dimension : int
        Number of functions, and length of ``w``.
    smoothness, strong_convexity, exact
        As in :class:`SmoothFunction`, for the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.optimizers import FiniteSum
    >>> points = np.array([[0.0], [4.0]])
    >>> center = FiniteSum(
    ...     lambda w: float(np.mean(np.sum((w - points) ** 2, axis=1))) / 2, lambda w, rows: w - points[rows].mean(axis=0), 2, 1,
    ...     smoothness=1.0, strong_convexity=1.0, exact=True,
    ... )
    >>> center.gradient(np.zeros(1))
    array([-2.])
    """

    def __init__(self, value, batch_gradient, n_rows: int, dimension: int, **constants: Any):
        rows = np.arange(n_rows)
        super().__init__(value, lambda w: batch_gradient(w, rows), dimension, **constants)
        self.batch_gradient, self.n_rows = batch_gradient, int(n_rows)


class LinearScores(FiniteSum):
    r"""Mean loss of a linear score.

    .. math:: f(w, b) = \frac{1}{S}\sum_i s_i\phi(y_i, x_i^\top w + b) + \frac{l_2}{2}\|w\|^2,

    where :math:`b` is the last entry of the vector if there is an intercept. The smoothness is that of the loss times the largest
    eigenvalue of :math:`\frac1S\tilde X^\top \mathrm{diag}(s)\tilde X`, plus :math:`l_2`.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Rows.
    y : ndarray of shape (n,)
        Targets; -1 and 1 for margin losses.
    loss : term of ``surefit.losses``
        A smooth loss, for example ``Logistic()``, ``Squared()`` (half the square of the residual) or ``Lp(2.0)`` (the square, whose mean is
        the mean squared error: steps below :math:`n / \lambda_{max}(X^\top X)` converge).
    l2 : float >= 0, default=0.0
        Weight of half the squared norm; the intercept is not penalized.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    sample_weight : ndarray of shape (n,) or None, default=None
        Weights :math:`s_i`.

    Examples
    --------
    Mean squared error of one row: :math:`f(w) = (1 - w)^2 / 2`, so steps below 2 converge.

    >>> from surefit.losses import Squared
    >>> from surefit.optimizers import LinearScores
    >>> LinearScores([[1.0]], [1.0], Squared(), fit_intercept=False).smoothness
    1.0
    """

    def __init__(self, X, y, loss, *, l2: float = 0.0, fit_intercept: bool = True, sample_weight=None):
        X = X.tocsr() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        if X.ndim != 2 or y.shape != (X.shape[0],):
            raise InvalidData(f"LinearScores: X needs one row per target; got shapes {X.shape} and {y.shape}.")
        if is_margin_loss(loss) and not np.all(np.abs(y) == 1.0):
            raise InvalidData(f"LinearScores: {type(loss).__name__} takes the labels -1 and 1.")
        if not np.isfinite(smoothness(loss)):
            raise InvalidParameter("LinearScores", "loss", "a smooth loss (kinks have no gradient)", loss)
        s = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        s = s / np.mean(s)
        d, self.loss, self.l2, self.fit_intercept = X.shape[1], loss, float(l2), bool(fit_intercept)
        self.X, self.y, self.weights = X, y, s

        def mean_loss(w: np.ndarray) -> float:
            return float(np.mean(s * value(loss, y, self.scores(w)))) + 0.5 * self.l2 * float(w[:d] @ w[:d])

        def batch_gradient(w: np.ndarray, rows: np.ndarray) -> np.ndarray:
            pull = s[rows] * slope(loss, y[rows], self.scores(w, rows)) / len(rows)
            along = np.asarray(X[rows].T @ pull).ravel() + self.l2 * w[:d]
            return np.append(along, np.sum(pull)) if self.fit_intercept else along

        quadratic = isinstance(loss, Squared) or (isinstance(loss, Lp) and loss.p == 2.0)
        largest, least = _extreme_eigenvalues(X, s, self.fit_intercept, self.l2 / float(smoothness(loss)), quadratic)
        super().__init__(
            mean_loss, batch_gradient, len(y), d + self.fit_intercept, smoothness=largest * float(smoothness(loss)),
            strong_convexity=least * float(smoothness(loss)) if quadratic else (0.0 if self.fit_intercept else self.l2),
            exact=quadratic,
        )  # fmt: skip

    def hessian(self, w: np.ndarray) -> np.ndarray:
        r"""Return the Hessian :math:`\frac1S \tilde X^\top \mathrm{diag}(s \phi'') \tilde X`, plus :math:`l_2` on the weights."""
        X = self.X.toarray() if sparse.issparse(self.X) else self.X
        Z = np.column_stack([X, np.ones(len(self.y))]) if self.fit_intercept else X
        weights = (
            self.weights * curvature(self.loss, self.y, self.scores(np.asarray(w, dtype=np.float64))) / len(self.y)
        )
        ridge = np.full(Z.shape[1], self.l2)
        if self.fit_intercept:
            ridge[-1] = 0.0
        return (Z * weights[:, None]).T @ Z + np.diag(ridge)

    def scores(self, w: np.ndarray, rows=None) -> np.ndarray:
        """Return ``X w + b`` for all rows, or for the rows ``rows``."""
        X, d = self.X if rows is None else self.X[rows], self.X.shape[1]
        return np.asarray(X @ w[:d]).ravel() + (w[d] if self.fit_intercept else 0.0)


def _least_positive(eigenvalues: np.ndarray) -> float:
    """Return the smallest eigenvalue above rounding; zero if there is a negative eigenvalue."""
    floor = len(eigenvalues) * np.finfo(float).eps * float(np.max(np.abs(eigenvalues), initial=0.0))
    if eigenvalues[0] < -floor:
        return 0.0
    return float(min((v for v in eigenvalues if v > floor), default=0.0))


def _extreme_eigenvalues(X, s: np.ndarray, intercept: bool, l2: float, both: bool) -> tuple[float, float]:
    """Return the largest and, if ``both``, smallest eigenvalue of ``X' diag(s) X / n + l2 I`` (no penalty on the intercept's column)."""
    root = np.sqrt(s / X.shape[0])
    scaled = sparse.diags_array(root) @ X if sparse.issparse(X) else root[:, None] * X
    if intercept:
        stack = sparse.hstack if sparse.issparse(X) else np.hstack
        scaled = stack([scaled, root[:, None]])
    d = scaled.shape[1]
    ridge = np.full(d, l2)
    if intercept:
        ridge[-1] = 0.0
    if d <= DENSE_SIDE:
        gram = scaled.T @ scaled
        eigenvalues = np.linalg.eigvalsh((gram.toarray() if sparse.issparse(gram) else gram) + np.diag(ridge))
        return float(eigenvalues[-1]), _least_positive(eigenvalues)
    singular = sparse.linalg.svds(scaled, k=1, return_singular_vectors=False, random_state=0)[0]
    return float(singular**2) + l2, 0.0 if intercept or not both else l2  # the sum of both parts is an upper bound
