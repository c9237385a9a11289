from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from surefit.checks.multinomial import log_softmax
from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.errors import SurefitError
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import (
    ANYTHING,
    BOOLEAN,
    COUNT,
    FRACTION,
    N_JOBS,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    Rule,
    check_params,
    one_of,
)
from surefit.linear.classifier_base import LinearClassifierMixin
from surefit.linear.inference import Inference, odds_of, wald
from surefit.linear.logistic_fit import fit_logistic

#: Names that scikit-learn gives to solvers: accepted, the solver chooses by itself.
SOLVERS = one_of("auto", "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
INVERSE_STRENGTH = Rule("a number > 0 (inf: no penalty)", lambda v: POSITIVE.allows(v) or v == np.inf)
RULES = {
    "penalty": one_of("deprecated", "l1", "l2", "elasticnet") | NOTHING,
    "dual": BOOLEAN,
    "tol": NON_NEGATIVE,
    "fit_intercept": BOOLEAN,
    "intercept_scaling": POSITIVE,
    "class_weight": NOTHING | one_of("balanced") | Rule("a dictionary", lambda v: isinstance(v, dict)),
    "random_state": RANDOM_STATE,
    "solver": SOLVERS,
    "max_iter": COUNT,
    "verbose": ANYTHING,
    "n_jobs": N_JOBS,
    "reference": ANYTHING,
    "max_time": NOTHING | POSITIVE,
}


class LogisticMixin(CertifiedMixin, CallbackSupportMixin, LinearClassifierMixin):
    """Probabilities, odds and inference of a logistic model."""

    def predict_proba(self, X) -> np.ndarray:
        """Return the probability of each class, one line a row."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X) -> np.ndarray:
        """Return the logarithm of the probability of each class, one line a row."""
        scores = self.decision_function(X)
        if self.no_finite_mle_:
            raise SurefitError(
                f"{type(self).__name__}: no finite estimate exists, so probabilities would depend on where a solver stopped; "
                "predict works, probabilities need a finite C."
            )
        return log_softmax(scores if scores.ndim == 2 else np.column_stack([np.zeros(len(scores)), scores]))

    def inference(self, X, y, sample_weight=None, confidence=0.95) -> Inference:
        """Standard errors, Wald intervals and odds ratios, where theory allows; else an error that says why not.

        See :class:`surefit.linear.inference.Inference`.
        """
        return wald(self, X, y, sample_weight, confidence)

    def odds(self, X=None) -> dict:
        """Return odds ratios ``exp(coef_)``, and with ``X`` also coefficients per standard deviation of each feature."""
        return odds_of(self, X)


class LogisticRegression(LogisticMixin, BaseEstimator):
    r"""Logistic regression, for two classes or several.

    .. math::

        P(W, b) = \rho \|W\|_1 + \tfrac{1 - \rho}{2} \|W\|^2
                  + C \sum_i s_i \Bigl[\ln \sum_k e^{f_{ik}} - f_{i, y_i}\Bigr], \qquad f_i = W x_i + b;

    two classes have one score :math:`f_i` and the loss :math:`\ln(1 + e^{-t_i f_i})`. Hypothesis class: half-spaces (cells of
    a linear partition). Loss: logistic. Optimiser: Newton's method on working sets, with chords and conjugate gradients.

    Guarantee: :math:`P(W, b) - \min P \le` ``dual_gap_``, whatever the data, with a free intercept too (theory:
    :ref:`fenchel-gap`); at most ``labels_at_risk_`` training labels differ from those of the exact optimum. Without a penalty
    either a finite estimate exists, or ``no_finite_mle_`` is True and the certificate proves it
    (:ref:`separation-and-mle`).

    Parameters
    ----------
    penalty : {"deprecated", "l1", "l2", "elasticnet", None}, default="deprecated"
        Old way to name the penalty, deprecated as in scikit-learn: use ``C`` and ``l1_ratio``.
    C : float > 0, default=1.0
        Weight of the loss, inverse of the strength of the penalty. ``inf``: no penalty.
    l1_ratio : float from 0 to 1, default=0.0
        Share :math:`\rho` of the l1 norm: 0 is ridge, 1 is lasso.
    dual, intercept_scaling, random_state, solver, verbose, n_jobs
        Accepted so that code written for scikit-learn runs; the solver decides by itself, is deterministic, and never
        penalises the intercept.
    tol : float >= 0, default=1e-6
        Relative duality gap: stop when the gap is at most ``tol`` times the objective of the best constant model.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`; it is never penalised.
    class_weight : dict, "balanced" or None, default=None
        Factors of the rows of each class.
    max_iter : int >= 1, default=100
        Newton steps before giving up with a ``ConvergenceWarning`` that says how far the answer is.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    reference : class label or None, default=None
        For three classes and more: the class whose coefficients are fixed at zero. None is the symmetric form, in which
        every class has its own.
    max_time : float > 0 or None, default=None
        Seconds after which the best point so far is returned with its gap. Ctrl-C does the same.

    Attributes
    ----------
    classes_ : ndarray
        Labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients; for two classes those of the score of ``classes_[1]``.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Offsets.
    dual_gap_ : float
        Proved bound on :math:`P - \min P`.
    labels_at_risk_ : int
        Training labels that could change if the problem were solved exactly.
    inactive_ : ndarray of bool, shape (n_features,)
        With an l1 penalty and two classes: features proved to be zero in every solution.
    no_finite_mle_ : bool
        Whether the likelihood has no maximum; then ``coef_`` is a separating direction.
    separation_ : ndarray or None
        That direction as it was proved: one line a class, the intercept last, floats or integers as text.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    history_ : ndarray of shape (n_checks, 3)
        Seconds, step and gap each time the gap was computed.
    n_iter_ : ndarray of shape (1,)
        Newton steps.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    Two points, no intercept: :math:`\theta = 2 / (1 + e^\theta)`.

    >>> import numpy as np
    >>> from surefit import LogisticRegression
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> model = LogisticRegression(fit_intercept=False, tol=1e-12).fit(X, y)
    >>> print(round(float(model.coef_[0, 0]), 5))
    0.67483
    >>> model.verify(X, y)["linear.gap"].level
    'enclosed'
    """

    _rules = {**RULES, "C": INVERSE_STRENGTH, "l1_ratio": FRACTION | NOTHING, "warm_start": BOOLEAN}

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=1.0,
        l1_ratio=0.0,
        dual=False,
        tol=1e-6,
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        random_state=None,
        solver="lbfgs",
        max_iter=100,
        verbose=0,
        warm_start=False,
        n_jobs=None,
        reference=None,
        max_time=None,
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.reference = reference
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; rows count as often as ``sample_weight`` says. Returns the estimator."""
        check_params(self)
        return fit_logistic(self, X, y, sample_weight)
