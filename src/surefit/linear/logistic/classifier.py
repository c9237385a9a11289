from __future__ import annotations

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.probabilities import softmax, softmax_log, two_classes, two_classes_log
from surefit.core.validation import (
    ANYTHING,
    ARRAY,
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
    read_data,
)
from surefit.linear.inference import Inference, odds_of, wald
from surefit.linear.linear_classifier import READ, LinearClassifierMixin
from surefit.linear.logistic.limiting import limiting_scores
from surefit.linear.logistic.one_vs_rest import fit_variant, is_variant
from surefit.linear.logistic.penalty import read_penalty
from surefit.linear.logistic.training import fit_logistic
from surefit.problems.stated_gap import StatedGapMixin

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


class LogisticMixin(CertifiedMixin, CallbackSupportMixin, StatedGapMixin, LinearClassifierMixin):
    """Mixin with the probabilities, odds ratios and inference of a logistic model."""

    @property
    def labels_at_risk_(self) -> int:
        """Number of predicted training labels that are not certified to equal those of the exact optimum."""
        if self.coef_.shape[0] > 1 and getattr(self, "multi_class", "multinomial") == "ovr":
            raise AttributeError("labels_at_risk_ needs multi_class='multinomial' with more than two classes.")
        return int(self._stated("linear.labels", default=0.0))

    @property
    def inactive_(self) -> np.ndarray:
        """Mask of the features proved to be zero in every solution; requires an l1 penalty and two classes."""
        claim = next((c for c in self.certificate_.claims if c.name == "linear.inactive"), None)
        if claim is None:
            raise AttributeError("inactive_ needs an l1 penalty and two classes.")
        marked = np.zeros(claim.numbers["features"], dtype=bool)
        marked[claim.numbers["zero"]] = True
        return marked

    def _stated(self, *names: str, default: float) -> float:
        return next((float(c.value) for c in self.certificate_.claims if c.name in names), default)

    def decision_function(self, X) -> np.ndarray:
        """Return the score of ``classes_[1]``, or one score per class; infinite if a separating direction decides."""
        scores = super().decision_function(X)
        if not self.no_finite_mle_:
            return scores
        return limiting_scores(self, read_data(self, X, reset=False, **READ), scores)

    def predict_proba(self, X) -> np.ndarray:
        """Return the probabilities of the classes as an array of shape (n_rows, n_classes)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return two_classes(scores)
        return np.exp(self._log_proba(scores)) if self._one_against_rest() else softmax(scores)

    def predict_log_proba(self, X) -> np.ndarray:
        """Return the log probabilities of the classes as an array of shape (n_rows, n_classes)."""
        return self._log_proba(self.decision_function(X))

    def _log_proba(self, scores: np.ndarray) -> np.ndarray:
        if scores.ndim == 1:
            return two_classes_log(scores)
        if self._one_against_rest():
            logs = -np.logaddexp(0.0, -scores)
            return logs - logsumexp(logs, axis=1, keepdims=True)
        return softmax_log(scores)

    def _one_against_rest(self) -> bool:
        return getattr(self, "multi_class", "multinomial") == "ovr"

    def inference(self, X, y, sample_weight=None, *, confidence=0.95) -> Inference:
        """Return standard errors, Wald intervals and odds ratios, or raise an error that explains why not.

        The certificate is verified with the training data first. The result has ``names``, ``estimates``,
        ``standard_errors``, ``z``, ``p_values``, ``low``, ``high`` and the odds ratios; ``print`` shows a table.
        """
        return wald(self, X, y, sample_weight, confidence)

    def odds(self, X=None) -> dict:
        """Return the odds ratios ``exp(coef_)`` and, given ``X``, the coefficients per standard deviation."""
        return odds_of(self, X)


class LogisticRegression(LogisticMixin, BaseEstimator):
    r"""Logistic regression, for two classes or several.

    .. math::

        P(W, b) = \rho \|W\|_1 + \tfrac{1 - \rho}{2} \|W\|^2
                  + C \sum_i s_i \Bigl[\ln \sum_k e^{f_{ik}} - f_{i, y_i}\Bigr], \qquad f_i = W x_i + b;

    two classes have one score :math:`f_i` and the loss :math:`\ln(1 + e^{-t_i f_i})`. Hypothesis class: half-spaces
    (cells of a linear partition). Loss: logistic. Optimizer: Newton's method on working sets, with chord steps and
    conjugate gradients.

    Guarantee: :math:`P(W, b) - \min P \le` ``dual_gap_`` for any data, also with an unpenalized intercept (theory:
    :ref:`fenchel-gap`); at most ``labels_at_risk_`` training labels differ from those of the exact optimum. Without a
    penalty either a finite estimate exists, or ``no_finite_mle_`` is True and the certificate proves it
    (:ref:`separation-and-mle`).

    Parameters
    ----------
    penalty : {"deprecated", "l1", "l2", "elasticnet", None}, default="deprecated"
        Deprecated as in scikit-learn; use ``C`` and ``l1_ratio`` instead.
    C : float > 0, default=1.0
        Weight of the loss, the inverse of the regularization strength. ``inf`` means no penalty.
    l1_ratio : float from 0 to 1, default=0.0
        Share :math:`\rho` of the l1 norm: 0 is ridge, 1 is lasso.
    dual, intercept_scaling, random_state, solver, n_jobs
        Accepted for compatibility with scikit-learn; the solver is chosen automatically and is deterministic.
    verbose : int, default=0
        If nonzero, print one line per check of the gap.
    tol : float >= 0, default=1e-6
        Relative duality gap: stop when the gap is at most ``tol`` times the objective of the best constant model.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`; it is not penalized unless ``penalize_intercept=True``.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    max_iter : int >= 1, default=100
        Maximum number of Newton steps; if it is reached, ``fit`` issues a ``ConvergenceWarning`` that states the gap.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    reference : class label or None, default=None
        For three or more classes: the class whose coefficients are fixed at zero. None means the symmetric form, in
        which every class has its own coefficients.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap. Ctrl-C has the same effect.
    penalty_factors : array of shape (n_features,) or None, default=None
        Per-feature factors :math:`f_j \ge 0` of the penalty: 0 leaves a feature unpenalized, infinity excludes it. With
        more than two classes, factors must be positive and ``l1_ratio`` must be 0 or 1. Not allowed with ``C=inf``.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        For three or more classes: one softmax over all scores, or one problem per class against the rest, with
        probabilities normalized to sum to one. "ovr" is not allowed with ``C=inf``.
    penalize_intercept : bool, default=False
        Whether the penalty includes the intercept, which is then the coefficient of an appended column of ones. Not
        allowed with ``C=inf``.

    Attributes
    ----------
    classes_ : ndarray
        Labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients; for two classes, those of the score of ``classes_[1]``.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    dual_gap_, objective_ : float
        Proved bound on :math:`P - \min P`, and :math:`P`.
    labels_at_risk_ : int
        Number of predicted training labels that are not certified to equal those of the exact optimum.
    inactive_ : ndarray of bool, shape (n_features,)
        With an l1 penalty and two classes: features proved to be zero in every solution.
    no_finite_mle_ : bool
        Whether the likelihood has no maximum because the classes are separated, completely or quasi-completely. If so,
        ``coef_`` is the finite part of the limiting fit: the estimate from the rows that no direction separates.
    diverging_coef_, diverging_intercept_ : ndarray of shape (n_directions, ...)
        With ``no_finite_mle_``: the directions along which the coefficients diverge, in lexicographic order of
        precedence. They take precedence over ``coef_``; the probabilities of rows that they separate are 0 or 1.
    separation_ : ndarray or None
        With ``no_finite_mle_``: the separating direction in the certificate, with one row per class and the intercept
        last. Entries are floats, or exact integers as strings.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    history_ : ndarray of shape (n_checks, 3)
        Time in seconds, step number and gap, each time the gap was computed.
    n_iter_ : ndarray of shape (1,)
        Number of Newton steps.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    For two points and no intercept, the coefficient solves :math:`\theta = 2 / (1 + e^\theta)`.

    >>> import numpy as np
    >>> from surefit import LogisticRegression
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> model = LogisticRegression(fit_intercept=False, tol=1e-12).fit(X, y)
    >>> print(round(float(model.coef_[0, 0]), 5))
    0.67483
    >>> model.verify(X, y)["linear.gap"].level
    'enclosed'
    """

    _shares_rows = True
    _rules = {
        **RULES,
        "C": INVERSE_STRENGTH,
        "l1_ratio": FRACTION | NOTHING,
        "warm_start": BOOLEAN,
        "penalty_factors": NOTHING | ARRAY,
        "multi_class": one_of("multinomial", "ovr"),
        "penalize_intercept": BOOLEAN,
    }

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
        penalty_factors=None,
        multi_class="multinomial",
        penalize_intercept=False,
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
        self.penalty_factors = penalty_factors
        self.multi_class = multi_class
        self.penalize_intercept = penalize_intercept

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        if is_variant(self):
            return fit_variant(self, X, y, sample_weight, read_penalty(self))
        return fit_logistic(self, X, y, sample_weight)
