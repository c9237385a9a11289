import math

import numpy as np
from sklearn.base import BaseEstimator

from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import (
    ANYTHING,
    ARRAY,
    BOOLEAN,
    COUNT,
    NON_NEGATIVE,
    NOTHING,
    RANDOM_STATE,
    check_params,
)
from surefit.linear.lasso.training import read_factors
from surefit.linear.least_squares.training import (
    SeveralTargetsMixin,
    Targets,
    multiplier_of_radius,
    read_targets,
    record,
    solve_each,
    solve_with_offset_penalized,
    within_radius,
)
from surefit.linear.penalty_factors import solve_with_factors
from surefit.solvers.least_squares import Solution


class Ridge(CertifiedMixin, SeveralTargetsMixin, BaseEstimator):
    r"""Least squares with a penalty on the squared norm of the coefficients.

    .. math::

        P(w, b) = \sum_i s_i (y_i - x_i^\top w - b)^2 + \alpha \|w\|_2^2 .

    Hypothesis class: affine functions. Loss: squared. Optimizer: Cholesky factorization of the normal equations, or of
    the Gram matrix of the rows if there are fewer rows than columns, with iterative refinement.

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_`` for any data; the coefficients are therefore within
    :math:`\sqrt{\text{gap} / \alpha}` of the optimal ones (theory: :ref:`least-squares-gap`).

    Parameters
    ----------
    alpha : float >= 0 or array of shape (n_targets,), default=1.0
        Weight of the squared norm; an array has one weight per target. 0 gives the least-squares solution of smallest
        norm.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`.
    copy_X, max_iter, tol, solver, random_state
        Accepted for compatibility with scikit-learn; the solver is chosen automatically. It is exact up to
        rounding and deterministic, and never changes X.
    positive : bool, default=False
        Whether to require :math:`w \ge 0`.
    radius : float >= 0 or None, default=None
        If given, ``alpha`` is ignored and the constrained form is solved: least squares subject to :math:`\|w\|_2 \le`
        ``radius`` (over all targets together); the multiplier is ``multiplier_``.
    penalize_intercept : bool, default=False
        Whether to penalize :math:`b` like a coefficient, which gives
        :math:`(\tilde X^\top \tilde X + \alpha I)^{-1} \tilde X^\top y`.
    penalty_factors : array of shape (n_features,) or None, default=None
        Per-feature factors :math:`f_j \ge 0` of the penalty, :math:`\alpha \sum_j f_j w_j^2`: 0 leaves a feature
        unpenalized, infinity excludes it. Not allowed with ``radius`` or ``penalize_intercept``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    dual_gap_, objective_ : float
        Proved bound on :math:`P(w, b) - \min P`, and :math:`P`, all targets together.
    n_iter_, solver_
        Number of iterations (1 for a factorization), and the solver that was used.
    joint_variance_ : float or ndarray of shape (n_targets,)
        Noise variance at the joint posterior mode of coefficients and variance under the prior
        :math:`N(0, \sigma^2 / \alpha)` that corresponds to the penalty. It equals
        :math:`(\mathrm{RSS} + \alpha \|w\|^2) / (n + p)` with the number :math:`p` of penalized coefficients (including
        the intercept with ``penalize_intercept``). Not available with ``radius``, ``positive``, ``penalty_factors`` or
        ``alpha=0``.
    multiplier_ : float
        With ``radius``: the ``alpha`` for which the penalized problem has the same solution as the constrained one; 0
        if the constraint is inactive.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    With orthonormal columns, every coefficient is divided by :math:`1 + \alpha`:

    >>> import numpy as np
    >>> from surefit import Ridge
    >>> X, y = np.eye(2), np.array([3.0, 0.4])
    >>> model = Ridge(alpha=1.0, fit_intercept=False).fit(X, y)
    >>> print(model.coef_.round(12))
    [1.5 0.2]
    >>> model.verify(X, y)["linear.gap"].level
    'enclosed'
    """

    _shares_rows = True
    _rules = {
        "alpha": NON_NEGATIVE | ARRAY,
        "fit_intercept": BOOLEAN,
        "copy_X": BOOLEAN,
        "max_iter": NOTHING | COUNT,
        "tol": NON_NEGATIVE,
        "solver": ANYTHING,
        "positive": BOOLEAN,
        "random_state": RANDOM_STATE,
        "radius": NOTHING | NON_NEGATIVE,
        "penalize_intercept": BOOLEAN,
        "penalty_factors": NOTHING | ARRAY,
    }

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        copy_X=True,
        max_iter=None,
        tol=1e-4,
        solver="auto",
        positive=False,
        random_state=None,
        radius=None,
        penalize_intercept=False,
        penalty_factors=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.radius = radius
        self.penalize_intercept = penalize_intercept
        self.penalty_factors = penalty_factors

    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        return fit_ridge(self, read_targets(self, X, y, sample_weight, flat=True))


def fit_ridge(estimator, data: Targets):
    """Solve the estimator's problem and set its fitted attributes and certificate. Returns the estimator."""
    radius = estimator.radius
    alphas = _alphas(estimator, data.Y.shape[1])
    factors = read_factors(estimator, data.X.shape[1])
    if factors is not None and (radius is not None or estimator.penalize_intercept):
        expected = "None when radius or penalize_intercept is set"
        raise InvalidParameter(type(estimator).__name__, "penalty_factors", expected, estimator.penalty_factors)
    if radius is not None:
        if estimator.penalize_intercept or estimator.positive:
            raise InvalidParameter(
                type(estimator).__name__, "radius", "None when penalize_intercept or positive is set", radius
            )
        alphas = np.full(len(alphas), multiplier_of_radius(data, float(radius), estimator.fit_intercept))
        if radius == 0:
            alphas[:] = 0.0
    if estimator.penalize_intercept and estimator.fit_intercept:
        if estimator.positive:
            raise InvalidParameter(type(estimator).__name__, "positive", "False when penalize_intercept is set", True)
        found = solve_with_offset_penalized(data, alphas, False)
    elif factors is not None:
        found = solve_with_factors(data, alphas, factors, estimator.fit_intercept, estimator.positive, solve_each)
    else:
        found = solve_each(data, alphas, estimator.fit_intercept, estimator.positive)
    if radius is not None:
        found = within_radius(found, float(radius))
        estimator.multiplier_ = float(alphas[0])
    elif hasattr(estimator, "multiplier_"):
        del estimator.multiplier_  # left by an earlier fit
    estimator.__dict__.pop("joint_variance_", None)  # left by an earlier fit
    if radius is None and factors is None and not estimator.positive and np.all(alphas > 0):
        variance = _joint_variance(estimator, found, alphas)
        estimator.joint_variance_ = float(variance[0]) if data.single else variance
    estimator.n_iter_, estimator.solver_ = found.n_iter or 1, found.route
    return record(estimator, found, data, *(() if radius is None else ("multiplier_",)))


def _joint_variance(estimator, found: Solution, alphas: np.ndarray) -> np.ndarray:
    r"""Return the variance that maximizes :math:`-\frac{n+p}2 \ln\sigma^2 - \frac1{2\sigma^2} P(w)`, one per target."""
    w = found.coef
    if estimator.penalize_intercept and estimator.fit_intercept:
        w = np.vstack([w, found.offset])
    return (found.squares + alphas * (w**2).sum(axis=0)) / (found.total + len(w))


def _alphas(estimator, targets: int) -> np.ndarray:
    """Return one penalty per target."""
    alphas = np.asarray(estimator.alpha, dtype=np.float64)
    if alphas.ndim > 1 or (alphas.ndim == 1 and len(alphas) not in (1, targets)):
        raise InvalidParameter(
            type(estimator).__name__, "alpha", f"one number, or one per target ({targets})", estimator.alpha
        )
    if not all(math.isfinite(a) and a >= 0 for a in alphas.ravel()):
        raise InvalidParameter(type(estimator).__name__, "alpha", "finite and >= 0", estimator.alpha)
    return alphas.copy() if alphas.size == targets and alphas.ndim else np.full(targets, alphas)
