from __future__ import annotations

import math

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import BOOLEAN, COUNT, POSITIVE, RANDOM_STATE, check_params, one_of
from surefit.kernel_machines.kernel_inputs import KERNEL_RULES, PIECE, KernelSumMixin
from surefit.kernel_machines.nystroem_record import SubsetGapMixin, record_subset
from surefit.kernel_machines.svm_inputs import read_rows, read_sample
from surefit.kernel_machines.svm_machine import support_vectors
from surefit.solvers.kernel_subset.landmarks import choose
from surefit.solvers.kernel_subset.squares import minimize, span_of


class NystroemRidge(CertifiedMixin, SubsetGapMixin, KernelSumMixin, RegressorMixin, BaseEstimator):
    r"""Kernel ridge regression with the Nyström approximation, for samples whose Gram matrix is too large.

    .. math:: P(f, b) = \sum_i s_i (y_i - f(x_i) - b)^2 + \alpha \|f\|_k^2, \qquad f = \sum_{j \le m} a_j k(z_j, \cdot) ,

    with m landmarks :math:`z_j` drawn from the rows. Hypothesis class: the span of the landmarks. Loss: squared.
    Optimizer: normal equations of m columns, built in blocks of rows. Memory grows with n and with the square of m, and
    time grows with :math:`n m^2`.

    Guarantee: two different gaps are proved. ``subset_gap_`` bounds the distance of :math:`P` from its minimum over the
    span of the landmarks, which is due to rounding. ``dual_gap_`` bounds the distance from the minimum over the *whole*
    space of the kernel, which :class:`KernelRidge` computes. The function :math:`f` lies in that space, so :math:`P` is
    exact, and a dual point of the exact problem bounds the minimum from below. Hence
    :math:`\|f - f^*\|_k \le \sqrt{\text{gap} / \alpha}`. The checker encloses rounding errors in both gaps (theory:
    :ref:`kernel-subset-gap`).

    Parameters
    ----------
    alpha : float > 0, default=1.0
        Weight of the squared norm.
    kernel : str, kernel of ``surefit.kernels`` or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", an object, or a function of two samples; positive semidefinite.
    gamma : {"scale", "auto"} or float > 0, default="scale"
        Factor of "rbf", "poly" and "laplacian"; "scale" is 1 / (n_features * X.var()).
    degree : int >= 1, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly".
    n_landmarks : int >= 1, default=300
        Maximum number m of landmarks; if it equals the number of rows, the fit is that of :class:`KernelRidge`.
    landmarks : {"pivoted", "uniform"}, default="pivoted"
        How the landmarks are drawn. "pivoted" is randomly pivoted Cholesky on up to 20 000 rows, which works best with
        few columns and draws fewer landmarks if the residual vanishes. "uniform" draws all rows with equal probability.
    fit_intercept : bool, default=True
        Whether to fit an intercept :math:`b`; it is never penalized.
    dual : {"auto", "exact", "bounded"}, default="auto"
        How to bound the exact minimum. "exact" uses all kernel values; time grows with the square of n, memory does
        not. "bounded" uses the kernel values within groups of 1000 rows; time grows with n, and the bound is weaker.
        "auto" uses groups as large as half a billion kernel values allow, hence one group (exact) up to 22 000 rows.
    random_state : int, RandomState or None, default=None
        Seed for drawing the landmarks.

    Attributes
    ----------
    landmarks_ : ndarray of shape (n_landmarks,)
        Indices of the rows that are landmarks.
    dual_coef_ : ndarray of shape (n_landmarks,)
        Coefficients :math:`a` of the landmarks.
    intercept_ : float
        Intercept.
    dual_gap_, subset_gap_, objective_ : float
        The two gaps, and :math:`P`.
    rkhs_norm_ : float
        :math:`\|f\|_k`.
    X_fit_, kernel_
        The landmarks and the kernel used.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import NystroemRidge
    >>> X = np.linspace(0, 6, 500)[:, None]
    >>> model = NystroemRidge(n_landmarks=30, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> model.dual_gap_ < 1e-3 * model.objective_
    True
    """

    _rules = {
        **{name: rule for name, rule in KERNEL_RULES.items() if name != "kernel_params"},
        "alpha": POSITIVE,
        "gamma": one_of("scale", "auto") | POSITIVE,
        "n_landmarks": COUNT,
        "fit_intercept": BOOLEAN,
        "landmarks": one_of("pivoted", "uniform"),
        "dual": one_of("auto", "exact", "bounded"),
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        alpha=1.0,
        *,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=0.0,
        n_landmarks=300,
        landmarks="pivoted",
        fit_intercept=True,
        dual="auto",
        random_state=None,
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.fit_intercept = fit_intercept
        self.dual = dual
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        sample = read_sample(self, X, y, sample_weight, numeric=True)
        kernel, n = sample.kernel, sample.X.shape[0]
        if kernel.positive_semidefinite is False:
            raise InvalidParameter("NystroemRidge", "kernel", "a positive semidefinite kernel", self.kernel)
        s = np.ones(n) if sample.sample_weight is None else sample.sample_weight
        counted = np.flatnonzero(s > 0)
        draws = check_random_state(self.random_state)
        A, alpha, offset = kernel.read(sample.X), float(self.alpha), bool(self.fit_intercept)
        self.landmarks_ = choose(kernel, A, counted, int(self.n_landmarks), self.landmarks, draws)
        span = span_of(kernel, A, self.landmarks_)
        found = minimize(span, sample.y, s, alpha, offset)
        self.dual_coef_, self.intercept_ = found.a, found.b
        self.kernel_, self.X_fit_ = kernel, support_vectors(sample.X, kernel, self.landmarks_)
        residual = sample.y - found.values - found.b
        self.objective_ = float(s @ residual**2) + alpha * found.square
        self.rkhs_norm_ = math.sqrt(found.square)
        dual = residual - np.average(residual, weights=s) if offset else residual
        record_subset(
            self, sample, {"dual": dual[:, None]}, span.whiten.shape[1],
            "normal equations of the landmarks, in blocks of rows",
        )  # fmt: skip
        return self

    def predict(self, X) -> np.ndarray:
        """Return the value of the function at each row."""
        check_is_fitted(self)
        X = read_rows(self, X)
        values, step = np.empty(X.shape[0]), max(1, PIECE // len(self.landmarks_))
        for start in range(0, X.shape[0], step):
            part = slice(start, start + step)
            values[part] = self.kernel_.combined(X[part], self.landmarks_, self.X_fit_, self.dual_coef_[:, None])[:, 0]
        return values + self.intercept_
