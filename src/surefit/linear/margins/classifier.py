from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import NOTHING, Rule, check_params, one_of
from surefit.linear.linear_classifier import LinearClassifierMixin, read_labeled
from surefit.linear.margins.training import RULES, fit_columns, make_loss, record
from surefit.problems.labels import indicators
from surefit.problems.stated_gap import StatedGapMixin


class LinearSVC(CertifiedMixin, CallbackSupportMixin, StatedGapMixin, LinearClassifierMixin, BaseEstimator):
    r"""Linear support vector machine with hinge or squared hinge loss and an unpenalized intercept.

    .. math:: P(w, b) = \tfrac12 \|w\|^2 + C \sum_i s_i \bigl(1 - t_i (x_i^\top w + b)\bigr)_+, \qquad t_i = \pm 1;

    with ``loss="squared_hinge"`` the slack is squared, and with ``penalty="l1"`` the penalty is :math:`\|w\|_1`.
    Several classes are fitted one against the rest. Hypothesis class: half-spaces. Loss: hinge or squared hinge.
    Optimizer: Newton's method; the kink of the hinge is smoothed over a band that narrows until the gap of the
    *original* problem is small enough.

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_`` (summed over the classes) for any data, with an unpenalized
    intercept (theory: :ref:`fenchel-gap`). Up to the gap, the model equals that of :class:`SVC` with a linear kernel.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        Norm of the penalty; "l1" requires the squared hinge, as in scikit-learn.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss as a function of the margin.
    dual : "auto" or bool, default="auto"
        Accepted for compatibility with scikit-learn; the solver is chosen automatically.
    tol : float >= 0, default=1e-4
        Relative duality gap: stop when the gap is at most ``tol`` times the objective of the best constant model.
    C : float > 0, default=1.0
        Weight of the loss.
    multi_class : {"ovr"}, default="ovr"
        One class against the rest.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`; it is never penalized.
    intercept_scaling, random_state
        Accepted but without effect: the intercept is not penalized, and the solver is deterministic.
    verbose : int, default=0
        If nonzero, print one line per check of the gap.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    max_iter : int >= 1, default=1000
        Maximum number of Newton steps of each problem.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap. Ctrl-C has the same effect.

    Attributes
    ----------
    classes_ : ndarray
        Labels.
    coef_, intercept_ : ndarray of shape (1, n_features) and (1,), or one row per class
        Coefficients and intercepts; for two classes, those of the score of ``classes_[1]``.
    dual_gap_, objective_ : float
        Proved bound on :math:`P - \min P`, and :math:`P`.
    margin_ : ndarray
        :math:`1 / \|w\|` of each problem.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    history_ : ndarray of shape (n_checks, 3)
        Time in seconds, step number and gap, each time the gap was computed.
    n_iter_ : int
        Number of Newton steps, the maximum over the problems.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    The maximum margin of these two points is 1, with :math:`w = 1` and :math:`b = -2`.

    >>> import numpy as np
    >>> from surefit import LinearSVC
    >>> model = LinearSVC(C=10.0, tol=1e-10).fit([[1.0], [3.0]], [0, 1])
    >>> model.coef_.round(4), model.intercept_.round(4)
    (array([[1.]]), array([-2.]))
    """

    _shares_rows = True
    _rules = {
        **RULES,
        "penalty": one_of("l2", "l1"),
        "loss": one_of("hinge", "squared_hinge"),
        "multi_class": one_of("ovr"),
        "class_weight": NOTHING | one_of("balanced") | Rule("a dictionary", lambda v: isinstance(v, dict)),
    }

    def __init__(
        self,
        penalty="l2",
        loss="hinge",
        *,
        dual="auto",
        tol=1e-4,
        C=1.0,
        multi_class="ovr",
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
        warm_start=False,
        max_time=None,
    ):
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        if self.penalty == "l1" and self.loss == "hinge":
            raise InvalidParameter("LinearSVC", "loss", "'squared_hinge' with penalty='l1'", self.loss)
        before = (getattr(self, "coef_", None), getattr(self, "intercept_", None)) if self.warm_start else (None, None)
        data = read_labeled(self, X, y, sample_weight)
        K, d = len(data.classes), data.X.shape[1]
        positives = [1] if K == 2 else list(range(K))
        start = before if before[0] is not None and before[0].shape == (len(positives), d) else None
        l1, l2 = (1.0, 0.0) if self.penalty == "l1" else (0.0, 1.0)
        fits, limits = fit_columns(
            self, data.X, data.y, [indicators(data.codes, k) for k in positives],
            data.scaled(self.C), make_loss(self.loss, 0.0, 1.0), (l1, l2), start,
        )  # fmt: skip
        self.classes_ = data.classes
        self.coef_ = np.vstack([fit.coef for fit in fits])
        self.intercept_ = np.concatenate([fit.intercept for fit in fits])
        with np.errstate(divide="ignore"):
            self.margin_ = 1.0 / np.linalg.norm(self.coef_, axis=1)
        record(self, data.X, data.y, data.sample_weight, fits, limits)
        return self
