from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import check_params
from surefit.kernel_machines.nu.training import fit_one_class
from surefit.kernel_machines.svm_inputs import read_rows, read_sample
from surefit.kernel_machines.svm_machine import NU, RULES, SupportMixin, record, set_one_function


class OneClassSVM(CertifiedMixin, CallbackSupportMixin, SupportMixin, OutlierMixin, BaseEstimator):
    r"""One-class support vector machine for outlier detection: a half-space in the kernel's feature space.

    .. math:: P(f, \rho) = \tfrac12 \|f\|_k^2 - \nu S \rho + \sum_i s_i \bigl(\rho - f(x_i)\bigr)_+, \qquad S =
              \textstyle\sum_i s_i .

    A row with :math:`f(x) < \rho` is an outlier; outliers have at most the fraction :math:`\nu` of the training weight.
    Hypothesis class: signs of :math:`\sum_j \alpha_j k(x_j, \cdot) - \rho`. Loss: hinge. Optimizer: sequential minimal
    optimization on working sets of the dual with second-order pair selection.

    Guarantee: :math:`P - \min P \le` ``dual_gap_`` for any data, and
    :math:`\|f - f^*\|_k \le \sqrt{2 \cdot \text{gap}}` (theory: :ref:`nu-gap`).

    Parameters
    ----------
    kernel : str, kernel of ``surefit.kernels`` or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", an object, or a function of two samples.
    degree : int >= 1, default=3
        Degree of "poly".
    gamma : {"scale", "auto"} or float > 0, default="scale"
        Factor of "rbf", "poly", "sigmoid" and "laplacian"; "scale" is 1 / (n_features * X.var()).
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    tol : float >= 0, default=1e-3
        Relative duality gap: stop when the gap is at most ``tol`` times ``objective_``.
    nu : float in (0, 1], default=0.5
        Upper bound on the fraction of training rows that are outliers, and lower bound on the fraction of support
        vectors.
    shrinking : bool, default=True
        Whether to leave out rows that are unlikely to change; they are checked again before the fit ends.
    cache_size : float > 0, default=200
        Size of the kernel cache in megabytes.
    verbose : object, default=False
        Accepted but without effect; use callbacks.
    max_iter : int >= 1 or -1, default=-1
        Maximum number of two-row steps; -1 means no limit.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap. Ctrl-C has the same effect.
    n_jobs : int or None, default=None
        Number of threads for kernel rows and scores; it does not affect the result.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, offset_, shape_fit_, fit_status_, n_iter_
        As in scikit-learn; ``offset_`` is :math:`\rho` and ``intercept_`` its negative.
    dual_gap_, objective_ : float
        Proved bound on :math:`P - \min P`, and :math:`\tfrac12\|f\|^2 + \sum_i s_i (\rho - f(x_i))_+`.
    intercept_interval_, rkhs_norm_
        As in :class:`SVR`.
    kernel_ : Kernel
        The kernel used.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them.
    history_ : ndarray of shape (n_checks, 3)
        Time in seconds, number of steps and gap, each time the gap was computed.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import OneClassSVM
    >>> X = np.array([[0.0], [0.44], [0.45], [0.46], [1.0]])
    >>> OneClassSVM(gamma="auto").fit(X).predict(X).tolist()
    [-1, 1, 1, 1, -1]
    """

    _rules = {
        **{name: rule for name, rule in RULES.items() if name not in ("fit_intercept", "warm_start")},
        "nu": NU,
    }

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        nu=0.5,
        shrinking=True,
        cache_size=200,
        verbose=False,
        max_iter=-1,
        max_time=None,
        n_jobs=None,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        sample = read_sample(self, X, None, sample_weight)
        s = np.ones(sample.X.shape[0]) if sample.sample_weight is None else sample.sample_weight
        rows = np.flatnonzero(s > 0)
        fit = fit_one_class(self, sample, rows, s[rows])
        set_one_function(self, sample, rows, fit)
        record(self, "one_class", sample, [fit], (), [])
        return self

    @property
    def offset_(self) -> np.ndarray:
        """The threshold, which ``decision_function`` subtracts from ``score_samples``."""
        return -self.intercept_

    def score_samples(self, X) -> np.ndarray:
        """Return the value of the function at each row; outliers have values below ``offset_``."""
        check_is_fitted(self)
        return self._functions(read_rows(self, X), self.dual_coef_).ravel()

    def decision_function(self, X) -> np.ndarray:
        """Return the value of the function minus ``offset_``; outliers have negative values."""
        return self.score_samples(X) - self.offset_

    def predict(self, X) -> np.ndarray:
        """Return 1 for inliers and -1 for outliers; a row on the boundary is an inlier."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the columns; only for a linear kernel."""
        return self._weights(self.dual_coef_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags
