"""Bayesian logistic regression: Laplace's approximation, a grid, and the case that is exactly normal."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from surefit.checks.gaussian_process_weights import mode_gap
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin, data_fingerprint
from surefit.core.validation import (
    ARRAY,
    BOOLEAN,
    COUNT,
    NON_NEGATIVE,
    POSITIVE,
    check_params,
    one_of,
    read_data,
    read_weights,
)
from surefit.gaussian_processes.quadrature import averaged_logistic
from surefit.solvers.gaussian_process_weights import WeightLaw, laplace, modelled_inputs, on_grid

POINTS = {1: 1601, 2: 241}  # nodes an axis
INTEGRAL = 1e-7  # error of the grid that the checker must confirm
LINEAR = 1e-9  # residual of covariances, relative to the terms


class BayesianLogisticRegression(CertifiedMixin, ClassifierMixin, BaseEstimator):
    r"""Logistic regression with a normal prior on the weights, and probabilities averaged over the posterior.

    .. math:: P(Y = 1 \mid x, w) = l(w^\top x), \quad w \sim N(0, \Sigma), \qquad P(Y = 1 \mid x) = \int l(w^\top x) \, p(w \mid y) \, dw

    Hypothesis class: averages of logistic functions. ``method="laplace"`` puts a normal law at the mode, ``"grid"`` integrates (one or
    two weights), and ``"gaussian"`` models the inputs as well, as :math:`\frac12 N(w/2, I) + \frac12 N(-w/2, I)`; then the posterior is
    exactly normal with precision :math:`\Sigma^{-1} + \frac n4 I` and mean :math:`\frac12 (\cdot)^{-1} \sum_i t_i x_i`.

    Guarantee: the mode's log density is within the gap claimed of the highest (the posterior is log-concave); under a normal law
    the boundary is the hyperplane :math:`\mu^\top x = 0`, exactly (theory: :ref:`gp-mode`). On a grid the boundary need not be straight.

    Parameters
    ----------
    prior_covariance : float > 0, array of one a weight, or matrix, default=1.0
        :math:`\Sigma`; a number stands for a multiple of the identity.
    method : {"laplace", "grid", "gaussian"}, default="laplace"
        How the posterior is computed.
    fit_intercept : bool, default=False
        Add a constant column, last; its weight has the prior's last variance. Not with ``method="gaussian"``.
    tol : float >= 0, default=1e-12
        Newton stops when the gap is at most ``tol`` times n ln 2.
    max_iter : int >= 1, default=100
        Newton steps.

    Attributes
    ----------
    classes_, n_iter_
        As in scikit-learn.
    posterior_mean_, posterior_covariance_ : ndarray
        Of the weights (mode and inverse curvature for "laplace"); the intercept's is last.
    log_evidence_ : float
        Log of the probability of the labels; for "gaussian" the log density of rows and labels.
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
    }

    def __init__(self, *, prior_covariance=1.0, method="laplace", fit_intercept=False, tol=1e-12, max_iter=100):
        self.prior_covariance = prior_covariance
        self.method = method
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y, sample_weight=None):
        """Compute the posterior; rows count as often as ``sample_weight`` says. Returns the estimator."""
        check_params(self)
        who = type(self).__name__
        if self.method == "gaussian" and self.fit_intercept:
            raise InvalidParameter(who, "fit_intercept", "False with method='gaussian', which models the inputs", True)
        X, y = read_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            if len(self.classes_) < 2:
                raise InvalidData(
                    f"{who}: y has one class only ({self.classes_.tolist()[0]!r}); two classes are needed."
                )
            kind = type_of_target(y)
            raise InvalidData(f"{who}: Only binary classification is supported. The type of the target is {kind}.")
        given = read_weights(self, sample_weight, len(X))
        weights = np.ones(len(X)) if given is None else given
        Z, signs = self._design(X), 2.0 * codes - 1
        prior = self._prior(Z.shape[1])
        law = self._law(Z, signs, weights, prior)
        self.posterior_mean_, self.posterior_covariance_ = law.mean, law.covariance
        self.log_evidence_, self.n_iter_ = law.log_evidence, max(law.n_steps, 1)
        self._nodes, self._masses = law.nodes, law.masses
        numbers = y.dtype.kind in "biuf"
        self._issue(
            "A",
            self._claims(Z, signs, weights, prior),
            problem={
                "method": self.method,
                "fit_intercept": bool(self.fit_intercept),
                "prior": prior.tolist(),
                "classes": [float(c) if numbers else str(c) for c in self.classes_],
                "objective": "sum_i s_i ln(1 + exp(-t_i w'x_i)) + 1/2 w' prior^-1 w",
            },
            model=("posterior_mean_", "posterior_covariance_"),
            data=data_fingerprint(X, y.astype(np.float64) if numbers else y, given),
            run={"solver": self.method, "stopped": "converged"},
        )
        return self

    def _design(self, X) -> np.ndarray:
        X = np.asarray(X, dtype=np.float64)
        return np.column_stack([X, np.ones(len(X))]) if self.fit_intercept else X

    def _prior(self, d: int) -> np.ndarray:
        given = np.asarray(self.prior_covariance, dtype=np.float64)
        prior = given * np.eye(d) if given.ndim == 0 else np.diag(given) if given.ndim == 1 else given
        proper = prior.shape == (d, d) and np.all(np.isfinite(prior)) and np.allclose(prior, prior.T)
        if not proper or np.linalg.eigvalsh(prior)[0] <= 0:
            raise InvalidParameter(
                type(self).__name__,
                "prior_covariance",
                f"a number > 0, {d} numbers > 0 or a positive definite {d} x {d} matrix",
                self.prior_covariance,
            )
        return prior

    def _law(self, Z, signs, weights, prior) -> WeightLaw:
        if self.method == "gaussian":
            return modelled_inputs(Z, signs, weights, prior)
        at_mode = laplace(Z, signs, weights, prior, tol=self.tol, max_steps=self.max_iter)
        if self.method == "laplace":
            return at_mode
        if Z.shape[1] not in POINTS:
            raise InvalidParameter(
                type(self).__name__, "method", f"'laplace' for {Z.shape[1]} weights; a grid is for one or two", "grid"
            )
        return on_grid(Z, signs, weights, prior, at_mode, POINTS[Z.shape[1]])

    def _claims(self, Z, signs, weights, prior) -> list[Claim]:
        value = self.log_evidence_
        if self.method == "grid":
            words = f"Log evidence {value:.8g} and posterior mean are right to {INTEGRAL:.0e} (means in deviations)."
            return [
                Claim(
                    "bayesian_logistic.integral", "optimality", words, value=INTEGRAL, numbers={"log_evidence": value}
                )
            ]
        words = f"Precision times covariance is the identity to {LINEAR:.0e} of the size of the terms."
        linear = Claim("bayesian_logistic.covariance", "optimality", words, value=LINEAR)
        if self.method == "gaussian":
            return [linear]
        gap = 1.01 * mode_gap(Z, signs, weights, prior, self.posterior_mean_)[0]
        words = f"The log density at the mode is within {gap:.2g} of the highest."
        limit = max(self.tol, 1e-12) * float(np.log(2) * np.sum(weights))
        no_claim = "Laplace's approximation is not the posterior; nothing is claimed about their distance."
        return [
            Claim("bayesian_logistic.mode", "optimality", words, value=gap, limit=limit),
            linear,
            Claim("bayesian_logistic.approximation", "no_claim", no_claim),
        ]

    def predict_proba(self, X) -> np.ndarray:
        """Return probabilities averaged over the posterior, one column a class."""
        check_is_fitted(self)
        Z = self._design(read_data(self, X, reset=False, dtype=[np.float64, np.float32]))
        if self._nodes is None:
            one = averaged_logistic(
                Z @ self.posterior_mean_, np.einsum("ij,jk,ik->i", Z, self.posterior_covariance_, Z)
            )
        else:
            one = np.array([np.tanh(0.5 * (self._nodes @ z)) @ self._masses for z in Z]) / 2 + 0.5
        return np.column_stack([1 - one, one])

    def predict(self, X) -> np.ndarray:
        """Return the class with the higher probability; 1/2 means the first class."""
        check_is_fitted(self)
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
