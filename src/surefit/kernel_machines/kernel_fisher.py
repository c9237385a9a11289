from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import NON_NEGATIVE, POSITIVE, check_params, one_of
from surefit.core.warn import warn
from surefit.kernel_machines.kernel_inputs import KERNEL_RULES, KernelSumMixin, gram_of
from surefit.kernel_machines.svm_inputs import read_labels, read_sample
from surefit.problems import pose
from surefit.solvers.kernel.fisher import direction, least_spread, limit_direction, measured

RESTRICTED = 1e-5  # required gap among functions with a within-class variance above rounding, relative to the criterion


class KernelFisherDiscriminant(CertifiedMixin, KernelSumMixin, ClassifierMixin, BaseEstimator):
    r"""Fisher's discriminant for two classes in the feature space of a kernel.

    .. math::

        f = (\hat\Sigma + \lambda I)^{-1} (m_1 - m_0), \qquad \hat y(x) = 1 \iff f(x) > \tfrac12 (f(m_0) + f(m_1)) ,

    with the class means :math:`m_c` of the features :math:`k(x_i, \cdot)` and their pooled covariance
    :math:`\hat\Sigma` (divisor n - 2).

    Hypothesis class: :math:`\sum_j \beta_j k(x_j, \cdot) + b`. Loss: minus the criterion
    :math:`J(f) = \langle f, m_1 - m_0 \rangle^2 / \langle f, (\hat\Sigma + \lambda I) f \rangle`. Optimizer: one
    Cholesky factorization with iterative refinement. The within-class scatter of n rows has rank at most n - 2, so
    :math:`\hat\Sigma` is singular for most kernels and a ridge is needed. With the linear kernel the rule is
    :class:`FisherDiscriminant` with the same ridge.

    Without a ridge (``ridge=0``) the rule is the limit as the ridge tends to zero. If :math:`m_1 - m_0` lies in the
    range of :math:`\hat\Sigma`, as with kernels of few features and many rows, the limit is
    :math:`\hat\Sigma^+ (m_1 - m_0)`. Otherwise the criterion is unbounded, and :math:`f` is the component of
    :math:`m_1 - m_0` orthogonal to the range, which is constant on the training rows of each class. ``separates_``
    distinguishes the two cases.

    Guarantee: :math:`J^* - J(f) \le` ``certificate_["kernel_fisher.gap"].value`` for any data (theory:
    :ref:`kernel-fisher-gap`). Without a ridge, the same bound holds over all functions whose within-class variance
    exceeds rounding errors (``"kernel_fisher.restricted_gap"``), or the certificate bounds the deviation of the
    training scores of each class from a common value (``"kernel_fisher.separation"``). The error rate is not bounded.

    Parameters
    ----------
    kernel : str, kernel of ``surefit.kernels`` or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "precomputed", an object, or a function of two samples; positive
        semidefinite. For a string kernel, X is a list of strings.
    gamma : {"scale", "auto"} or float > 0, default="scale"
        Factor of "rbf", "poly" and "laplacian"; "scale" is 1 / (n_features * X.var()).
    degree : int >= 1, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly".
    ridge : float >= 0, default=1e-3
        Ridge :math:`\lambda`; 0 gives the limit described above.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Labels, sorted.
    dual_coef_ : ndarray of shape (1, n_samples)
        Coefficients :math:`\beta`.
    intercept_ : ndarray of shape (1,)
        :math:`-\tfrac12 (f(m_0) + f(m_1))`.
    criterion_ : float
        :math:`J(f)`; infinite if ``separates_``.
    plug_in_error_ : float
        :math:`\Phi(-\sqrt J / 2)`, the error rate if the scores were normal with the estimated means and variance. This
        is an estimate, not a bound.
    rank_ : int
        Rank of the within-class scatter; only with ``ridge=0``.
    separates_ : bool
        Whether :math:`f` is constant on each class up to rounding; only with ``ridge=0``.
    X_fit_, kernel_
        Training rows and the kernel used.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import KernelFisherDiscriminant
    >>> X, y = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> model = KernelFisherDiscriminant(gamma=0.5).fit(X, y)
    >>> model.predict(X).tolist(), model.certificate_.holds
    ([0, 1, 1, 0], True)
    """

    _rules = {
        **{name: rule for name, rule in KERNEL_RULES.items() if name != "kernel_params"},
        "gamma": one_of("scale", "auto") | POSITIVE,
        "ridge": NON_NEGATIVE,
    }
    class_weight = None  # no prior is used, so both classes have the same weight

    def __init__(self, kernel="rbf", *, gamma="scale", degree=3, coef0=0.0, ridge=1e-3):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.ridge = ridge

    def fit(self, X, y, sample_weight=None):
        """Fit the rule; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        who = type(self).__name__
        sample = read_sample(self, X, y, sample_weight)
        labels = read_labels(self, sample)
        if len(labels.classes) != 2:
            raise InvalidData(
                f"Only binary classification is supported. {who}: y has {len(labels.classes)} classes; "
                "use sklearn.multiclass.OneVsRestClassifier around it."
            )
        if sample.kernel.positive_semidefinite is False:
            raise InvalidParameter(
                who, "kernel", "a positive semidefinite kernel (otherwise the criterion is not defined)", self.kernel
            )
        rows = np.flatnonzero(labels.weights > 0)
        s, second = labels.weights[rows], labels.codes[rows] == 1
        divisor, ridge = float(s.sum()) - 2, float(self.ridge)
        if divisor <= 0:
            raise InvalidData(
                f"{who}: more than two rows are needed to estimate a variance; got weights of {s.sum():g} in total."
            )
        K = gram_of(who, sample.kernel, sample.X)
        K = K if len(rows) == len(K) else K[np.ix_(rows, rows)]
        between = [0.0, 0.0]  # variances of functions relative to their squared norms
        if ridge > 0:
            beta = direction(K, second, s, ridge, divisor)
        else:
            beta, self.rank_, *between, self.separates_ = limit_direction(K, second, s, divisor)
        facts = measured(K, second, s, beta, ridge, divisor)
        separates = ridge == 0 and self.separates_
        self.criterion_ = math.inf if separates else facts.criterion
        self.plug_in_error_ = float(ndtr(-math.sqrt(self.criterion_) / 2))
        self.dual_coef_ = np.zeros((1, sample.X.shape[0]))
        self.dual_coef_[0, rows] = beta
        self.intercept_ = np.array([-facts.middle])
        self.classes_, self.X_fit_, self.kernel_ = labels.classes, sample.X, sample.kernel
        main = Claim("kernel_fisher.separation" if separates else "kernel_fisher.gap")
        if ridge == 0 and not separates:
            numbers = {"least_spread": least_spread(facts, between[0], between[1], RESTRICTED)}
            main = Claim("kernel_fisher.restricted_gap", numbers=numbers)
        solver = "Cholesky factor, refined in float64" if ridge > 0 else "spectrum of the within-class scatter"
        self._issue(
            "A",
            [main, Claim("kernel_fisher.cut"), Claim("kernel_fisher.error")],
            problem=pose(self, sample.X, sample.y, sample.sample_weight),
            model=("dual_coef_", "intercept_"),
            sample=(sample.X, sample.y, sample.sample_weight),
            run={"solver": solver},
        )
        if ridge == 0 and not self.certificate_.claims[0].holds:
            warn(
                f"{who}: the within-class scatter is singular up to rounding, and no useful statement is proved "
                f"about the direction; set ridge > 0.",
                ConvergenceWarning,
            )
        return self

    def decision_function(self, X) -> np.ndarray:
        """Return the scores ``f(x) + b``, one per row."""
        check_is_fitted(self)
        return self._sums(self._read_rows(X), self.dual_coef_.T).ravel() + self.intercept_[0]

    def predict(self, X) -> np.ndarray:
        """Return the class of each row; a score of zero means the first class."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
