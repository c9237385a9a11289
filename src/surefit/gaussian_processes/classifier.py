"""Gaussian-process classification."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin, warn_unless_converged
from surefit.core.validation import (
    BOOLEAN,
    COUNT,
    N_JOBS,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    Rule,
    check_params,
    one_of,
)
from surefit.gaussian_processes.classifier_training import SLOPE, fit_problems, read_training
from surefit.gaussian_processes.inputs import KERNEL, read_rows
from surefit.gaussian_processes.quadrature import logistic_normal_mean
from surefit.problems import pose
from surefit.problems.processes import free_values
from surefit.problems.stated_gap import StatedGapMixin
from surefit.solvers.gaussian_process.laplace import ClassProblem, LaplaceEvidence
from surefit.solvers.gaussian_process.search import free_directions


class KernelList(list):
    """Kernels of several two-class problems, with the attributes of scikit-learn's ``CompoundKernel``."""

    @property
    def kernels(self) -> list:
        """The kernels."""
        return list(self)

    @property
    def theta(self) -> np.ndarray:
        """Logarithms of the free hyperparameters of all kernels, concatenated."""
        return np.concatenate([kernel.theta for kernel in self])

    @property
    def bounds(self) -> np.ndarray:
        """Bounds of ``theta``, one row per entry."""
        return np.vstack([kernel.bounds for kernel in self])


class GaussianProcessClassifier(CertifiedMixin, CallbackSupportMixin, StatedGapMixin, ClassifierMixin, BaseEstimator):
    r"""Gaussian-process classifier with a logistic link: Laplace approximation with a proved mode.

    .. math:: P(Y = 1 \mid x) = l(f(x)), \quad f \sim GP(0, k_\theta), \qquad
              P(a) = \sum_i \ln(1 + e^{-t_i f_i}) + \tfrac12 a^\top K a, \quad f = K a

    Hypothesis class: averages :math:`\int l(f) \, dN(m(x), v(x))` over the Laplace approximation of the posterior.
    Loss: logistic. Optimizer: Newton's method for the mode; quasi-Newton for the hyperparameters, which maximize the
    approximate evidence.

    Guarantee: :math:`P - \min P \le` ``dual_gap_`` (summed over two-class problems), so the latent mode is within
    :math:`\sqrt{2 \cdot \text{gap} \cdot k(x, x)}` of the exact one for every x. A probability exceeds 1/2 exactly if
    the latent mean is positive (theory: :ref:`gp-mode`). The certificate makes no claim about the error of the Laplace
    approximation.

    Parameters
    ----------
    kernel : kernel of ``surefit.kernels``, of scikit-learn, or None, default=None
        Covariance of the prior; None means a Gaussian kernel with fixed length scale 1.
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        Optimizer of the free hyperparameters; None keeps them fixed.
    n_restarts_optimizer : int >= 0, default=0
        Number of additional searches, each from a random point within the bounds of the log hyperparameters.
    max_iter_predict : int >= 1, default=100
        Maximum number of Newton steps for a mode.
    warm_start : bool, default=False
        Whether to start Newton's method from the dual vector of the previous fit.
    copy_X_train : bool, default=True
        Whether to store a copy of X.
    random_state : int, RandomState or None, default=None
        Seed of the restarts.
    multi_class : {"one_vs_rest", "one_vs_one"}, default="one_vs_rest"
        For several classes: one problem per class, or one per pair of classes (predictions by votes, no probabilities).
    n_jobs : int or None, default=None
        Ignored; accepted for compatibility with scikit-learn.
    tol : float >= 0, default=1e-10
        Relative duality gap of a mode: stop when the gap is at most ``tol`` times the objective at zero, n ln 2.
    max_time : float > 0 or None, default=None
        Time limit in seconds of the search for hyperparameters. Ctrl-C has the same effect.
    max_memory : float > 0 or None, default=None
        Memory limit in bytes; None means the available memory.

    Attributes
    ----------
    classes_, n_classes_, log_marginal_likelihood_value_
        As in scikit-learn; for several classes the likelihood is the mean over the problems.
    kernels_, kernel_ : list of Kernel, and Kernel (two classes) or KernelList
        Kernels with their hyperparameters, one per two-class problem.
    dual_coef_ : ndarray of shape (n_problems, n_rows)
        Dual vectors :math:`a` of the problems.
    dual_gap_, objective_ : float
        Upper bound on the sum of :math:`P - \min P`, and the sum of :math:`P`.
    n_iter_ : ndarray
        Number of Newton steps of each problem with the final kernel.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import GaussianProcessClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> model = GaussianProcessClassifier().fit(X, y)
    >>> model.predict_proba([[0.0]])[0].round(6), bool(model.dual_gap_ < 1e-9), model.verify(X, y).certificate.holds
    (array([0.5, 0.5]), True, True)
    """

    _rules = {
        "kernel": KERNEL,
        "optimizer": NOTHING | one_of("fmin_l_bfgs_b") | Rule("a function", callable),
        "n_restarts_optimizer": COUNT | one_of(0),
        "max_iter_predict": COUNT,
        "warm_start": BOOLEAN,
        "copy_X_train": BOOLEAN,
        "random_state": RANDOM_STATE,
        "multi_class": one_of("one_vs_rest", "one_vs_one"),
        "n_jobs": N_JOBS,
        "tol": NON_NEGATIVE,
        "max_time": NOTHING | POSITIVE,
        "max_memory": NOTHING | POSITIVE,
    }

    def __init__(
        self,
        kernel=None,
        *,
        optimizer="fmin_l_bfgs_b",
        n_restarts_optimizer=0,
        max_iter_predict=100,
        warm_start=False,
        copy_X_train=True,
        random_state=None,
        multi_class="one_vs_rest",
        n_jobs=None,
        tol=1e-10,
        max_time=None,
        max_memory=None,
    ):
        self.kernel = kernel
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.max_iter_predict = max_iter_predict
        self.warm_start = warm_start
        self.copy_X_train = copy_X_train
        self.random_state = random_state
        self.multi_class = multi_class
        self.n_jobs = n_jobs
        self.tol = tol
        self.max_time = max_time
        self.max_memory = max_memory

    @with_callbacks
    def fit(self, X, y):
        """Fit the process to labels. Returns the estimator."""
        check_params(self)
        X, targets, classes, codes = read_training(self, X, y)
        X = X.copy() if self.copy_X_train else X
        fits = fit_problems(self, X, targets, codes, len(classes))
        self.classes_, self.n_classes_, self._fits = classes, len(classes), fits
        self.kernels_ = [fit.kernel for fit in fits]
        self.dual_coef_ = np.zeros((len(fits), len(codes)))
        for line, fit in zip(self.dual_coef_, fits, strict=True):
            line[fit.rows] = fit.mode.dual
        self.log_marginal_likelihood_value_ = float(np.mean([fit.mode.evidence for fit in fits]))
        self.n_iter_ = np.array([max(fit.mode.n_steps, 1) for fit in fits])
        self._certify(X, targets)
        return self

    def _certify(self, X, targets) -> None:
        convex = all(kernel.positive_semidefinite for kernel in self.kernels_)
        steepest = []
        for fit in self._fits:
            if fit.at is not None:
                free = free_directions(fit.kernel.theta, fit.at.derivatives, fit.kernel.bounds)
                steepest.append(float(np.max(np.abs(fit.at.derivatives[free]), initial=0.0)))
                if not callable(self.optimizer):
                    warn_unless_converged(type(self).__name__, fit.reason, steepest[-1], SLOPE * len(fit.rows))
        names = ["gap" if convex else "not_convex", *(["hyperparameters"] if steepest else []), "approximation"]
        self._issue(
            "A",
            [Claim(f"gaussian_process_classifier.{name}") for name in names],
            problem=pose(self, X, targets, None, "hyperparameters_"),
            model=("dual_coef_", "classes_", "hyperparameters_"),
            sample=(X, targets, None),
            run={"solver": "Newton", "stopped": str(self._fits[0].reason), "largest_derivatives": steepest},
        )

    @property
    def hyperparameters_(self) -> np.ndarray:
        """Free hyperparameters of ``kernels_``, one row per two-class problem."""
        return np.array([free_values(kernel) for kernel in self.kernels_])

    @property
    def kernel_(self):
        """The kernel for two classes; the list of kernels for several classes, with ``theta`` and ``bounds``."""
        check_is_fitted(self)
        return self.kernels_[0] if len(self.kernels_) == 1 else KernelList(self.kernels_)

    def latent_mean_and_variance(self, X):
        """Return the mean and variance of the latent function; several two-class problems have one column each."""
        check_is_fitted(self)
        mean, variance = self._latent(X)
        return (mean[:, 0], variance[:, 0]) if self.n_classes_ == 2 else (mean, variance)

    def _latent(self, X) -> tuple[np.ndarray, np.ndarray]:
        X = read_rows(self, X)
        pairs = [fit.latent(X) for fit in self._fits]
        return np.column_stack([m for m, _ in pairs]), np.column_stack([v for _, v in pairs])

    def _averages(self, X) -> np.ndarray:
        mean, variance = self._latent(X)
        return np.column_stack([logistic_normal_mean(m, v) for m, v in zip(mean.T, variance.T, strict=True)])

    def predict_proba(self, X) -> np.ndarray:
        """Return averaged probabilities, one column per class; for several classes, normalized to sum to one."""
        check_is_fitted(self)
        if self.n_classes_ > 2 and self.multi_class == "one_vs_one":
            raise InvalidParameter(
                type(self).__name__, "multi_class", '"one_vs_rest" for probabilities of several classes', "one_vs_one"
            )
        averages = self._averages(X)
        if self.n_classes_ == 2:
            return np.column_stack([1 - averages[:, 0], averages[:, 0]])
        return averages / np.sum(averages, axis=1, keepdims=True)

    def predict(self, X) -> np.ndarray:
        """Return the class with the largest probability, or with the most votes of pairs."""
        check_is_fitted(self)
        if self.n_classes_ == 2:
            return self.classes_[(self._fits[0].latent_mean(read_rows(self, X)) > 0).astype(int)]
        averages = self._averages(X)
        if self.multi_class == "one_vs_rest":
            return self.classes_[np.argmax(averages, axis=1)]
        votes = np.zeros((len(averages), self.n_classes_))
        for fit, column in zip(self._fits, averages.T, strict=True):
            votes[:, fit.positive] += (column > 0.5) + column / len(self._fits) / 2
            votes[:, fit.negative] += (column <= 0.5) + (1 - column) / len(self._fits) / 2
        return self.classes_[np.argmax(votes, axis=1)]

    def log_marginal_likelihood(self, theta=None, eval_gradient=False, clone_kernel=True):
        """Return the approximate log evidence at the log hyperparameters ``theta`` and optionally its gradient.

        For several classes it is the mean over the problems; ``theta`` is one vector for all problems, or the
        concatenation of their vectors (``kernel_.theta``). ``clone_kernel`` is ignored.
        """
        check_is_fitted(self)
        if theta is None:
            if eval_gradient:
                raise InvalidParameter(type(self).__name__, "eval_gradient", "False if theta is None", True)
            return self.log_marginal_likelihood_value_
        count = len(self._fits)
        own = np.size(theta) == sum(len(kernel.theta) for kernel in self.kernels_)  # each problem has its own theta
        thetas = np.reshape(theta, (count, -1)) if own else [theta] * count
        found = []
        for fit, values in zip(self._fits, thetas, strict=True):
            evaluate = LaplaceEvidence(self.tol, self.max_iter_predict)
            found.append(evaluate(fit.kernel.with_theta(values), ClassProblem(fit.X, fit.targets)))
        value = float(np.mean([e.value for e in found]))
        slopes = np.array([e.derivatives for e in found]) / count
        return (value, slopes.ravel() if own else slopes.sum(axis=0)) if eval_gradient else value

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
