"""Gaussian-process regression."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import (
    ARRAY,
    BOOLEAN,
    COUNT,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    Rule,
    check_params,
    one_of,
)
from surefit.core.warn import warn
from surefit.gaussian_processes.inputs import KERNEL, kernel_for, read_rows
from surefit.gaussian_processes.regressor_training import fit_process
from surefit.problems.processes import free_values
from surefit.solvers.gaussian_process.exact import Problem, evidence, inverse_diagonal, posterior


class GaussianProcessRegressor(CertifiedMixin, CallbackSupportMixin, MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Gaussian-process regressor with proved error bounds for the posterior mean and the evidence.

    .. math:: f \sim GP(0, k_\theta), \quad y_i = f(x_i) + \varepsilon_i, \qquad
              E[f(x) \mid y] = k_x^\top A^{-1} y, \quad A = K + \operatorname{diag}(\alpha)

    Hypothesis class: functions in the RKHS. Loss: squared. Optimizer: Cholesky factorization; the hyperparameters
    maximize the evidence by quasi-Newton steps that start from a search on a quarter of the rows.

    Guarantee: given the hyperparameters, the mean is within ``certificate_["gaussian_process.mean"].value`` times
    :math:`\sqrt{k(x, x)}` of the exact one for every x, and the evidence is within the stated error (theory:
    :ref:`gp-evidence`). The hyperparameters are a stationary point, which need not be the global maximum.

    Parameters
    ----------
    kernel : kernel of ``surefit.kernels``, of scikit-learn, or None, default=None
        Covariance of the prior; None means ``1.0 * RBF(1.0)`` with both hyperparameters learned. Noise is added as a
        term, as in ``RBF() + Noise(0.1)``.
    alpha : float >= 0 or array of one per row, default=1e-10
        Variance of the noise, added to the diagonal.
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        Optimizer of the free hyperparameters; None keeps them fixed. A function ``optimizer(objective, theta, bounds)``
        returns theta and the value, as in scikit-learn.
    n_restarts_optimizer : int >= 0, default=0
        Number of additional searches, each from a random point within the bounds of the log hyperparameters.
    normalize_y : bool, default=False
        Whether to center and scale the targets first.
    copy_X_train : bool, default=True
        Whether to store a copy of X.
    n_targets : int >= 1 or None, default=None
        Number of targets of the prior before ``fit``; ``fit`` raises an error if ``y`` has a different number.
    random_state : int, RandomState or None, default=None
        Seed of the restarts.
    tol : float >= 0, default=1e-5
        Largest derivative of the log evidence per row, with respect to a log hyperparameter, at which the search ends.
    max_iter : int >= 1, default=500
        Maximum number of evaluations of the evidence on all rows; the search on the subsample has the same limit.
    max_time : float > 0 or None, default=None
        Time limit in seconds; the best point so far is used. Ctrl-C has the same effect.
    max_memory : float > 0 or None, default=None
        Memory limit in bytes; None means the available memory. A sample that exceeds the limit raises an error before
        memory is allocated.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with its hyperparameters.
    X_train_, y_train_, L_, alpha_, log_marginal_likelihood_value_
        As in scikit-learn; ``y_train_`` is centered and scaled if ``normalize_y=True``.
    y_mean_, y_scale_ : float or ndarray
        Mean and scale by which the targets were standardized.
    noise_ : float or ndarray
        Sum of ``alpha`` and the jitter.
    jitter_ : float
        Jitter added to the diagonal for the factorization; zero if none was needed.
    n_iter_ : int
        Number of evaluations of the evidence.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    For two observations and the covariance of Brownian motion, A = [[2, 1], [1, 3]] and A^-1 y = (0.4, 0.7):

    >>> import numpy as np
    >>> from surefit import GaussianProcessRegressor
    >>> from surefit.kernels import Min
    >>> X, y = np.array([[1.0], [2.0]]), np.array([1.5, 2.5])
    >>> model = GaussianProcessRegressor(Min(), alpha=1.0).fit(X, y)
    >>> model.predict([[1.0], [2.0], [9.0]]).round(6)
    array([1.1, 1.8, 1.8])
    >>> model.certificate_["gaussian_process.mean"].value < 1e-12, model.verify(X, y)["gaussian_process.mean"].ok
    (True, True)
    """

    _rules = {
        "kernel": KERNEL,
        "alpha": NON_NEGATIVE | ARRAY,
        "optimizer": NOTHING | one_of("fmin_l_bfgs_b") | Rule("a function", callable),
        "n_restarts_optimizer": COUNT | one_of(0),
        "normalize_y": BOOLEAN,
        "copy_X_train": BOOLEAN,
        "n_targets": NOTHING | COUNT,
        "random_state": RANDOM_STATE,
        "tol": NON_NEGATIVE,
        "max_iter": COUNT,
        "max_time": NOTHING | POSITIVE,
        "max_memory": NOTHING | POSITIVE,
    }

    def __init__(
        self,
        kernel=None,
        *,
        alpha=1e-10,
        optimizer="fmin_l_bfgs_b",
        n_restarts_optimizer=0,
        normalize_y=False,
        copy_X_train=True,
        n_targets=None,
        random_state=None,
        tol=1e-5,
        max_iter=500,
        max_time=None,
        max_memory=None,
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.n_targets = n_targets
        self.random_state = random_state
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.max_memory = max_memory

    @with_callbacks
    def fit(self, X, y):
        """Fit the process to observations; ``y`` may have several columns. Returns the estimator."""
        check_params(self)
        fit_process(self, X, y)
        return self

    def predict(self, X, return_std=False, return_cov=False):
        """Return the posterior (before ``fit``, prior) mean and, if requested, standard deviations or covariances."""
        if return_std and return_cov:
            raise InvalidParameter("GaussianProcessRegressor", "return_std", "False with return_cov=True", True)
        if not hasattr(self, "X_train_"):
            return self._prior(X, return_std, return_cov)
        X = read_rows(self, X)
        across = self.kernel_(X, self.X_train_)
        mean = self.y_scale_ * (across @ self.alpha_) + self.y_mean_
        if not (return_std or return_cov):
            return mean
        V = solve_triangular(self.L_, across.T, lower=True, check_finite=False, overwrite_b=True)
        if return_cov:
            spread = self.kernel_(X) - V.T @ V
            return mean, np.multiply.outer(spread, np.square(self.y_scale_))
        variance = self.kernel_.diag(X) - np.einsum("ij,ij->j", V, V)
        low = variance < 0
        if np.any(variance < -1e-6 * np.max(np.abs(variance))):
            warn("GaussianProcessRegressor: some variances were negative due to rounding and are set to zero.")
        variance[low] = 0.0
        return mean, np.sqrt(np.multiply.outer(variance, np.square(self.y_scale_)))

    def _prior(self, X, return_std, return_cov):
        kernel = kernel_for(self, X)
        X = kernel.read(X)
        columns = 1 if self.n_targets is None else self.n_targets
        shape = (X.shape[0],) if columns == 1 else (X.shape[0], columns)
        mean = np.zeros(shape)
        if return_cov:
            spread = kernel(X)
            return mean, spread if columns == 1 else np.repeat(spread[:, :, None], columns, axis=2)
        if return_std:
            deviation = np.sqrt(kernel.diag(X))
            return mean, deviation if columns == 1 else np.repeat(deviation[:, None], columns, axis=1)
        return mean

    def sample_y(self, X, n_samples=1, random_state=0):
        """Draw functions from the posterior (the prior before ``fit``) at the rows of X, one column per draw."""
        generator = check_random_state(random_state)
        mean, spread = self.predict(X, return_cov=True)
        if mean.ndim == 1:
            return generator.multivariate_normal(mean, spread, n_samples).T
        draws = [
            generator.multivariate_normal(mean[:, j], spread[..., j], n_samples).T[:, None]
            for j in range(mean.shape[1])
        ]
        return np.hstack(draws)

    def log_marginal_likelihood(self, theta=None, eval_gradient=False, clone_kernel=True):
        """Return the log evidence (summed over targets) at the log hyperparameters ``theta`` and optionally its gradient.

        ``clone_kernel`` is ignored; the fitted kernel is never modified.
        """
        check_is_fitted(self)
        if theta is None:
            if eval_gradient:
                raise InvalidParameter("GaussianProcessRegressor", "eval_gradient", "False if theta is None", True)
            return self.log_marginal_likelihood_value_
        kernel, problem = self.kernel_.with_theta(theta), self._problem()
        if not eval_gradient:
            return posterior(kernel, problem).evidence
        found = evidence(kernel, problem)
        return found.value, found.derivatives

    def loo(self):
        """Return the leave-one-out means and standard deviations at the training rows, computed in closed form."""
        check_is_fitted(self)
        inverse = inverse_diagonal(self.L_)
        shape = (-1, *(1,) * (self.alpha_.ndim - 1))
        mean = self.y_train_ - self.alpha_ / inverse.reshape(shape)
        deviation = np.multiply.outer(np.sqrt(1 / inverse), self.y_scale_)
        return self.y_scale_ * mean + self.y_mean_, deviation

    @property
    def hyperparameters_(self) -> np.ndarray:
        """Free hyperparameters of ``kernel_`` at the end of the search."""
        return free_values(self.kernel_)

    def _problem(self) -> Problem:
        n = len(self.y_train_)
        noise = np.broadcast_to(np.asarray(self.noise_, dtype=np.float64), (n,))
        return Problem(self.X_train_, self.y_train_.reshape(n, -1), noise)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.sparse = True
        return tags
