from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import POSITIVE, check_params
from surefit.kernel_machines.nu.training import fit_targets
from surefit.kernel_machines.svm_inputs import read_rows, read_sample
from surefit.kernel_machines.svm_machine import NU, RULES, SupportMixin, record, set_one_function


class NuSVR(CertifiedMixin, CallbackSupportMixin, SupportMixin, RegressorMixin, BaseEstimator):
    r"""Support vector regression with a bound on the fraction of rows outside the tube instead of its width.

    .. math:: P(f, b, \varepsilon) = \tfrac12 \|f\|_k^2 + C \Bigl(\nu S \varepsilon + \sum_i s_i \bigl(|y_i - f(x_i) - b| -
              \varepsilon\bigr)_+\Bigr), \qquad \varepsilon \ge 0, \quad S = \textstyle\sum_i s_i .

    The model is that of :class:`SVR` with ``epsilon = epsilon_``. At most the fraction :math:`\nu` of the weight lies
    outside the tube. Hypothesis class: :math:`\sum_j \beta_j k(x_j, \cdot) + b`. Loss: epsilon-insensitive. Optimizer:
    sequential minimal optimization on working sets of the dual with pairs of one sign, or for a sequence of half-widths.

    Guarantee: :math:`P - \min P \le` ``dual_gap_`` for any data, and
    :math:`\|f - f^*\|_k \le \sqrt{2 \cdot \text{gap}}` (theory: :ref:`nu-gap`).

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        Upper bound on the fraction of rows outside the tube and lower bound on the fraction of support vectors.
    C : float > 0, default=1.0
        Regularization parameter, the weight of the loss.
    kernel : str, kernel of ``surefit.kernels`` or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", an object, or a function of two samples.
    degree : int >= 1, default=3
        Degree of "poly".
    gamma : {"scale", "auto"} or float > 0, default="scale"
        Factor of "rbf", "poly", "sigmoid" and "laplacian"; "scale" is 1 / (n_features * X.var()).
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    shrinking : bool, default=True
        Whether to leave out rows that are unlikely to change; they are checked again before the fit ends.
    tol : float >= 0, default=1e-3
        Relative duality gap: stop when the gap is at most ``tol`` times ``objective_``.
    cache_size : float > 0, default=200
        Size of the kernel cache in megabytes.
    verbose : object, default=False
        Accepted but without effect; use callbacks.
    max_iter : int >= 1 or -1, default=-1
        Maximum number of two-row steps for each problem of the search; -1 means no limit.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap. Ctrl-C has the same effect.
    n_jobs : int or None, default=None
        Number of threads for kernel rows and scores; it does not affect the result.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, shape_fit_, fit_status_, n_iter_
        As in scikit-learn.
    epsilon_ : float
        Half-width of the tube.
    dual_gap_, objective_ : float
        Proved bound on :math:`P - \min P`, and :math:`P`.
    intercept_interval_, rkhs_norm_
        As in :class:`SVR`.
    kernel_ : Kernel
        The kernel used.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    history_ : ndarray of shape (n_checks, 3)
        Time in seconds, number of steps and gap during the search.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import NuSVR
    >>> x = np.linspace(-1, 1, 41)
    >>> model = NuSVR(nu=0.2, C=10.0).fit(x[:, None], np.sin(3 * x) + 0.1 * np.cos(50 * x))
    >>> outside = np.abs(np.sin(3 * x) + 0.1 * np.cos(50 * x) - model.predict(x[:, None])) > model.epsilon_ + 1e-3
    >>> bool(outside.mean() <= 0.2), model.certificate_.holds
    (True, True)
    """

    _rules = {
        **{name: rule for name, rule in RULES.items() if name not in ("fit_intercept", "warm_start")},
        "nu": NU,
        "C": POSITIVE,
    }

    def __init__(
        self,
        *,
        nu=0.5,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        tol=1e-3,
        cache_size=200,
        verbose=False,
        max_iter=-1,
        max_time=None,
        n_jobs=None,
    ):
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        sample = read_sample(self, X, y, sample_weight, numeric=True)
        s = np.ones(len(sample.y)) if sample.sample_weight is None else sample.sample_weight
        rows = np.flatnonzero(s > 0)
        judged, fit = fit_targets(self, sample, rows, float(self.C) * s[rows])
        self.epsilon_ = float(judged.level)
        set_one_function(self, sample, rows, fit)
        record(self, "nu_svr", sample, [fit], ("epsilon_",), [])
        return self

    def predict(self, X) -> np.ndarray:
        """Return the value of the function at each row."""
        check_is_fitted(self)
        return self._functions(read_rows(self, X), self.dual_coef_).ravel() + self.intercept_[0]

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the columns; only for a linear kernel."""
        return self._weights(self.dual_coef_)
