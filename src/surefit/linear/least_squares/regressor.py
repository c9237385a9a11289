from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression as PeerLinearRegression
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import DataWarning, InvalidData, SurefitError
from surefit.core.estimator import CertifiedMixin
from surefit.core.partitioned import Part, PartitionedRows
from surefit.core.validation import BOOLEAN, N_JOBS, NON_NEGATIVE, check_params, read_data
from surefit.core.warn import warn
from surefit.linear.least_squares.inference import CoefficientTable, coefficient_table, log_likelihood
from surefit.linear.least_squares.training import SeveralTargetsMixin, Targets, read_targets, record, solve_each


class LinearRegression(CertifiedMixin, SeveralTargetsMixin, BaseEstimator):
    r"""Ordinary least squares, with standard errors, tests and confidence intervals.

    .. math::

        P(w, b) = \sum_i s_i (y_i - x_i^\top w - b)^2 .

    Hypothesis class: affine functions. Loss: squared. Optimizer: normal equations with iterative refinement, or QR by
    blocks of rows if they are ill-conditioned. If the solution is not unique, the coefficients of smallest norm are
    returned; the intercept is not part of the norm (:func:`surefit.least_squares_solutions` lists all solutions). The
    cost is :math:`O(mN^2 + N^3)` for m rows and N columns (:func:`surefit.timing_study`).

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_`` for any data, and every training prediction is within
    :math:`\sqrt{\text{gap}}` of that of the exact optimum (theory: :ref:`least-squares-gap`). If the rows follow
    :math:`y = x^\top w + b + \epsilon` with independent normal noise, the coefficients maximize the likelihood and the
    intervals of :meth:`inference` are exact.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit :math:`b`.
    copy_X, n_jobs
        Accepted for compatibility with scikit-learn; X is never changed, and BLAS controls the number of
        threads.
    tol : float >= 0, default=1e-6
        Accepted for the same reason; the solution is exact up to rounding.
    positive : bool, default=False
        Whether to require :math:`w \ge 0`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    dual_gap_, objective_ : float
        Proved bound on :math:`P(w, b) - \min P`, and :math:`P`, all targets together.
    rank_, singular_
        Rank and singular values of X (centered if the intercept is fitted).
    interpolates_ : bool
        Whether the model fits every row exactly because it has as many coefficients as rows. Its training error then
        carries no information about new rows.
    sigma2_ : float or ndarray of shape (n_targets,)
        Maximum-likelihood noise variance, ``RSS / S``, with S the sum of the weights.
    residual_variance_ : float or ndarray of shape (n_targets,)
        Unbiased noise variance, ``RSS / (S - rank)``, where the rank includes the intercept; nan without degrees of
        freedom.
    log_likelihood_ : float
        Largest log-likelihood under normal noise, all targets together.
    degrees_of_freedom_, total_weight_, x_mean_
        ``S - rank``, where the rank includes the intercept; S; and the weighted means of the features (zero without an
        intercept).
    unscaled_covariance_ : ndarray of shape (n_coefficients, n_coefficients)
        :math:`(\tilde X^\top S \tilde X)^{-1}`, the intercept first. Multiplied by the noise variance, it is the
        covariance of the estimates. Available only if the coefficients are unique.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    The least-squares line through three points has slope 1 and intercept 2/3:

    >>> import numpy as np
    >>> from surefit import LinearRegression
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([2.0, 2.0, 4.0])
    >>> model = LinearRegression().fit(X, y)
    >>> print(round(float(model.coef_[0]), 12), round(model.intercept_, 12))
    1.0 0.666666666667
    >>> model.verify(X, y)["linear.gap"].level
    'enclosed'
    """

    _shares_rows = True
    _rules = {
        "fit_intercept": BOOLEAN,
        "copy_X": BOOLEAN,
        "tol": NON_NEGATIVE,
        "n_jobs": N_JOBS,
        "positive": BOOLEAN,
    }

    def __init__(self, *, fit_intercept=True, copy_X=True, tol=1e-6, n_jobs=None, positive=False):
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        return self._fit(read_targets(self, X, y, sample_weight))

    def _fit(self, data: Targets):
        alphas = np.zeros(data.Y.shape[1])
        found = solve_each(data, alphas, self.fit_intercept, self.positive, spectrum=True)
        self.rank_, self.singular_ = found.rank, found.singular
        used = found.rank + bool(self.fit_intercept)
        rows = _counted_rows(data)
        self.interpolates_ = bool(used >= rows and not self.positive)
        degrees_of_freedom = found.total - used
        squares = np.where(found.squares <= _rounding_squares(data, found), 0.0, found.squares)
        sigma2 = squares / found.total
        unbiased = squares / degrees_of_freedom if degrees_of_freedom > 0 else np.full(len(sigma2), np.nan)
        self.sigma2_: Any = float(sigma2[0]) if data.single else sigma2
        self.residual_variance_: Any = float(unbiased[0]) if data.single else unbiased
        self.log_likelihood_ = log_likelihood(sigma2, found.total)
        self.degrees_of_freedom_, self.total_weight_, self.x_mean_ = (
            float(degrees_of_freedom),
            found.total,
            found.x_mean,
        )
        self.__dict__.pop("unscaled_covariance_", None)  # left by an earlier fit
        if found.inverse is not None:
            self.unscaled_covariance_ = self._with_intercept(found)
        ranked = not self.positive and "LSMR" not in found.route and not isinstance(data.X, PartitionedRows)
        record(self, found, data, claims=("linear.rank",) if ranked else ())
        if self.rank_ == 0 and self.fit_intercept and rows > 1:
            warn(
                "LinearRegression: every column is constant, so the coefficients are not determined; they are "
                "set to 0 and the intercept is the mean. "
                "surefit.least_squares_solutions lists all solutions.",
                DataWarning,
            )
        if self.interpolates_ and rows > 1 and self.rank_ > 0:
            warn(
                f"LinearRegression: {used} coefficients pass through all {rows} rows, so the training error "
                f"carries no information; use Ridge, fewer features or more rows.",
                DataWarning,
            )
        return self

    def _with_intercept(self, found) -> np.ndarray:
        """Return the inverse normal matrix of (b, w), computed from that of the centered problem."""
        if not self.fit_intercept:
            return found.inverse
        along = found.inverse @ found.x_mean
        corner = 1 / found.total + found.x_mean @ along
        whole = np.empty((len(along) + 1, len(along) + 1))
        whole[0, 0], whole[0, 1:], whole[1:, 0], whole[1:, 1:] = corner, -along, -along, found.inverse
        return whole

    def inference(self, X, y, sample_weight=None, *, confidence=0.95, target=0) -> CoefficientTable:
        """Return standard errors, t statistics, p-values and confidence intervals of one target's coefficients.

        The certificate is verified with the training data first.
        """
        check_is_fitted(self)
        self.verify(X, y, sample_weight)
        return coefficient_table(self, confidence, target)

    def leverage(self, X) -> np.ndarray:
        r"""Return :math:`\tilde x^\top (\tilde X^\top S \tilde X)^{-1} \tilde x` for each row.

        Multiplied by the noise variance, the leverage is the variance of the prediction.
        """
        check_is_fitted(self)
        X = read_data(self, X, reset=False, accept_sparse=["csr", "csc"], dtype=np.float64)
        C = self._covariance()
        if not self.fit_intercept:
            return (
                np.asarray((X.multiply(X @ C)).sum(axis=1)).ravel() if sparse.issparse(X) else ((X @ C) * X).sum(axis=1)
            )
        # Centering at the mean, where the leverage is smallest, avoids cancellation for data far from the origin.
        Z = (X.toarray() if sparse.issparse(X) else X) - self.x_mean_
        return 1 / self.total_weight_ + ((Z @ C[1:, 1:]) * Z).sum(axis=1)

    def leave_one_out(self, X, y, sample_weight=None) -> np.ndarray:
        """Return the residual of each training row for the fit without that row (or without one copy of it)."""
        self.verify(X, y, sample_weight)
        residual = np.asarray(y, dtype=np.float64) - self.predict(X)
        s = np.ones(len(residual)) if sample_weight is None else np.minimum(np.asarray(sample_weight, dtype=float), 1.0)
        left = 1 - s * self.leverage(X)
        if np.any(left <= 1e-12):
            row = int(np.argmin(left))
            raise InvalidData(
                f"LinearRegression: without row {row} the coefficients are not determined, so its leave-one-out residual does "
                "not exist; use Ridge, or fewer features."
            )
        return residual / (left if residual.ndim == 1 else left[:, None])

    def _covariance(self) -> np.ndarray:
        try:
            return self.unscaled_covariance_
        except AttributeError:
            raise SurefitError(
                "LinearRegression: no covariance: the coefficients are not unique (dependent columns), or positive=True biases "
                "them; drop columns until they are independent."
            ) from None


PeerLinearRegression.register(LinearRegression)  # RANSACRegressor chooses min_samples for this class only


def _counted_rows(data: Targets) -> int:
    """Return the number of rows of positive weight."""
    if isinstance(data.X, PartitionedRows) and data.X.weighted:
        return int(data.X.map_reduce(_with_weight))
    return data.X.shape[0] if data.weights is None else int(np.count_nonzero(data.weights))


def _with_weight(part: Part) -> int:
    return len(part.X) if part.weights is None else int(np.count_nonzero(part.weights))


def _rounding_squares(data: Targets, found) -> np.ndarray:
    """Return the residual sum of squares that rounding errors alone can produce for a perfect fit, per target."""
    W = np.abs(found.coef)
    if isinstance(data.X, PartitionedRows):
        total = data.X.map_reduce(_part_sizes, W, found.offset)
    else:
        total = _squared_sizes(data.X, data.Y, data.weights, W, found.offset)
    return (4 * np.finfo(float).eps * (2 + W.shape[0])) ** 2 * total


def _part_sizes(part: Part, W: np.ndarray, offset: np.ndarray) -> np.ndarray:
    return _squared_sizes(
        part.X, np.asarray(part.y, dtype=np.float64).reshape(len(part.X), -1), part.weights, W, offset
    )


def _squared_sizes(X, Y: np.ndarray, s: np.ndarray | None, W: np.ndarray, offset: np.ndarray) -> np.ndarray:
    (n, d), total = X.shape, np.zeros(Y.shape[1])
    step = max(1, 2**17 // max(1, d))
    for start in range(0, n, step):  # blocks of rows, so that |X| is never stored as a whole
        rows = slice(start, start + step)
        weights = 1.0 if s is None else s[rows, None]
        size = np.abs(Y[rows]) + np.asarray(abs(X[rows]) @ W) + np.abs(offset)
        total += np.sum(weights * size**2, axis=0)
    return total
