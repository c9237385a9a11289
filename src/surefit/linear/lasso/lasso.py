from sklearn.base import BaseEstimator

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import BOOLEAN, NON_NEGATIVE, NOTHING, check_params
from surefit.linear.base import LinearRegressorMixin
from surefit.linear.lasso.path import lasso_path
from surefit.linear.lasso.training import RULES, fit_penalized_squares
from surefit.problems.composed import InactiveMixin
from surefit.problems.stated_gap import StatedGapMixin


class Lasso(CertifiedMixin, CallbackSupportMixin, StatedGapMixin, InactiveMixin, LinearRegressorMixin, BaseEstimator):
    r"""Sparse linear regression.

    .. math::

        P(w, b) = \frac{1}{2S} \sum_i s_i (y_i - x_i^\top w - b)^2 + \alpha \sum_j f_j |w_j|, \qquad S = \sum_i s_i.

    Hypothesis class: affine functions. Loss: squared. Optimizer: coordinate descent and Newton steps on working sets,
    with gap-safe screening.

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_`` for any data (theory: :ref:`fenchel-gap`); features marked in
    ``inactive_`` are zero in every solution (:ref:`gap-safe`); predictions are close to those of the exact optimum
    (:ref:`prediction-stability`).

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Weight of the l1 norm. All coefficients are zero if it is at least :math:`\max_j |x_j^\top y| / n` (centered
        data).
    fit_intercept : bool, default=True
        Whether to fit :math:`b`; it is never penalized.
    precompute, copy_X, random_state, selection
        Accepted for compatibility with scikit-learn; the solver is chosen automatically and never changes X.
    max_iter : int >= 1, default=1000
        Maximum number of passes; if it is reached, ``fit`` issues a ``ConvergenceWarning`` that states the gap.
    tol : float >= 0, default=1e-6
        Relative duality gap: stop when the gap is at most ``tol`` times the objective of the null model (w = 0).
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    positive : bool, default=False
        Whether to require :math:`w \ge 0`.
    radius : float >= 0 or None, default=None
        If given, ``alpha`` is ignored and the constrained form is solved: least squares subject to
        :math:`\sum_j f_j |w_j| \le` ``radius``; the multiplier is ``multiplier_``.
    penalty_factors : array of shape (n_features,) or None, default=None
        Per-feature factors :math:`f_j \ge 0`: 0 leaves a feature unpenalized, infinity excludes it.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap. Ctrl-C has the same effect.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients :math:`w`.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept :math:`b`.
    dual_gap_, objective_ : float
        Proved bound on :math:`P(w, b) - \min P`, and :math:`P`.
    inactive_ : ndarray of bool, shape (n_features,)
        Features proved to be zero in every solution.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    history_ : ndarray of shape (n_checks, 3)
        Time in seconds, pass number and gap, each time the gap was computed.
    n_iter_ : int
        Number of passes.
    multiplier_ : float
        With ``radius``: the penalty weight for which the penalized problem has the same solution as the constrained
        one.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    The exact solution of this problem is w = 1.5, b = 0, with objective 7/12:

    >>> import numpy as np
    >>> from surefit import Lasso
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, 0.0, 2.0])
    >>> model = Lasso(alpha=1 / 3).fit(X, y)
    >>> print(round(float(model.coef_[0]), 6))
    1.5
    >>> model.verify(X, y)["linear.gap"].level
    'enclosed'
    """

    _shares_rows = True
    _rules = {**RULES, "alpha": NON_NEGATIVE, "radius": NOTHING | NON_NEGATIVE, "warm_start": BOOLEAN}

    path = staticmethod(lasso_path)

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        precompute=False,
        copy_X=True,
        max_iter=1000,
        tol=1e-6,
        warm_start=False,
        positive=False,
        random_state=None,
        selection="cyclic",
        radius=None,
        penalty_factors=None,
        max_time=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.radius = radius
        self.penalty_factors = penalty_factors
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        return fit_penalized_squares(self, X, y, sample_weight, 1.0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
