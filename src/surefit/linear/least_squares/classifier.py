import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import BOOLEAN, NON_NEGATIVE, REAL, check_params, one_of
from surefit.linear.least_squares.training import Targets, solve_each
from surefit.linear.linear_classifier import LinearClassifierMixin, read_labeled
from surefit.problems import pose
from surefit.problems.stated_gap import StatedGapMixin


class LeastSquaresClassifier(CertifiedMixin, StatedGapMixin, LinearClassifierMixin, BaseEstimator):
    r"""Classification by a least-squares fit to 0/1 labels and a threshold.

    .. math::

        P(w, b) = \sum_i s_i (\mathbb{1}[y_i = 1] - x_i^\top w - b)^2 + \alpha \|w\|_2^2, \qquad
        \hat y(x) = 1 \iff x^\top w + b \ge \tau .

    With more than two classes, one regression is fitted per class, and the class with the largest score is predicted.

    Hypothesis class: half-spaces. Loss: squared. Optimizer: that of :class:`Ridge`. The method is fast, but correctly
    classified rows far from the boundary shift it towards themselves, so separable data may be misclassified.

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_`` (theory: :ref:`least-squares-gap`). Scores are not
    probabilities, and the error rate is not bounded.

    Parameters
    ----------
    tau : float, default=0.5
        Threshold of the score for two classes.
    alpha : float >= 0, default=0.0
        Weight of the squared norm.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`.
    ties : {"second", "first"}, default="second"
        Class predicted for a score equal to ``tau``.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    dual_gap_, objective_ : float
        Proved bound on :math:`P(w, b) - \min P`, and :math:`P`, all regressions together.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    A distant point moves the threshold from 0 to 1.37, so the point at 1 is misclassified:

    >>> import numpy as np
    >>> from surefit import LeastSquaresClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0], [100.0]]), np.array([0, 0, 1, 1, 1])
    >>> model = LeastSquaresClassifier().fit(X, y)
    >>> print(model.predict(X), round(float((0.5 - model.intercept_[0]) / model.coef_[0, 0]), 6))
    [0 0 0 1 1] 1.372093
    """

    class_weight = None
    _shares_rows = True
    _rules = {"tau": REAL, "alpha": NON_NEGATIVE, "fit_intercept": BOOLEAN, "ties": one_of("second", "first")}

    def __init__(self, *, tau=0.5, alpha=0.0, fit_intercept=True, ties="second"):
        self.tau = tau
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.ties = ties

    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        data = read_labeled(self, X, y, sample_weight)
        self.classes_ = data.classes
        shown = [1] if len(data.classes) == 2 else range(len(data.classes))
        Y = np.column_stack([(data.codes == k).astype(np.float64) for k in shown])
        targets = Targets(data.X, Y, Y, data.sample_weight, False)
        found = solve_each(targets, np.full(Y.shape[1], float(self.alpha)), self.fit_intercept, False)
        self.coef_ = found.coef.T.copy()
        self.intercept_ = found.offset if self.fit_intercept else np.zeros(Y.shape[1])
        self._issue(
            "A",
            [Claim("linear.gap")],
            problem=pose(self, data.X, data.y, data.sample_weight),
            model=("coef_", "intercept_"),
            sample=(data.X, data.y, data.sample_weight),
            run={"solver": found.route, "reason": "converged"},
        )
        return self

    def decision_function(self, X) -> np.ndarray:
        """Return the score minus the threshold for two classes, or one score per class for more."""
        scores = super().decision_function(X)
        return scores - self.tau if scores.ndim == 1 else scores

    def predict(self, X) -> np.ndarray:
        """Return the class of each row; ``ties`` decides at the threshold, and equal scores go to the first class."""
        check_is_fitted(self)
        scores = self.decision_function(X)
        above = scores >= 0 if self.ties == "second" else scores > 0
        return self.classes_[above.astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
