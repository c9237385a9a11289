from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import ShuffleSplit

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.issuing.state import dense
from surefit.core.sparse_coef import SparseCoefMixin
from surefit.core.validation import check_params, one_of, read_data, read_weights
from surefit.linear.base import LinearRegressorMixin
from surefit.linear.linear_classifier import READ
from surefit.linear.sgd.rules import RULES, set_aside, starting_point, take_points
from surefit.linear.sgd.training import Pace, descend, finish, read_plan, warn_if_stopped
from surefit.problems.stated_gap import StatedGapMixin
from surefit.solvers.sgd.passes import Walk

LARGEST_TARGET = 1e150  # its square does not overflow


class SGDRegressor(
    CertifiedMixin, StatedGapMixin, CallbackSupportMixin, SparseCoefMixin, LinearRegressorMixin, BaseEstimator
):
    r"""Linear regression by stochastic gradient descent: one row per step.

    .. math:: P(w, b) = \frac{1}{S}\sum_i s_i\,\phi\bigl(y_i, x_i^\top w + b\bigr)
              + \alpha\Bigl(\rho\|w\|_1 + \frac{1 - \rho}{2}\|w\|^2\Bigr), \qquad S = \sum_i s_i.

    Hypothesis class: affine functions. Loss: given by ``loss``. Optimizer: steps
    :math:`w \leftarrow w - \eta_t (\phi'(y_i, z_i)\, x_i + \alpha(1-\rho) w)`, with the cumulative penalty method for
    the l1 norm. For the squared error, steps longer than :math:`2 / \|x_i\|^2` diverge, so columns should have a common
    scale.

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_`` for any data, even after an early stop (theory:
    :ref:`fenchel-gap`, :ref:`gradient-descent`). With ``shuffle=True`` the fit does not depend on the order of the
    rows, and an integer weight is equivalent to repeating the row.

    Parameters
    ----------
    loss : {"squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"}, default="squared_error"
        Loss of the residual; the squared error is halved.
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
        Norm of the penalty.
    alpha : float >= 0, default=0.0001
        Weight of the penalty; also sets the steps of ``learning_rate="optimal"``.
    l1_ratio : float from 0 to 1 or None, default=0.15
        Share :math:`\rho` of the l1 norm with ``penalty="elasticnet"``.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`; it is never penalized.
    max_iter : int >= 1, default=1000
        Maximum number of passes over the rows.
    tol : float >= 0 or None, default=1e-3
        A pass counts as an improvement if the mean objective during the pass decreases by at least ``tol``. None means
        that all ``max_iter`` passes are run.
    shuffle : bool, default=True
        Whether each pass processes the rows in a new random order.
    verbose : int, default=0
        If nonzero, print one line per check of the stopping rule.
    epsilon : float >= 0, default=0.1
        Half-width of the epsilon-insensitive tube, and threshold of the Huber loss.
    random_state : int, RandomState or None, default=None
        Seed for the order of the rows and for the choice of the validation rows.
    learning_rate : {"invscaling", "constant", "optimal", "adaptive", "pa1", "pa2"}, default="invscaling"
        Step sizes: ``eta0`` :math:`/ t^p`, ``eta0``, :math:`1 / (\alpha (t_0 + t))`, ``eta0`` divided by five whenever
        passes stop improving, or passive-aggressive steps with aggressiveness ``eta0``.
    eta0 : float > 0, default=0.01
        Initial step size.
    power_t : float >= 0, default=0.25
        Exponent :math:`p` of ``learning_rate="invscaling"``.
    early_stopping : bool, default=False
        Whether to set aside validation rows and to stop when their score stops improving.
    validation_fraction : float between 0 and 1, default=0.1
        Fraction of the rows set aside for validation.
    n_iter_no_change : int >= 1, default=5
        Number of passes without improvement after which the descent stops.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    average : bool or int >= 1, default=False
        Whether to return the mean of the coefficients over all steps; an integer averages from that step on.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the current point is returned with its gap. Ctrl-C has the same effect.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_features,) and (1,)
        Coefficients and intercept.
    dual_gap_, objective_ : float
        Proved bound on :math:`P - \min P`, and :math:`P` itself.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them. After ``partial_fit`` it refers to the last
        rows.
    history_ : ndarray of shape (n_passes, 3)
        Time in seconds, pass number, and the mean objective during the pass (with ``early_stopping``, the negative
        validation score).
    n_iter_ : int
        Number of passes.
    t_ : float
        Number of steps plus one.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import SGDRegressor
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, 0.0, 2.0])
    >>> model = SGDRegressor(alpha=1e-6, eta0=0.1, power_t=0.0, random_state=0).fit(X, y)
    >>> print(f"{model.coef_[0]:.1f}")
    2.0
    >>> model.verify(X, y)["linear.gap"].level
    'enclosed'
    """

    _rules = {
        **RULES,
        "loss": one_of("squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"),
    }

    intercept_: Any  # one number, in an array as in scikit-learn

    def __init__(
        self,
        loss="squared_error",
        *,
        penalty="l2",
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        epsilon=0.1,
        random_state=None,
        learning_rate="invscaling",
        eta0=0.01,
        power_t=0.25,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        warm_start=False,
        average=False,
        max_time=None,
    ):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, coef_init=None, intercept_init=None, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        before = (
            (dense(getattr(self, "coef_", None)), getattr(self, "intercept_", None))
            if self.warm_start
            else (None, None)
        )
        X, y, weights = self._read(X, y, sample_weight, first=True)
        W, b = starting_point(self, (coef_init, intercept_init), before, (1, X.shape[1]))
        plan = read_plan(self)
        results = self._descend(
            X, y, weights, plan, Walk(W[0], float(b[0]), plan.average, plan.l1), self.max_iter, stop=True
        )
        warn_if_stopped(self, results)
        return self

    def partial_fit(self, X, y, sample_weight=None):
        """Make one pass over new rows. Returns the estimator."""
        check_params(self)
        if self.early_stopping:
            raise InvalidParameter("SGDRegressor", "early_stopping", "False in partial_fit", True)
        first = not hasattr(self, "_walks")
        X, y, weights = self._read(X, y, sample_weight, first)
        plan = read_plan(self)
        zero = np.zeros(X.shape[1])
        walk = Walk(zero, 0.0, plan.average, plan.l1) if first else Walk.resume(self._walks[0], plan.average, plan.l1)
        self._descend(X, y, weights, plan, walk, 1, stop=False)
        return self

    def _read(self, X, y, sample_weight, first: bool):
        X, y = read_data(self, X, y, reset=first, y_numeric=True, **READ)
        y = y.astype(np.float64, copy=False)
        if np.max(np.abs(y), initial=0.0) > LARGEST_TARGET:
            raise InvalidData(
                "SGDRegressor: the squares of y overflow; divide y by its largest absolute value and fit again."
            )
        return X, y, read_weights(self, sample_weight, X.shape[0])

    def _descend(self, X, y, weights, plan, walk: Walk, max_iter: int, stop: bool):
        splitter = ShuffleSplit(
            1, test_size=self.validation_fraction if self.early_stopping else None, random_state=self.random_state
        )
        pace = Pace(y, walk, set_aside(self, splitter, y))
        results = descend(self, X, y, plan, [pace], None, weights, max_iter, stop)
        W, self.intercept_ = take_points(self, [walk])
        self.coef_ = W[0]
        finish(self, X, y, weights, plan, [pace], results)
        return results
