"""Bayesian logistic regression: Laplace approximation, grid integration, and an exactly normal posterior."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import CallbackSupportMixin, progress_reporter, with_callbacks
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin, warn_unless_converged
from surefit.core.validation import (
    ARRAY,
    BOOLEAN,
    COUNT,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    check_labels,
    check_params,
    one_of,
    read_data,
    read_weights,
)
from surefit.gaussian_processes.quadrature import logistic_normal_mean, mean_tanh
from surefit.problems import pose
from surefit.problems.processes import prior_covariance
from surefit.solvers.gaussian_process.weights import WeightDistribution, laplace, modeled_inputs, on_grid

POINTS = {1: 1601, 2: 241}  # nodes per axis
SINGULAR = 2e-15  # eigenvalue of a correlation matrix, per squared dimension, that rounding may make zero


class BayesianLogisticRegression(CallbackSupportMixin, CertifiedMixin, ClassifierMixin, BaseEstimator):
    r"""Logistic regression with a normal prior on the weights, and probabilities averaged over the posterior.

    .. math:: P(Y = 1 \mid x, w) = l(w^\top x), \quad w \sim N(0, \Sigma), \qquad P(Y = 1 \mid x) = \int l(w^\top x) \, p(w \mid y) \, dw

    Hypothesis class: averages of logistic functions. Loss: logistic, plus the negative log-prior. Optimizer: Newton's
    method. ``method="laplace"`` uses a normal approximation at the mode, ``"grid"`` integrates numerically (one or two
    weights), and ``"gaussian"`` also models the inputs as :math:`\frac12 N(w/2, I) + \frac12 N(-w/2, I)`. In the last
    case the posterior is exactly normal with precision :math:`\Lambda = \Sigma^{-1} + \frac n4 I` and mean
    :math:`\frac12 \Lambda^{-1} \sum_i t_i x_i`.

    Guarantee: the log density at the mode is within the stated gap of the maximum (the posterior is log-concave); for
    a normal posterior the boundary is exactly the hyperplane :math:`\mu^\top x = 0` (theory: :ref:`gp-mode`). With a
    grid the boundary need not be linear.

    Parameters
    ----------
    prior_covariance : float > 0, array of one per weight, or matrix, default=1.0
        Prior covariance :math:`\Sigma`; a number means a multiple of the identity.
    method : {"laplace", "grid", "gaussian"}, default="laplace"
        How the posterior is computed.
    fit_intercept : bool, default=False
        Whether to append a constant column; its weight has the last prior variance. Not allowed with
        ``method="gaussian"``.
    tol : float >= 0, default=1e-12
        Newton's method stops when the gap is at most ``tol`` times n ln 2.
    max_iter : int >= 1, default=100
        Maximum number of Newton steps.
    max_time : float > 0 or None, default=None
        Time limit in seconds for Newton's method; the best point so far is used. Ctrl-C has the same effect.

    Attributes
    ----------
    classes_, n_iter_
        As in scikit-learn.
    posterior_mean_, posterior_covariance_ : ndarray
        Posterior moments of the weights (mode and inverse Hessian for "laplace"); the intercept is last.
    log_evidence_ : float
        Log probability of the labels; for "gaussian", the joint log density of rows and labels.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import BayesianLogisticRegression
    >>> half = np.array([[1.0, 1.0], [2.0, 0.5], [0.5, 2.0]])
    >>> X, y = np.vstack([half, -half]), np.repeat([1, 0], 3)
    >>> BayesianLogisticRegression().fit(X, y).posterior_mean_.round(5)
    array([0.8472, 0.8472])
    >>> grid = BayesianLogisticRegression(method="grid").fit(X, y)
    >>> grid.posterior_mean_.round(4), grid.predict_proba([[1.0, 0.0], [1.0, 1.0]])[:, 1].round(5)
    (array([0.9826, 0.9826]), array([0.70568, 0.84761]))
    """

    _rules = {
        "prior_covariance": POSITIVE | ARRAY,
        "method": one_of("laplace", "grid", "gaussian"),
        "fit_intercept": BOOLEAN,
        "tol": NON_NEGATIVE,
        "max_iter": COUNT,
        "max_time": NOTHING | POSITIVE,
    }

    def __init__(
        self, *, prior_covariance=1.0, method="laplace", fit_intercept=False, tol=1e-12, max_iter=100, max_time=None
    ):
        self.prior_covariance = prior_covariance
        self.method = method
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Compute the posterior, with ``sample_weight`` as frequency weights. Returns the estimator."""
        check_params(self)
        who = type(self).__name__
        if self.method == "gaussian" and self.fit_intercept:
            raise InvalidParameter(who, "fit_intercept", "False with method='gaussian' (it models the inputs)", True)
        X, y = read_data(self, X, y, dtype=[np.float64, np.float32])
        check_labels(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            if len(self.classes_) < 2:
                raise InvalidData(f"{who}: y must have two classes; got one class only, {self.classes_.tolist()[0]!r}.")
            kind = type_of_target(y)
            raise InvalidData(f"{who}: Only binary classification is supported. The type of the target is {kind}.")
        given = read_weights(self, sample_weight, len(X))
        weights = np.ones(len(X)) if given is None else given
        Z, signs = self._design(X), 2.0 * codes - 1
        prior = self._prior(Z.shape[1])
        reporter = progress_reporter(self, X, y)
        with Budget(self.max_iter, self.max_time, reporter) as budget:
            distribution = self._distribution(Z, signs, weights, prior, budget)
        if reporter is not None:
            reporter.finish()
        self.posterior_mean_ = distribution.mean
        self.posterior_covariance_ = (distribution.covariance + distribution.covariance.T) / 2
        self.log_evidence_, self.n_iter_ = distribution.log_evidence, max(distribution.n_steps, 1)
        self._nodes, self._masses = distribution.nodes, distribution.masses
        numbers = y.dtype.kind in "biuf"
        names = {
            "grid": ("integral",),
            "gaussian": ("covariance",),
            "laplace": ("mode", "covariance", "approximation"),
        }[self.method]
        target = y.astype(np.float64) if numbers else y
        extra = ("log_evidence_",) if self.method == "grid" else ()
        self._issue(
            "A",
            [Claim(f"bayesian_logistic.{name}") for name in names],
            problem=pose(self, X, target, given),
            model=("classes_", "posterior_mean_", "posterior_covariance_", *extra),
            sample=(X, target, given),
            run={"solver": self.method, "stopped": str(distribution.reason)},
        )
        if distribution.reason is not Reason.STALLED:  # rounding ends the search at any positive gap that is left
            limit = float(self.tol) * np.log(2) * float(np.sum(weights))
            warn_unless_converged(who, distribution.reason, distribution.gap, limit)
        return self

    def _design(self, X) -> np.ndarray:
        X = np.asarray(X, dtype=np.float64)
        return np.column_stack([X, np.ones(len(X))]) if self.fit_intercept else X

    def _prior(self, d: int) -> np.ndarray:
        prior = prior_covariance(self.prior_covariance, d)
        proper = prior.shape == (d, d) and np.all(np.isfinite(prior)) and np.allclose(prior, prior.T)
        proper = proper and np.all(np.diagonal(prior) > 0)
        roots = np.sqrt(np.diagonal(prior)) if proper else np.ones(d)
        if not proper or np.linalg.eigvalsh(prior / roots / roots[:, None])[0] <= SINGULAR * d**2:
            raise InvalidParameter(
                type(self).__name__,
                "prior_covariance",
                f"a number > 0, {d} numbers > 0 or a positive definite {d} x {d} matrix",
                self.prior_covariance,
            )
        return prior

    def _distribution(self, Z, signs, weights, prior, budget: Budget) -> WeightDistribution:
        if self.method == "gaussian":
            return modeled_inputs(Z, signs, weights, prior)
        at_mode = laplace(Z, signs, weights, prior, tol=self.tol, budget=budget)
        if self.method == "laplace":
            return at_mode
        if Z.shape[1] not in POINTS:
            raise InvalidParameter(
                type(self).__name__, "method", f"'laplace' for {Z.shape[1]} weights; a grid is for one or two", "grid"
            )
        return on_grid(Z, signs, weights, prior, at_mode, POINTS[Z.shape[1]])

    def predict_proba(self, X) -> np.ndarray:
        """Return probabilities averaged over the posterior, one column per class."""
        check_is_fitted(self)
        Z = self._design(read_data(self, X, reset=False, dtype=[np.float64, np.float32]))
        if self._nodes is None:
            one = logistic_normal_mean(
                Z @ self.posterior_mean_, np.einsum("ij,jk,ik->i", Z, self.posterior_covariance_, Z)
            )
        else:
            one = np.array([mean_tanh(self._nodes @ z, np.asarray(self._masses)) for z in Z]) / 2 + 0.5
        return np.column_stack([1 - one, one])

    def predict(self, X) -> np.ndarray:
        """Return the class with the larger probability; ties go to the first class."""
        check_is_fitted(self)
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
