from sklearn.base import BaseEstimator

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import (
    ANYTHING,
    BOOLEAN,
    COUNT,
    NON_NEGATIVE,
    NOTHING,
    RANDOM_STATE,
    Rule,
    check_params,
    one_of,
)
from surefit.linear.composed import fit_composed
from surefit.linear.linear_classifier import LinearClassifierMixin
from surefit.losses import Squared
from surefit.problems.stated_gap import StatedGapMixin


class RidgeClassifier(CertifiedMixin, CallbackSupportMixin, StatedGapMixin, LinearClassifierMixin, BaseEstimator):
    r"""Classification by ridge regression on labels -1 and 1; several classes are fitted one against the rest.

    .. math:: P(w, b) = \sum_i s_i (t_i - x_i^\top w - b)^2 + \alpha \|w\|^2, \qquad t_i \in \{-1, 1\}.

    Hypothesis class: half-spaces. Loss: squared. Optimizer: Newton's method, or an interior-point method if
    ``positive`` is set.

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_`` (theory: :ref:`fenchel-gap`).

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Weight of the penalty.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`; it is never penalized.
    copy_X, solver, random_state
        Accepted for compatibility with scikit-learn; no effect.
    max_iter : int >= 1 or None, default=None
        Maximum number of Newton steps; one step is enough unless ``positive`` is set.
    tol : float >= 0, default=1e-4
        Relative duality gap: the fit stops when the gap is at most ``tol`` times the objective of the best constant.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes.
    positive : bool, default=False
        Whether to require :math:`w \ge 0`.

    Attributes
    ----------
    coef_ : ndarray of shape (1 or n_classes, n_features)
        Coefficients.
    intercept_ : ndarray of shape (1 or n_classes,)
        Intercepts.
    classes_, n_iter_, history_, dual_gap_, certificate_, n_features_in_, feature_names_in_
        As in :class:`LinearModel`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import RidgeClassifier
    >>> X, y = np.array([[-1.0], [1.0]]), np.array(["left", "right"])
    >>> model = RidgeClassifier(alpha=2.0).fit(X, y)
    >>> print(model.coef_.round(6), model.predict([[0.3]]))
    [[0.5]] ['right']
    """

    _shares_rows = True
    _rules = {
        "alpha": NON_NEGATIVE,
        "fit_intercept": BOOLEAN,
        "copy_X": BOOLEAN,
        "max_iter": NOTHING | COUNT,
        "tol": NON_NEGATIVE,
        "class_weight": NOTHING | one_of("balanced") | Rule("a dictionary", lambda v: isinstance(v, dict)),
        "solver": ANYTHING,
        "positive": BOOLEAN,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        copy_X=True,
        max_iter=None,
        tol=1e-4,
        class_weight=None,
        solver="auto",
        positive=False,
        random_state=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        return fit_composed(self, X, y, sample_weight, Squared(), labels=True)
