import numpy as np
from sklearn.base import BaseEstimator

from surefit.core.budget import Budget
from surefit.core.callbacks import CallbackSupportMixin, progress_reporter, with_callbacks
from surefit.core.claims import Claim
from surefit.core.estimator import CertifiedMixin, warn_unless_converged
from surefit.core.threads import threads_instead_of_blas
from surefit.core.validation import (
    BOOLEAN,
    COUNT,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    Rule,
    check_params,
    read_data,
    read_weights,
)
from surefit.linear.base import LinearRegressorMixin
from surefit.linear.lasso.training import READ, usable_target
from surefit.problems import pose
from surefit.problems.stated_gap import StatedGapMixin
from surefit.solvers.huber import HuberFit, minimize_huber


class HuberRegressor(CertifiedMixin, CallbackSupportMixin, StatedGapMixin, LinearRegressorMixin, BaseEstimator):
    r"""Linear regression that is robust to outliers and estimates the scale of the residuals jointly.

    .. math::

        P(w, b, \sigma) = \sum_i s_i \left[\sigma + \sigma H\!\left(\frac{y_i - x_i^\top w - b}{\sigma}\right)\right] + \alpha\|w\|^2,
        \qquad H(t) = \begin{cases} t^2 & |t| \le \varepsilon \\ 2\varepsilon|t| - \varepsilon^2 & |t| > \varepsilon \end{cases}

    which is convex in all variables together. Hypothesis class: affine functions. Loss: Huber. Optimizer: Newton's
    method.

    Guarantee: :math:`P(w, b, \sigma) - \min P \le` ``dual_gap_``, over all coefficients, intercepts and scales (theory:
    :ref:`huber-gap`).

    Parameters
    ----------
    epsilon : float >= 1, default=1.35
        Residuals larger than ``epsilon * scale_`` are outliers; a smaller value is more robust.
    max_iter : int >= 1, default=100
        Maximum number of Newton steps; if it is reached, ``fit`` issues a ``ConvergenceWarning``.
    alpha : float >= 0, default=0.0001
        Weight of the squared norm.
    warm_start : bool, default=False
        Whether to start from the coefficients and the scale of the last fit.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`; it is never penalized.
    tol : float >= 0, default=1e-5
        Relative duality gap: the fit stops when the gap is at most ``tol`` times :math:`2S` times the standard
        deviation of y, with :math:`S = \sum_i s_i`. That product bounds the objective of the constant model from above.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    scale_ : float
        Scale :math:`\sigma` of the residuals.
    outliers_ : ndarray of bool, shape (n_rows,)
        Rows whose residual exceeds ``epsilon * scale_``; not available for partitioned rows.
    dual_gap_, objective_, n_iter_, history_, certificate_, n_features_in_, feature_names_in_
        As in :class:`LinearModel`.

    Examples
    --------
    One outlier does not change the slope:

    >>> import numpy as np
    >>> from surefit import HuberRegressor
    >>> x = np.arange(10.0)
    >>> y = 2 * x + np.tile([0.1, -0.1], 5)
    >>> y[9] = 500.0
    >>> model = HuberRegressor().fit(x[:, None], y)
    >>> print(round(float(model.coef_[0]), 1), bool(model.outliers_[9]), bool(model.outliers_[0]))
    2.0 True False
    >>> model.verify(x[:, None], y)["linear.gap"].level
    'enclosed'
    """

    scale_: float

    _rules = {
        "epsilon": Rule("a number >= 1", lambda v: POSITIVE.allows(v) and 1 <= v < np.inf),
        "max_iter": COUNT,
        "alpha": NON_NEGATIVE,
        "warm_start": BOOLEAN,
        "fit_intercept": BOOLEAN,
        "tol": NON_NEGATIVE,
        "max_time": NOTHING | POSITIVE,
    }

    def __init__(
        self,
        *,
        epsilon=1.35,
        max_iter=100,
        alpha=0.0001,
        warm_start=False,
        fit_intercept=True,
        tol=1e-05,
        max_time=None,
    ):
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_time = max_time

    def _start(self, d: int) -> tuple[np.ndarray, float, float] | None:
        """Return the solution of the last fit if the next fit starts from it."""
        before = self.__dict__.get("coef_")
        if not self.warm_start or before is None or before.shape != (d,):
            return None
        return before.copy(), float(self.intercept_), float(self.scale_)

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        X, y = read_data(self, X, y, **READ)
        y = usable_target("HuberRegressor", y)
        weights = read_weights(self, sample_weight, X.shape[0])
        s = np.ones(len(y)) if weights is None else weights
        start = self._start(X.shape[1])
        reporter = progress_reporter(self, X, y)
        with Budget(self.max_iter, self.max_time, reporter) as budget, threads_instead_of_blas():
            found = minimize_huber(
                X, y, s, epsilon=float(self.epsilon), alpha=float(self.alpha), intercept=bool(self.fit_intercept),
                tol=float(self.tol), budget=budget, start=start,
            )  # fmt: skip
        if reporter is not None:
            reporter.finish()
        residuals = y - np.asarray(X @ found.coef, dtype=np.float64).ravel() - found.intercept
        self.outliers_ = np.abs(residuals) > found.scale * self.epsilon
        return self._record(found, X, y, weights, {"dual_0": found.dual})

    def _record(self, found: HuberFit, X, y, weights, witness: dict):
        """Set the fitted attributes and the certificate; without a witness, the loss derivatives are the dual point."""
        number = np.float64 if self.fit_intercept else float  # as in scikit-learn
        self.coef_, self.intercept_, self.scale_ = found.coef, number(found.intercept), float(found.scale)
        self.n_iter_ = int(found.n_iter)
        self.history_ = np.array(found.history, dtype=np.float64).reshape(-1, 3)
        claims = [Claim("linear.gap", witness=witness)] + [Claim("linear.distance")] * (self.alpha > 0)
        self._issue(
            "A",
            claims,
            problem=pose(self, X, y, weights),
            model=("coef_", "intercept_", "scale_"),
            sample=(X, y, weights),
            run={"solver": "Newton's method", "reason": str(found.reason), "passes": self.n_iter_},
        )
        warn_unless_converged("HuberRegressor", found.reason, found.gap, self.tol * found.null_objective)
        return self
