"""Gaussian-process regression with inducing rows, for samples too large for a dense covariance."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.budget import Budget
from surefit.core.callbacks import CallbackSupportMixin, progress_reporter, with_callbacks
from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.threads import one_blas_thread
from surefit.core.validation import BOOLEAN, COUNT, NON_NEGATIVE, NOTHING, POSITIVE, check_params, one_of, read_data
from surefit.gaussian_processes.inputs import KERNEL, READ
from surefit.kernels import Kernel
from surefit.problems import pose
from surefit.problems.processes import free_values, sparse_kernel
from surefit.solvers.gaussian_process.exact import NotPositiveDefinite, Problem, noise_in
from surefit.solvers.gaussian_process.inducing import bounds, choose
from surefit.solvers.gaussian_process.search import maximize

START = 800  # number of rows of the exact search that gives initial hyperparameters


class SparseGaussianProcessRegressor(CallbackSupportMixin, CertifiedMixin, RegressorMixin, BaseEstimator):
    r"""Sparse Gaussian-process regressor with inducing rows, with proved bounds on the exact evidence.

    .. math:: F(\theta) = \ln N(y; 0, Q + \sigma^2 I) - \frac{\operatorname{tr}(K - Q)}{2 \sigma^2} \le \ln p(y), \qquad
              Q = K_{nm} K_{mm}^{-1} K_{mn}

    Hypothesis class: the span of the inducing rows. Loss: the negative lower bound F of the log evidence. Optimizer:
    quasi-Newton steps. The inducing rows are chosen greedily, each with the largest remaining variance. The
    hyperparameters maximize F, starting from the maximum of the exact evidence of some rows. Time grows with
    :math:`n m^2` and memory with :math:`n m`.

    Guarantee: the exact log evidence lies in ``evidence_bounds_``; the Kullback-Leibler divergence between the
    approximate and the exact posterior is at most their difference, ``variational_gap_`` (theory: :ref:`gp-inducing`).
    The bounds are computed in floating point.

    Parameters
    ----------
    kernel : kernel of ``surefit.kernels``, of scikit-learn, or None, default=None
        Covariance of the prior; None means ``1.0 * RBF(1.0) + Noise(1.0)`` with all hyperparameters learned.
    n_inducing : int >= 1, default=200
        Number m of inducing rows.
    alpha : float >= 0, default=0.0
        Variance of the noise in addition to that of the kernel; their sum must be positive.
    optimizer : "fmin_l_bfgs_b" or None, default="fmin_l_bfgs_b"
        Optimizer of the free hyperparameters; None keeps them fixed.
    normalize_y : bool, default=False
        Whether to center and scale the targets first.
    max_iter : int >= 1, default=20
        Maximum number of quasi-Newton steps on F.
    max_time : float > 0 or None, default=None
        Time limit in seconds of the search; the best point so far is used. Ctrl-C has the same effect.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with its hyperparameters.
    inducing_ : ndarray of int
        Indices of the inducing rows.
    evidence_bounds_ : tuple of float
        Lower and upper bound on the exact log evidence.
    variational_gap_ : float
        Difference of ``evidence_bounds_``.
    y_mean_, y_scale_ : float
        Mean and scale by which the targets were standardized.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import SparseGaussianProcessRegressor
    >>> X = np.linspace(0, 6, 400)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=400)
    >>> model = SparseGaussianProcessRegressor(n_inducing=20).fit(X, y)
    >>> bool(model.variational_gap_ < 1e-3), bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.05)
    (True, True)
    """

    _rules = {
        "kernel": KERNEL,
        "n_inducing": COUNT,
        "alpha": NON_NEGATIVE,
        "optimizer": NOTHING | one_of("fmin_l_bfgs_b"),
        "normalize_y": BOOLEAN,
        "max_iter": COUNT,
        "max_time": NOTHING | POSITIVE,
    }

    def __init__(
        self,
        kernel=None,
        *,
        n_inducing=200,
        alpha=0.0,
        optimizer="fmin_l_bfgs_b",
        normalize_y=False,
        max_iter=20,
        max_time=None,
    ):
        self.kernel = kernel
        self.n_inducing = n_inducing
        self.alpha = alpha
        self.optimizer = optimizer
        self.normalize_y = normalize_y
        self.max_iter = max_iter
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y):
        """Choose the inducing rows, learn the hyperparameters and bound the evidence. Returns the estimator."""
        check_params(self)
        X, y = read_data(self, X, y, y_numeric=True, **READ)
        y = np.asarray(y, dtype=np.float64)
        kernel = sparse_kernel(self.get_params(deep=False), X, type(self).__name__)
        if not self.alpha + noise_in(kernel) > 0:
            raise InvalidParameter(type(self).__name__, "alpha", "> 0 if the kernel has no Noise term", self.alpha)
        self.y_mean_ = float(np.mean(y)) if self.normalize_y else 0.0
        scale = float(np.std(y)) if self.normalize_y else 1.0
        self.y_scale_ = scale if scale > 0 else 1.0
        targets = (y - self.y_mean_) / self.y_scale_
        reporter = progress_reporter(self, X, y)
        with Budget(500, self.max_time, reporter) as budget, one_blas_thread():
            self._fit(kernel, X, targets, budget)
        if reporter is not None:
            reporter.finish()
        self._issue(
            "A",
            [Claim("gaussian_process.variational_gap"), Claim("gaussian_process.global")],
            problem=pose(self, X, y, None, "hyperparameters_"),
            model=("inducing_", "y_mean_", "y_scale_", "hyperparameters_"),
            sample=(X, y, None),
            run={"solver": "inducing rows", "steps": int(self.n_iter_), "stopped": "converged"},
        )
        return self

    def _fit(self, kernel: Kernel, X, targets: np.ndarray, budget: Budget) -> None:
        learn = self.optimizer is not None and len(kernel.theta) > 0
        n = len(targets)
        if learn:
            rows = np.sort(np.random.default_rng(0).permutation(n)[:START])
            some = Problem(X[rows], targets[rows, None], np.full(len(rows), self.alpha + 1e-10))
            kernel = kernel.with_theta(
                maximize(kernel, some, [kernel.theta], tol=1e-3 * len(rows), budget=budget).theta
            )
        inducing = choose(kernel, X, self.n_inducing)
        Z, self.n_iter_ = X[inducing], 1
        if learn and n > START:

            def downhill(theta):
                try:
                    return -bounds(kernel.with_theta(theta), X, targets, Z, self.alpha).lower / n
                except NotPositiveDefinite:
                    return 1e10

            def stop(intermediate_result):
                if budget.spent() is not None:
                    raise StopIteration

            options = {"maxiter": self.max_iter, "ftol": 1e-8, "eps": 1e-5}
            found = minimize(
                downhill, kernel.theta, method="L-BFGS-B", bounds=kernel.bounds, options=options, callback=stop
            )
            kernel, self.n_iter_ = kernel.with_theta(found.x), max(int(found.nit), 1)
        try:
            found_bounds = bounds(kernel, X, targets, Z, self.alpha)
        except NotPositiveDefinite:
            raise InvalidParameter(
                type(self).__name__, "kernel", "a positive semidefinite kernel on these rows", kernel
            ) from None
        self.kernel_, self.inducing_, self._inducing_rows = kernel, inducing, Z
        self._root, self._inner, self._weights = found_bounds.root, found_bounds.inner, found_bounds.weights

    @property
    def hyperparameters_(self) -> np.ndarray:
        """Free hyperparameters of ``kernel_``."""
        return free_values(self.kernel_)

    @property
    def evidence_bounds_(self) -> tuple[float, float]:
        """Lower and upper bound on the exact log evidence, as certified."""
        numbers = self.certificate_["gaussian_process.variational_gap"].numbers
        return numbers["lower"], numbers["upper"]

    @property
    def variational_gap_(self) -> float:
        """Difference of ``evidence_bounds_``."""
        low, high = self.evidence_bounds_
        return high - low

    def predict(self, X, return_std=False):
        """Return the approximate posterior mean and, if requested, standard deviations (including the kernel's noise)."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, **READ)
        V = solve_triangular(self._root, self.kernel_(X, self._inducing_rows).T, lower=True, check_finite=False)
        mean = self.y_scale_ * (V.T @ self._weights) + self.y_mean_
        if not return_std:
            return mean
        U = solve_triangular(self._inner, V, lower=True, check_finite=False)
        variance = self.kernel_.diag(X) - np.einsum("ij,ij->j", V, V) + np.einsum("ij,ij->j", U, U)
        return mean, self.y_scale_ * np.sqrt(np.maximum(variance, 0.0))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
