import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.estimator import CertifiedMixin, data_fingerprint
from surefit.core.validation import BOOLEAN, NON_NEGATIVE, REAL, check_params
from surefit.linear.classifier_base import LinearClassifierMixin, read_labelled
from surefit.linear.least_squares_fit import Targets, rounding, solve_each


class LeastSquaresClassifier(CertifiedMixin, LinearClassifierMixin, BaseEstimator):
    r"""Classification by regression on 0/1 labels, cut at a threshold.

    .. math::

        P(w, b) = \sum_i s_i (\mathbb{1}[y_i = 1] - x_i^\top w - b)^2 + \alpha \|w\|_2^2, \qquad
        \hat y(x) = 1 \iff x^\top w + b \ge \tau .

    With more than two classes one such regression a class, and the largest score wins.

    Hypothesis class: half-spaces. Loss: squared. Optimiser: that of :class:`Ridge`. It is fast and instructive, and has a known
    fault: rows far on the right side of the boundary pull it towards themselves, so separable data may be misclassified.

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_`` (theory: :ref:`least-squares-gap`). Scores are no probabilities, and nothing
    is guaranteed about the error rate.

    Parameters
    ----------
    tau : float, default=0.5
        Threshold of the score for two classes; a score equal to it means the second class.
    alpha : float >= 0, default=0.0
        Weight of the squared norm.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Offsets.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    dual_gap_ : float
        Proved bound on :math:`P(w, b) - \min P`, all regressions together.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    A far point moves the cut from 0 to 1.37, past the point at 1:

    >>> import numpy as np
    >>> from surefit import LeastSquaresClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0], [100.0]]), np.array([0, 0, 1, 1, 1])
    >>> model = LeastSquaresClassifier().fit(X, y)
    >>> print(model.predict(X), round(float((0.5 - model.intercept_[0]) / model.coef_[0, 0]), 6))
    [0 0 0 1 1] 1.372093
    """

    class_weight = None
    _rules = {"tau": REAL, "alpha": NON_NEGATIVE, "fit_intercept": BOOLEAN}

    def __init__(self, *, tau=0.5, alpha=0.0, fit_intercept=True):
        self.tau = tau
        self.alpha = alpha
        self.fit_intercept = fit_intercept

    def fit(self, X, y, sample_weight=None):
        """Fit the model; rows count as often as ``sample_weight`` says. Returns the estimator."""
        check_params(self)
        data = read_labelled(self, X, y, sample_weight)
        self.classes_ = data.classes
        shown = [1] if len(data.classes) == 2 else range(len(data.classes))
        Y = np.column_stack([(data.codes == k).astype(np.float64) for k in shown])
        targets = Targets(data.X, Y, Y, data.sample_weight, False)
        found = solve_each(targets, np.full(Y.shape[1], float(self.alpha)), self.fit_intercept, False)
        self.coef_ = found.coef.T.copy()
        self.intercept_ = found.offset if self.fit_intercept else np.zeros(Y.shape[1])
        self.dual_gap_ = float(4 * found.gap.sum() + rounding(found, targets))
        claim = Claim(
            "least_squares_classifier.gap",
            "optimality",
            f"The squared error of the 0/1 labels is within {self.dual_gap_:.3g} of the smallest possible one.",
            value=self.dual_gap_,
            limit=1e-6 * float(found.null.sum()),
        )
        self._issue(
            "A",
            [claim],
            problem={
                "alpha": [float(self.alpha)] * Y.shape[1],
                "fit_intercept": bool(self.fit_intercept),
                "penalize_intercept": False,
                "positive": False,
                "radius": None,
                "classes": data.named,
            },
            model=("coef_", "intercept_"),
            data=data_fingerprint(data.X, data.y, data.sample_weight),
            run={"solver": found.route, "reason": "converged"},
        )
        return self

    def decision_function(self, X) -> np.ndarray:
        """Return the scores minus the threshold for two classes, else one score a class."""
        scores = super().decision_function(X)
        return scores - self.tau if scores.ndim == 1 else scores

    def predict(self, X) -> np.ndarray:
        """Return the class of each row; a score at the threshold means the second class, a tie the class that comes first."""
        check_is_fitted(self)
        scores = self.decision_function(X)
        return self.classes_[(scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
