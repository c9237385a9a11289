from __future__ import annotations

from sklearn.base import BaseEstimator, ClassifierMixin

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import one_of
from surefit.kernel_machines.logistic_probability import LogisticProbabilityMixin
from surefit.kernel_machines.nystroem_training import RULES, NystroemMixin, fit_classifier


class NystroemLogisticRegression(
    CertifiedMixin, CallbackSupportMixin, LogisticProbabilityMixin, NystroemMixin, ClassifierMixin, BaseEstimator
):
    r"""Kernel logistic regression with the Nyström approximation, for samples whose Gram matrix is too large.

    .. math::

        P(f, b) = \tfrac12 \|f\|_k^2 + C \sum_i s_i \ln\bigl(1 + e^{-t_i (f(x_i) + b)}\bigr), \qquad
        f = \sum_{j \le m} a_j k(z_j, \cdot), \quad t_i = \pm 1 ,

    with m landmarks :math:`z_j` drawn from the rows. Hypothesis class: the span of the landmarks. Loss: logistic.
    Optimizer: Newton's method. Memory grows with :math:`n m` (in float32 if that exceeds 67 million numbers) and time
    with :math:`n m^2`. With more than two classes there is one function per class, and the loss is the softmax
    cross-entropy :math:`\ln \sum_k e^{z_{ik}} - z_{i, y_i}` with :math:`z_{ik} = f_k(x_i) + b_k`. With
    ``multi_class="ovr"`` one problem is fitted per class against the rest, and the probabilities are normalized to sum
    to one.

    Guarantee: two different gaps are proved. ``subset_gap_`` bounds the distance of :math:`P` from its minimum over the
    span of the landmarks; ``tol`` refers to this gap. ``dual_gap_`` bounds the distance from the minimum over the
    *whole* space of the kernel, which :class:`KernelLogisticRegression` computes. The function :math:`f` lies in that
    space, so :math:`P` is exact, and a dual point of the exact problem bounds the minimum from below. Hence
    :math:`\|f - f^*\|_k \le \sqrt{2 \cdot \text{gap}}` and
    :math:`|f(x) - f^*(x)| \le \sqrt{2 \cdot \text{gap} \cdot k(x, x)}`, both without intercepts. The checker encloses
    rounding errors (theory: :ref:`kernel-subset-machines`).

    Parameters
    ----------
    C : float > 0, default=1.0
        Weight of the losses.
    kernel : str, kernel of ``surefit.kernels`` or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "precomputed", an object, or a function of two samples; positive
        semidefinite.
    gamma : {"scale", "auto"} or float > 0, default="scale"
        Factor of "rbf", "poly" and "laplacian"; "scale" is 1 / (n_features * X.var()).
    degree : int >= 1, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly".
    n_landmarks : int >= 1, default=300
        Maximum number m of landmarks; if it equals the number of rows, the fit is that of
        :class:`KernelLogisticRegression`.
    landmarks : {"pivoted", "uniform"}, default="pivoted"
        How the landmarks are drawn. "pivoted" is randomly pivoted Cholesky on up to 20 000 rows, which works best with
        few columns and draws fewer landmarks if the residual vanishes. "uniform" draws all rows with equal probability.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        One softmax problem for all classes, or one problem per class against the rest. For two classes both are a
        single problem.
    fit_intercept : bool, default=True
        Whether to fit an intercept :math:`b`; it is never penalized.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``C``, one per class.
    tol : float >= 0, default=1e-6
        Stop when the gap in the span is at most ``tol`` times the objective.
    max_iter : int >= 1, default=1000
        Maximum number of Newton steps per problem.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gaps. Ctrl-C has the same effect.
    dual : {"auto", "exact", "bounded"}, default="auto"
        How to bound the exact minimum. "exact" uses the kernel values of all rows with a dual coefficient; time grows
        with the square of their number, memory does not. "bounded" uses the kernel values within groups of 1000 rows;
        time grows linearly, and the bound is weaker. "auto" uses groups as large as half a billion kernel values allow,
        hence one group (exact) up to 22 000 such rows.
    random_state : int, RandomState or None, default=None
        Seed for drawing the landmarks.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    landmarks_ : ndarray of shape (n_landmarks,)
        Indices of the rows that are landmarks.
    dual_coef_ : ndarray of shape (1, n_landmarks) or (n_classes, n_landmarks)
        Coefficients :math:`a` of the landmarks.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    dual_gap_ : float
        Proved bound on :math:`P - \min P` over the whole space of the kernel, all problems together.
    subset_gap_ : float
        Bound on :math:`P - \min P` over the span of the landmarks.
    objective_ : float
        :math:`P`, all problems together.
    rkhs_norm_ : ndarray of shape (1,) or (n_classes,)
        :math:`\|f\|_k`.
    X_fit_, kernel_
        The landmarks and the kernel used.
    n_iter_ : int
        Number of Newton steps, the maximum over the problems.
    history_ : ndarray of shape (n_checks, 3)
        Time in seconds, step number and gap in the span, each time it was computed.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import NystroemLogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = NystroemLogisticRegression(n_landmarks=100, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95, model.subset_gap_ < model.dual_gap_ < 0.05 * model.objective_
    (True, True)
    """

    _rules = {**RULES, "multi_class": one_of("multinomial", "ovr")}

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=0.0,
        n_landmarks=300,
        landmarks="pivoted",
        multi_class="multinomial",
        fit_intercept=True,
        class_weight=None,
        tol=1e-6,
        max_iter=1000,
        max_time=None,
        dual="auto",
        random_state=None,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.dual = dual
        self.random_state = random_state

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        return fit_classifier(self, X, y, sample_weight, "logistic")
