import math
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse, stats
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import BOOLEAN, POSITIVE, check_params, read_data, read_weights
from surefit.linear.base import LinearRegressorMixin
from surefit.linear.lasso.training import READ, usable_target
from surefit.problems import pose


@dataclass(frozen=True)
class Posterior:
    """Normal distribution of the coefficients, stored as the triangular root of its precision matrix.

    ``root.T @ root`` is the precision, and ``root @ mean == pull``. The root is kept because forming the precision
    would square the condition number. New rows are appended to the root, and a QR factorization restores the triangle.
    """

    root: np.ndarray
    pull: np.ndarray
    log_evidence: float

    @property
    def covariance(self) -> np.ndarray:
        """Covariance of the coefficients, the inverse of the precision."""
        inverse = linalg.solve_triangular(self.root, np.eye(len(self.pull)))
        covariance = inverse @ inverse.T
        return (covariance + covariance.T) / 2

    @property
    def mean(self) -> np.ndarray:
        """Mean of the coefficients, which is also the mode."""
        return linalg.solve_triangular(self.root, self.pull)

    def update(self, Z: np.ndarray, y: np.ndarray, s: np.ndarray, noise: float) -> "Posterior":
        """Return the posterior after rows Z with targets y and weights s."""
        p, shares = len(self.pull), np.sqrt(s / noise)[:, None]
        rows = np.vstack([np.column_stack([self.root, self.pull]), shares * np.column_stack([Z, y])])
        R = linalg.qr(rows, mode="r", overwrite_a=True, check_finite=False)[0]
        root, pull, left = R[:p, :p], R[:p, p], float(np.sum(R[p:, p] ** 2))
        # log density of the rows: the term that remains after completing the square
        gained = -0.5 * float(s.sum()) * math.log(2 * math.pi * noise) - 0.5 * left
        gained += float(np.log(np.abs(np.diag(self.root))).sum() - np.log(np.abs(np.diag(root))).sum())
        return Posterior(root, pull, self.log_evidence + gained)


class BayesianLinearRegression(CertifiedMixin, LinearRegressorMixin, BaseEstimator):
    r"""Linear regression with a normal prior on the coefficients and known noise.

    .. math::

        y \mid x, w \sim N(x^\top w, \sigma^2), \quad w \sim N(0, \tau^2 I) \;\Longrightarrow\;
        w \mid \text{data} \sim N\big(\Sigma X^\top y / \sigma^2,\ \Sigma\big), \quad
        \Sigma = \big(X^\top X / \sigma^2 + I / \tau^2\big)^{-1} .

    Hypothesis class: affine functions. Loss: squared. Optimizer: QR factorization. The posterior mean equals the
    solution of :class:`Ridge` with ``alpha = noise_variance / prior_variance`` and a penalized intercept.

    Guarantee: the certificate bounds the errors of the posterior mean, of the variances and of the log evidence
    relative to exact arithmetic (theory: :ref:`mle-map`). Statements about new data hold only if the prior and the
    noise variance are correct.

    Parameters
    ----------
    noise_variance : float > 0, default=1.0
        :math:`\sigma^2`.
    prior_variance : float > 0, default=1.0
        :math:`\tau^2`.
    fit_intercept : bool, default=True
        Whether to add a constant column; its coefficient has the same prior.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Posterior mean of the coefficients.
    intercept_ : float
        Posterior mean of the intercept; 0 if ``fit_intercept=False``.
    posterior_mean_ : ndarray of shape (n_coefficients,)
        Posterior mean of the intercept (if fitted) and of the coefficients, in this order.
    posterior_covariance_ : ndarray of shape (n_coefficients, n_coefficients)
        :math:`\Sigma`.
    log_evidence_ : float
        Logarithm of the marginal density of the targets; use it to compare models on the same rows.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them. It refers to all rows only if they were
        passed in one call.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    With the single row x = 1, y = 2 and variances 1 of prior and noise, the posterior is N(1, 1/2).

    >>> from surefit import BayesianLinearRegression
    >>> model = BayesianLinearRegression(fit_intercept=False).fit([[1.0]], [2.0])
    >>> print(model.coef_.round(12), model.posterior_covariance_.round(12), round(model.log_evidence_, 6))
    [1.] [[0.5]] -2.265512
    """

    _rules = {"noise_variance": POSITIVE, "prior_variance": POSITIVE, "fit_intercept": BOOLEAN}

    def __init__(self, *, noise_variance=1.0, prior_variance=1.0, fit_intercept=True):
        self.noise_variance = noise_variance
        self.prior_variance = prior_variance
        self.fit_intercept = fit_intercept

    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        return self._learn(X, y, sample_weight, None)

    def partial_fit(self, X, y, sample_weight=None):
        """Update the posterior with further rows; the result is that of one fit to all rows. Returns the estimator."""
        before = Posterior(self._root, self._pull, self.log_evidence_) if hasattr(self, "posterior_mean_") else None
        return self._learn(X, y, sample_weight, before)

    def _learn(self, X, y, sample_weight, before: Posterior | None):
        check_params(self)
        X, y = read_data(self, X, y, reset=before is None, **READ)
        y = usable_target("BayesianLinearRegression", y)
        weights = read_weights(self, sample_weight, X.shape[0])
        s = np.ones(len(y)) if weights is None else weights
        Z = self._features(X)
        first = before is None
        if before is None:
            before = Posterior(np.eye(Z.shape[1]) / math.sqrt(self.prior_variance), np.zeros(Z.shape[1]), 0.0)
        posterior = before.update(Z, y, s, float(self.noise_variance))
        self._root, self._pull = posterior.root, posterior.pull
        self.posterior_mean_, self.posterior_covariance_ = posterior.mean, posterior.covariance
        self.log_evidence_ = posterior.log_evidence
        offset = int(self.fit_intercept)
        self.coef_ = self.posterior_mean_[offset:].copy()
        self.intercept_ = float(self.posterior_mean_[0]) if offset else 0.0
        names = ("posterior", "evidence") if first else ("sequential",)
        stated = [Claim(f"bayesian_linear.{name}") for name in names]
        if first and weights is None:
            held = float(np.trace(self.posterior_covariance_)) / float(self.prior_variance)
            stated += [Claim("estimates.gcv")] * (len(self.posterior_mean_) - held < len(y))
        self._issue(
            "A",
            stated,
            problem=pose(self, X, y, weights),
            model=("posterior_mean_", "posterior_covariance_", "coef_", "intercept_", "log_evidence_"),
            sample=(X, y, weights),
            run={"solver": "QR", "reason": "converged"},
        )
        return self

    def _features(self, X) -> np.ndarray:
        X = X.toarray() if sparse.issparse(X) else np.asarray(X)
        X = X.astype(np.float64, copy=False)
        return np.column_stack([np.ones(len(X)), X]) if self.fit_intercept else X

    def predict(self, X, return_std=False):
        """Return the predictive mean of each row and, if ``return_std``, the standard deviation of a new target."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32])
        mean = np.asarray(X @ self.coef_, dtype=np.float64).ravel() + self.intercept_
        if not return_std:
            return mean
        Z = self._features(X)
        return mean, np.sqrt(self.noise_variance + ((Z @ self.posterior_covariance_) * Z).sum(axis=1))

    def predict_interval(self, X, *, confidence=0.95):
        """Return the ends of the central predictive interval of each row."""
        if not (isinstance(confidence, (int, float)) and 0 < confidence < 1):
            raise InvalidParameter("BayesianLinearRegression", "confidence", "a number between 0 and 1", confidence)
        mean, deviation = self.predict(X, return_std=True)
        reach = stats.norm.ppf(0.5 + 0.5 * confidence) * deviation
        return mean - reach, mean + reach
