from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import (
    ANYTHING,
    BOOLEAN,
    COUNT,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    Rule,
    check_params,
    one_of,
    read_data,
)
from surefit.linear.composed import fit_composed
from surefit.problems.composed import ComposedMixin
from surefit.problems.stated_gap import StatedGapMixin

CLASS_WEIGHT = NOTHING | one_of("balanced") | Rule("a dictionary", lambda v: isinstance(v, dict))


class LinearModel(CertifiedMixin, CallbackSupportMixin, StatedGapMixin, ComposedMixin, BaseEstimator):
    r"""Linear model with any convex loss and any penalty.

    .. math:: P(w, b) = \frac1S \sum_i s_i k_i\, \ell(y_i, x_i^\top w + b) + \Omega(w), \qquad S = \sum_i s_i,

    with sample weights :math:`s_i` and class weights :math:`k_i`. The model is a regressor for losses of numerical
    targets and a classifier for losses of labels. Several classes are fitted one against the rest. Hypothesis class:
    affine functions, or half-spaces for labels. Loss: given by ``loss``. Optimizer: an interior-point method with
    Newton steps.

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_`` for any data (theory: :ref:`fenchel-gap`).

    Parameters
    ----------
    loss : str or a loss of ``surefit.losses``, default="squared_error"
        A convex loss: ``"squared_error"``, ``"absolute_error"``, ``"huber"``, ``"pinball"``, ``"epsilon_insensitive"``,
        ``"squared_epsilon_insensitive"``, ``"poisson"`` for numerical targets; ``"hinge"``, ``"squared_hinge"``,
        ``"modified_huber"``, ``"perceptron"``, ``"logistic"``, ``"exponential"`` for labels. Loss objects accept
        parameters, for instance ``Huber(1.35)``.
    penalty : None, "l1", "l2" or a penalty of ``surefit.penalties``, default="l2"
        A penalty on the coefficients; the intercept is never penalized.
    alpha : float >= 0, default=0.0001
        Weight of a penalty given by name.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes, for losses of labels.
    tol : float >= 0, default=1e-6
        Relative duality gap: stop when the gap is at most ``tol`` times the objective of the best constant.
    max_iter : int >= 1, default=1000
        Maximum number of Newton steps; if it is reached, ``fit`` issues a ``ConvergenceWarning`` that states the gap.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap. Ctrl-C has the same effect.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,), or (1 or n_classes, n_features) for labels
        Coefficients :math:`w`.
    intercept_ : float, or ndarray of shape (1 or n_classes,) for labels
        Intercept :math:`b`.
    classes_ : ndarray
        Sorted labels, for losses of labels.
    dual_gap_, objective_ : float
        Proved bound on :math:`P(w, b) - \min P`, and :math:`P`, all classes together.
    n_iter_ : int
        Number of Newton steps.
    history_ : ndarray of shape (n_checks, 3)
        Time in seconds, step number and gap, each time the gap was computed.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    The median of five numbers, as a linear model whose features are excluded by a large penalty:

    >>> import numpy as np
    >>> from surefit import LinearModel
    >>> from surefit.losses import Absolute
    >>> from surefit.penalties import L1
    >>> X, y = np.array([[1.0], [-1.0], [1.0], [-1.0], [0.0]]), np.array([1.0, 2.0, 3.0, 10.0, 50.0])
    >>> model = LinearModel(loss=Absolute(), penalty=L1(10.0)).fit(X, y)
    >>> print(round(float(model.intercept_), 3), model.coef_)
    3.0 [0.]
    >>> model.verify(X, y)["linear.gap"].level
    'enclosed'
    """

    _rules = {
        "loss": ANYTHING,
        "penalty": ANYTHING,
        "alpha": NON_NEGATIVE,
        "fit_intercept": BOOLEAN,
        "class_weight": CLASS_WEIGHT,
        "tol": NON_NEGATIVE,
        "max_iter": COUNT,
        "max_time": NOTHING | POSITIVE,
        "warm_start": BOOLEAN,
    }

    def __init__(
        self,
        loss="squared_error",
        penalty="l2",
        *,
        alpha=0.0001,
        fit_intercept=True,
        class_weight=None,
        tol=1e-6,
        max_iter=1000,
        max_time=None,
        warm_start=False,
    ):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.warm_start = warm_start

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        return fit_composed(self, X, y, sample_weight)

    def _scores(self, X) -> np.ndarray:
        X = read_data(self, X, reset=False, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32])
        scores = np.asarray(X @ self.coef_.T, dtype=np.float64) + self.intercept_
        return scores.ravel() if scores.ndim == 2 and scores.shape[1] == 1 else scores
