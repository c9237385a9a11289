from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.centering import center
from surefit.core.errors import InvalidData
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import NON_NEGATIVE, check_params, one_of, read_data, read_weights
from surefit.linear.base import LinearRegressorMixin
from surefit.linear.linear_classifier import READ
from surefit.linear.margins.training import RULES, fit_columns, make_loss, record
from surefit.problems.stated_gap import StatedGapMixin

LARGEST_TARGET = 1e150  # its square does not overflow


class LinearSVR(CertifiedMixin, CallbackSupportMixin, StatedGapMixin, LinearRegressorMixin, BaseEstimator):
    r"""Linear support vector regression with an unpenalized intercept.

    .. math:: P(w, b) = \tfrac12 \|w\|^2 + C \sum_i s_i \bigl(|y_i - x_i^\top w - b| - \epsilon\bigr)_+;

    with ``loss="squared_epsilon_insensitive"`` the excess is squared. Hypothesis class: affine functions. Loss:
    epsilon-insensitive. Optimizer: Newton's method; the kinks at the edges of the tube are smoothed over a band that
    narrows until the gap of the *original* problem is small enough.

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_`` for any data, with an unpenalized intercept (theory:
    :ref:`fenchel-gap`).

    Parameters
    ----------
    epsilon : float >= 0, default=0.0
        Half-width of the tube within which errors are not penalized.
    tol : float >= 0, default=1e-4
        Relative duality gap: stop when the gap is at most ``tol`` times the objective of the best constant model.
    C : float > 0, default=1.0
        Weight of the loss.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        Loss as a function of the excess of the residual over ``epsilon``.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`; it is never penalized.
    intercept_scaling, dual, random_state
        Accepted but without effect: the intercept is not penalized, and the solver is chosen automatically and is
        deterministic.
    verbose : int, default=0
        If nonzero, print one line per check of the gap.
    max_iter : int >= 1, default=1000
        Maximum number of Newton steps.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap. Ctrl-C has the same effect.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    dual_gap_, objective_ : float
        Proved bound on :math:`P - \min P`, and :math:`P`.
    certificate_, history_, n_iter_, n_features_in_, feature_names_in_
        As for :class:`LinearSVC`.

    Examples
    --------
    Points on a line are fitted up to the width of the tube:

    >>> import numpy as np
    >>> from surefit import LinearSVR
    >>> X = np.arange(5.0)[:, None]
    >>> model = LinearSVR(C=100.0, epsilon=0.5, tol=1e-8).fit(X, 2 * X[:, 0] + 1)
    >>> model.coef_.round(3), round(model.intercept_, 3)
    (array([1.75]), 1.5)
    """

    _rules = {
        **RULES,
        "epsilon": NON_NEGATIVE,
        "loss": one_of("epsilon_insensitive", "squared_epsilon_insensitive"),
    }

    def __init__(
        self,
        *,
        epsilon=0.0,
        tol=1e-4,
        C=1.0,
        loss="epsilon_insensitive",
        fit_intercept=True,
        intercept_scaling=1.0,
        dual="auto",
        verbose=0,
        random_state=None,
        max_iter=1000,
        warm_start=False,
        max_time=None,
    ):
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        before = getattr(self, "coef_", None) if self.warm_start else None
        X, y = read_data(self, X, y, y_numeric=True, **READ)
        y = y.astype(np.float64, copy=False)
        if np.max(np.abs(y), initial=0.0) > LARGEST_TARGET:
            raise InvalidData(
                "LinearSVR: the squares of y overflow; divide y by its largest absolute value and fit again."
            )
        weights = read_weights(self, sample_weight, X.shape[0])
        start = None
        if before is not None and len(before) == X.shape[1]:
            start = (before[None, :], np.array([self.intercept_]))
        c = np.full(len(y), float(self.C)) if weights is None else weights * float(self.C)
        mean = c @ y / c.sum()
        spread = float(np.sqrt(c @ (y - mean) ** 2 / c.sum())) or 1.0
        level = center(y[:, None]) if self.fit_intercept else None
        fits, limits = fit_columns(
            self, X, y, [y], c, make_loss(self.loss, self.epsilon, spread), (0.0, 1.0), start,
            0.0 if level is None else float(level[0]),
        )  # fmt: skip
        self.coef_, self.intercept_ = fits[0].coef[0], float(fits[0].intercept[0])
        record(self, X, y, weights, fits, limits)
        return self
