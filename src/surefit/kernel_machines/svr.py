from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import NON_NEGATIVE, POSITIVE, check_params
from surefit.kernel_machines.svm_inputs import Sample, read_rows, read_sample
from surefit.kernel_machines.svm_machine import RULES, SupportMixin, record, set_one_function
from surefit.kernel_machines.svm_stability import OneProblem, StabilityMixin
from surefit.kernel_machines.svr_training import fit_tube, set_points
from surefit.kernels import Linear
from surefit.solvers.smo.problem import regression


class SVR(CertifiedMixin, CallbackSupportMixin, SupportMixin, StabilityMixin, RegressorMixin, BaseEstimator):
    r"""Support vector regression with any kernel and an epsilon-insensitive tube.

    .. math:: P(f, b) = \tfrac12 \|f\|_k^2 + C \sum_i s_i \bigl(|y_i - f(x_i) - b| - \varepsilon\bigr)_+ .

    Hypothesis class: :math:`\sum_j \beta_j k(x_j, \cdot) + b`. Loss: zero inside the tube, linear outside. Optimizer:
    sequential minimal optimization on working sets of the dual in one signed vector :math:`\beta`, with kernel rows in
    float32 and refinement in float64. Linear kernels with many rows use Newton's method on a smoothed primal.

    Guarantee: :math:`P - \min P \le` ``dual_gap_`` for any data, and
    :math:`\|f - f^*\|_k \le \sqrt{2 \cdot \text{gap}}` (theory: :ref:`svm-gap`).

    Parameters
    ----------
    kernel : str, kernel of ``surefit.kernels`` or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", an object, or a function of two samples. For a
        string kernel, X is a list of strings.
    degree : int >= 1, default=3
        Degree of "poly".
    gamma : {"scale", "auto"} or float > 0, default="scale"
        Factor of "rbf", "poly", "sigmoid" and "laplacian"; "scale" is 1 / (n_features * X.var()).
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    tol : float >= 0, default=1e-3
        Relative duality gap: stop when the gap is at most ``tol`` times the objective.
    C : float > 0, default=1.0
        Regularization parameter, the weight of the loss.
    epsilon : float >= 0, default=0.1
        Half-width of the tube; zero gives the absolute loss.
    shrinking : bool, default=True
        Whether to leave out rows that are unlikely to change; they are checked again before the fit ends.
    cache_size : float > 0, default=200
        Size of the kernel cache in megabytes.
    verbose : object, default=False
        If nonzero, print one line per check of the stopping rule.
    max_iter : int >= 1 or -1, default=-1
        Maximum number of two-row steps (linear kernels: Newton steps); -1 means no limit.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap. Ctrl-C has the same effect.
    fit_intercept : bool, default=True
        Whether to fit an intercept :math:`b`; it is never penalized.
    warm_start : bool, default=False
        Whether to start from the dual coefficients of the last fit if the number of rows is the same.
    n_jobs : int or None, default=None
        Number of threads for kernel rows and predictions; None means one, and -1 means all cores. It does not affect
        the result.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, shape_fit_, fit_status_, n_iter_
        As in scikit-learn; ``dual_coef_`` contains the signed :math:`\beta`, which is positive for rows whose
        prediction is too low.
    intercept_interval_ : ndarray of shape (1, 2)
        Interval of all intercepts that are optimal for the fitted function; ``intercept_`` is its midpoint.
    dual_gap_, objective_ : float
        Proved bound on :math:`P - \min P`, and :math:`P`.
    rkhs_norm_ : float
        :math:`\|f\|_k`.
    points_ : ndarray of str
        Position of each row: "inside" the tube, "on tube", "above" or "below" it; empty for rows of weight zero.
    sample_gap_ : ndarray
        Contribution of each row to the gap.
    kernel_ : Kernel
        The kernel used.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    history_ : ndarray of shape (n_checks, 3)
        Time in seconds, step number and gap, each time the gap was computed.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    For two points the solution is the flattest line that stays in the tube.

    >>> from surefit import SVR
    >>> model = SVR(kernel="linear", C=10.0, epsilon=0.5).fit([[-1.0], [1.0]], [-1.0, 1.0])
    >>> model.coef_.round(6), model.intercept_.round(6), round(model.objective_, 6)
    (array([[0.5]]), array([0.]), 0.125)
    """

    _rules = {**RULES, "C": POSITIVE, "epsilon": NON_NEGATIVE}

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        C=1.0,
        epsilon=0.1,
        shrinking=True,
        cache_size=200,
        verbose=False,
        max_iter=-1,
        max_time=None,
        fit_intercept=True,
        warm_start=False,
        n_jobs=None,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.fit_intercept = fit_intercept
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        sample = read_sample(self, X, y, sample_weight, numeric=True)
        n = sample.X.shape[0]
        last = getattr(self, "_beta", None) if self.warm_start else None
        rows, fit = fit_tube(self, sample, last if last is not None and len(last) == n else None)
        self._beta = np.zeros(n)
        self._beta[rows] = fit.point.beta
        set_one_function(self, sample, rows, fit)
        set_points(self, sample, rows, fit)
        record(self, "svr", sample, [fit], (), [])
        return self

    def _dual_problem(self, sample: Sample) -> OneProblem:
        s = np.ones(sample.X.shape[0]) if sample.sample_weight is None else sample.sample_weight
        rows = np.flatnonzero(s > 0)
        box = regression(sample.y[rows], float(self.C) * s[rows], float(self.epsilon), bool(self.fit_intercept))
        return OneProblem(sample.X, rows, box)

    def predict(self, X) -> np.ndarray:
        """Return the value of the function at each row."""
        check_is_fitted(self)
        return self._functions(read_rows(self, X), self.dual_coef_).ravel() + self.intercept_[0]

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the columns; only for a linear kernel."""
        if not isinstance(getattr(self, "kernel_", None), Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        return self._weights(self.dual_coef_)
