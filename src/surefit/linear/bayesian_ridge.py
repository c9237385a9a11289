from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from surefit.core.budget import Budget
from surefit.core.callbacks import CallbackSupportMixin, progress_reporter, with_callbacks
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.estimator import CertifiedMixin, warn_unless_converged
from surefit.core.guards import memory
from surefit.core.sparse_coef import linear_scores
from surefit.core.validation import (
    ANYTHING,
    BOOLEAN,
    COUNT,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    check_params,
    read_data,
    read_weights,
)
from surefit.linear.base import LinearRegressorMixin
from surefit.linear.lasso.training import READ, usable_target
from surefit.problems import pose
from surefit.solvers.least_squares.evidence import Axes, GammaPriors, maximize_evidence


class BayesianRidge(CallbackSupportMixin, CertifiedMixin, LinearRegressorMixin, BaseEstimator):
    r"""Ridge regression whose penalty and noise are estimated by maximizing the evidence.

    .. math::

        y \mid X, w \sim N(Xw, \alpha^{-1} I), \quad w \sim N(0, \lambda^{-1} I), \qquad
        (\alpha, \lambda) = \operatorname*{argmax} \ln p(y \mid X, \alpha, \lambda) + \ln p(\alpha) + \ln p(\lambda)

    with Gamma priors on both precisions. Columns and targets are centered if there is an intercept. Hypothesis class:
    affine functions. Loss: squared. Optimizer: one singular value decomposition, then MacKay's updates.

    Guarantee: the certificate bounds the distance of the posterior from the exact one for ``alpha_`` and ``lambda_``.
    It also bounds the derivatives of the log evidence with respect to the logarithms of both (theory: :ref:`mle-map`).
    The evidence may have several maxima, so no global optimum is claimed.

    Parameters
    ----------
    max_iter : int >= 1, default=300
        Maximum number of updates.
    tol : float >= 0, default=1e-3
        Stop when both derivatives of the log evidence with respect to the log precisions are at most ``tol`` in
        absolute value.
    alpha_1, alpha_2 : float >= 0, default=1e-6
        Shape and rate of the Gamma prior on the noise precision.
    lambda_1, lambda_2 : float >= 0, default=1e-6
        Shape and rate of the Gamma prior on the coefficient precision.
    alpha_init : float > 0 or None, default=None
        Initial noise precision; None means 1 / Var(y).
    lambda_init : float > 0 or None, default=None
        Initial coefficient precision; None means 1.
    compute_score : bool, default=False
        Whether to store the log evidence of every update in ``scores_``.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it has no prior.
    copy_X : bool, default=True
        Ignored; X is never modified.
    verbose : bool, default=False
        Whether to print the largest derivative of the log evidence after each pass.
    max_time : float > 0 or None, default=None
        Time limit in seconds of the updates, after the decomposition; the last point is used.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Posterior mean of the coefficients.
    intercept_ : float
        Intercept; 0 if ``fit_intercept=False``.
    alpha_, lambda_ : float
        Estimated precisions of the noise and of the coefficients.
    sigma_ : ndarray of shape (n_features, n_features)
        Posterior covariance of the coefficients.
    scores_ : ndarray or list
        Log evidence before each update and of the fitted model, if ``compute_score``; else empty.
    n_iter_ : int
        Number of updates.
    X_offset_, X_scale_ : ndarray of shape (n_features,)
        Column means (zeros without an intercept), and an array of ones.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import BayesianRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X @ [1.0, -2.0, 0.0] + 0.5 * rng.normal(size=200)
    >>> model = BayesianRidge().fit(X, y)
    >>> print(model.coef_.round(2), round(model.alpha_**-0.5, 2))
    [ 0.95 -2.05  0.03] 0.5
    >>> model.verify(X, y)["bayesian_ridge.evidence"].proved <= 1e-3
    True
    """

    _shares_rows = True
    _rules = {
        "max_iter": COUNT,
        "tol": NON_NEGATIVE,
        **dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), NON_NEGATIVE),
        **dict.fromkeys(("alpha_init", "lambda_init"), NOTHING | POSITIVE),
        **dict.fromkeys(("compute_score", "fit_intercept", "copy_X"), BOOLEAN),
        "verbose": ANYTHING,
        "max_time": NOTHING | POSITIVE,
    }

    def __init__(
        self,
        *,
        max_iter=300,
        tol=1e-3,
        alpha_1=1e-6,
        alpha_2=1e-6,
        lambda_1=1e-6,
        lambda_2=1e-6,
        alpha_init=None,
        lambda_init=None,
        compute_score=False,
        fit_intercept=True,
        copy_X=True,
        verbose=False,
        max_time=None,
    ):
        self.max_iter = max_iter
        self.tol = tol
        self.alpha_1 = alpha_1
        self.alpha_2 = alpha_2
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.alpha_init = alpha_init
        self.lambda_init = lambda_init
        self.compute_score = compute_score
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.verbose = verbose
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        X, y = read_data(self, X, y, **READ)
        y = usable_target("BayesianRidge", y)
        weights = read_weights(self, sample_weight, X.shape[0])
        memory.require("BayesianRidge", X.shape[1], 2, remedy="Use Ridge, or fewer columns.", what="columns")
        s = np.ones(len(y)) if weights is None else weights
        total = float(s.sum())
        Z = _dense(X)
        self.X_offset_, y_mean = (s @ part / total if self.fit_intercept else 0.0 * part[0] for part in (Z, y))
        self.X_scale_ = np.ones(Z.shape[1])
        stacked = np.empty((len(y), Z.shape[1] + 1))
        with np.errstate(over="ignore"):
            np.subtract(Z, self.X_offset_, out=stacked[:, :-1])
            np.subtract(y, y_mean, out=stacked[:, -1])
            if weights is not None:
                stacked *= np.sqrt(s)[:, None]
            if not np.isfinite(np.einsum("ij,ij->", stacked[:, :-1], stacked[:, :-1])):
                raise InvalidData("BayesianRidge: the squares of X overflow; divide its columns by a constant.")
        axes = Axes.of(stacked, total)
        priors = GammaPriors(*(float(v) for v in (self.alpha_1, self.alpha_2, self.lambda_1, self.lambda_2)))
        spread = float(s @ (y - s @ y / total) ** 2) / total
        alpha = 1.0 / (spread + np.finfo(float).eps) if self.alpha_init is None else float(self.alpha_init)
        lambda_ = 1.0 if self.lambda_init is None else float(self.lambda_init)
        reporter = progress_reporter(self, X, y, prints=False)
        with Budget(int(self.max_iter), self.max_time, reporter) as budget:
            points, reason = maximize_evidence(axes, priors, alpha, lambda_, float(self.tol), budget)
        if reporter is not None:
            reporter.finish()
        last = points[-1]
        for k, point in enumerate(points if self.verbose else [], 1):
            print(f"BayesianRidge: pass {k}, largest derivative {max(map(abs, point.slopes)):.3g}")
        self.alpha_, self.lambda_, self.n_iter_ = float(last.alpha), float(last.lambda_), len(points)
        self.coef_, self.sigma_ = axes.posterior(last)
        self.intercept_ = np.float64(y_mean - self.X_offset_ @ self.coef_) if self.fit_intercept else 0.0
        scores = [axes.log_evidence(point, priors) for point in [*points, last]] if self.compute_score else []
        self.scores_: Any = np.array(scores) if self.compute_score else scores
        self._issue(
            "B",
            [Claim("bayesian_ridge.evidence"), Claim("bayesian_ridge.posterior")],
            problem=pose(self, X, y, weights),
            model=("coef_", "intercept_", "sigma_", "alpha_", "lambda_"),
            sample=(X, y, weights),
            run={"solver": "MacKay's updates", "reason": str(reason), "passes": self.n_iter_},
        )
        warn_unless_converged("BayesianRidge", reason, max(map(abs, last.slopes)), float(self.tol))
        return self

    def predict(self, X, return_std=False):
        """Return the predictive mean of each row and, if ``return_std``, the standard deviation of a new target."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32])
        mean = linear_scores(X, self.coef_).ravel() + self.intercept_
        if not return_std:
            return mean
        Z = _dense(X) - self.X_offset_
        return mean, np.sqrt(1.0 / self.alpha_ + ((Z @ self.sigma_) * Z).sum(axis=1))


def _dense(X) -> np.ndarray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
