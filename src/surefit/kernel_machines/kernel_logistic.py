from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import BOOLEAN, COUNT, NON_NEGATIVE, NOTHING, POSITIVE, Rule, check_params, one_of
from surefit.kernel_machines.kernel_inputs import KERNEL_RULES, KernelSumMixin
from surefit.kernel_machines.kernel_logistic_training import record, solve_problems
from surefit.kernel_machines.logistic_probability import LogisticProbabilityMixin
from surefit.kernel_machines.svm_inputs import read_labels, read_sample
from surefit.problems.stated_gap import DualGapMixin


class KernelLogisticRegression(
    CertifiedMixin,
    CallbackSupportMixin,
    LogisticProbabilityMixin,
    DualGapMixin,
    KernelSumMixin,
    ClassifierMixin,
    BaseEstimator,
):
    r"""Kernel logistic regression.

    .. math:: P(f, b) = \tfrac12 \|f\|_k^2 + C \sum_i s_i \ln\bigl(1 + e^{-t_i (f(x_i) + b)}\bigr), \qquad t_i = \pm 1 .

    Hypothesis class: :math:`\sum_j \beta_j k(x_j, \cdot) + b`. Loss: logistic. Optimizer: Newton's method, in which
    each step solves a kernel ridge problem. At the optimum :math:`\beta_i = C s_i t_i \sigma(-t_i (f(x_i) + b))`, so
    :math:`|\beta_i|` is :math:`C s_i` times the probability of the other class.

    With more than two classes there is one function per class, and the loss is the softmax cross-entropy,

    .. math::

        P(f, b) = \tfrac12 \sum_c \|f_c\|_k^2 + C \sum_i s_i \Bigl[\ln \sum_c e^{z_{ic}} - z_{i, y_i}\Bigr], \quad z_{ic} = f_c(x_i) + b_c ,

    and the probabilities are the softmax of the scores. With ``multi_class="ovr"`` one problem is fitted per class
    against the rest, and the probabilities are normalized to sum to one.

    Guarantee: :math:`P - \min P \le` ``dual_gap_`` for any data, and
    :math:`\|f - f^*\|_k \le \sqrt{2 \cdot \text{gap}}` (theory: :ref:`kernel-logistic-gap`, :ref:`kernel-softmax-gap`).

    Memory: one Gram matrix, and for the softmax one more matrix of that size per class.

    Parameters
    ----------
    C : float > 0, default=1.0
        Weight of the losses.
    kernel : str, kernel of ``surefit.kernels`` or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "precomputed", an object, or a function of two samples; positive
        semidefinite. For a string kernel, X is a list of strings.
    gamma : {"scale", "auto"} or float > 0, default="scale"
        Factor of "rbf", "poly" and "laplacian"; "scale" is 1 / (n_features * X.var()).
    degree : int >= 1, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly".
    fit_intercept : bool, default=True
        Whether to fit an intercept :math:`b`; it is never penalized.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``C``, one per class.
    tol : float >= 0, default=1e-8
        Relative duality gap: stop when the gap is at most ``tol`` times the objective.
    max_iter : int >= 1, default=100
        Maximum number of Newton steps per problem.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap. Ctrl-C has the same effect.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit if the numbers of rows and classes are the same.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        One softmax problem for all classes, or one problem per class against the rest. For two classes both are a
        single problem.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        Coefficients :math:`\beta`.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    X_fit_ : ndarray or sparse matrix
        The training rows, or the kernel matrix if the kernel is precomputed.
    kernel_ : Kernel
        The kernel used.
    dual_gap_, objective_ : float
        Proved bound on :math:`P - \min P`, and :math:`P`, all problems together.
    rkhs_norm_ : ndarray of shape (1,) or (n_classes,)
        :math:`\|f\|_k`.
    n_iter_ : int
        Number of Newton steps, the maximum over the problems.
    history_ : ndarray of shape (n_checks, 3)
        Time in seconds, step number and gap, each time the gap was computed.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    The exclusive-or problem, whose classes no line separates:

    >>> from surefit import KernelLogisticRegression
    >>> X, y = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> model = KernelLogisticRegression(C=10.0, gamma=0.5).fit(X, y)
    >>> model.predict(X).tolist(), model.certificate_.holds
    ([0, 1, 1, 0], True)
    """

    _rules = {
        **{name: rule for name, rule in KERNEL_RULES.items() if name != "kernel_params"},
        "C": POSITIVE,
        "gamma": one_of("scale", "auto") | POSITIVE,
        "fit_intercept": BOOLEAN,
        "class_weight": NOTHING | one_of("balanced") | Rule("a dictionary", lambda v: isinstance(v, dict)),
        "tol": NON_NEGATIVE,
        "max_iter": COUNT,
        "max_time": NOTHING | POSITIVE,
        "warm_start": BOOLEAN,
        "multi_class": one_of("multinomial", "ovr"),
    }

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=0.0,
        fit_intercept=True,
        class_weight=None,
        tol=1e-8,
        max_iter=100,
        max_time=None,
        warm_start=False,
        multi_class="multinomial",
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.warm_start = warm_start
        self.multi_class = multi_class

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        sample = read_sample(self, X, y, sample_weight)
        labels = read_labels(self, sample)
        if sample.kernel.positive_semidefinite is False:
            raise InvalidParameter(
                type(self).__name__,
                "kernel",
                "a positive semidefinite kernel (otherwise the objective has no minimum)",
                self.kernel,
            )
        return record(self, sample, labels, solve_problems(self, sample, labels))

    def decision_function(self, X) -> np.ndarray:
        """Return the scores: one per row for two classes, one per row and class for more."""
        check_is_fitted(self)
        scores = self._sums(self._read_rows(X), self.dual_coef_.T) + self.intercept_
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X) -> np.ndarray:
        """Return the class of each row; ties (for two classes, a score of zero) go to the first class."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
