from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin

from surefit.bounds.conformal import ConformalQuantile, conformal_quantile, conformal_rank
from surefit.core.rows import take_rows
from surefit.risk.conformal_predictor import RULES, ConformalMixin
from surefit.risk.conformal_statement import folds_claim, split_claims
from surefit.risk.left_out import BLOCK, KernelLeftOut, LinearLeftOut, kernel_left_out, linear_left_out, penalty_of


class ConformalRegressor(ConformalMixin, MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    r"""Conformal regressor: prediction intervals with guaranteed coverage, for any regressor.

    .. math:: C(x) = \bigl[\hat f(x) - \hat q,\; \hat f(x) + \hat q\bigr], \qquad
              \hat q = \text{the } \lceil (m + 1)(1 - \alpha) \rceil \text{-th smallest } |y_i - \hat f(x_i)|,

    over m calibration rows that the model did not see (``"split"``). With ``"jackknife+"`` and ``"cv+"``, the interval
    is formed from models fitted without each row or each fold, so all rows are used for training.

    Hypothesis class, loss and optimizer are those of the estimator.

    Guarantee: the interval of a new exchangeable row contains its target with probability at least ``coverage`` (split), at least ``1 - 2
    (1 - coverage)`` (jackknife+), or that minus a small term (cv+). For the split method, the coverage given the
    calibration rows is also at least ``conditional_coverage_`` with probability ``confidence`` (theory:
    :ref:`conformal`).

    Parameters
    ----------
    estimator : regressor, pipeline or None, default=None
        Estimator to fit; it is cloned (except with ``"prefit"``). None is ``Ridge()``.
    method : {"split", "prefit", "jackknife+", "cv+"}, default="split"
        How the rows are used. With ``"prefit"``, the estimator is already fitted, and all rows passed to ``fit`` are
        calibration rows. For ``Ridge``, ``LinearRegression`` and ``KernelRidge`` (without intercept), jackknife+ has a
        closed form from one fit; other models need one fit per row.
    coverage : float, default=0.9
        Target probability of containing the true target.
    confidence : float, default=0.95
        Confidence of the statement given the calibration rows.
    calibration_size : int or None, default=None
        Number of calibration rows of ``"split"``; None: a fifth, at least 200 or half, at most 5000.
    n_folds : int, default=10
        Number of folds of ``"cv+"``.
    assume : tuple of {"equal_rows_are_draws", "fixed_scaling", "independent_times"}, default=()
        Assumptions that you declare: equal rows are separate draws; the columns were scaled without using these rows; rows indexed by
        time are independent.
    random_state : int, RandomState or None, default=None
        Seed of the split.

    Attributes
    ----------
    estimator_ : regressor
        The model for point predictions.
    quantile_ : float
        Half the width of the intervals (split).
    conditional_coverage_ : float
        Coverage given the calibration rows, at ``confidence`` (split).
    residuals_ : ndarray
        Calibration or leave-one-out residuals.
    calibration_rows_ : ndarray of int
        Indices of the rows of the residuals.
    split_seed_ : int
        For partitioned data, the seed by which calibration rows are drawn (:doc:`/scaling`).
    models_ : list
        Models fitted without each row or fold, unless a closed form was used.
    certificate_ : Certificate
        Claims with evidence.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import ConformalRegressor, Ridge
    >>> from surefit.data import load_diabetes
    >>> data = load_diabetes()
    >>> model = ConformalRegressor(Ridge(), method="jackknife+").fit(data.X, data.y)
    >>> low, high = model.predict_interval(data.X[:1])[0]
    >>> bool(low < data.y[0] < high), len(model.residuals_)
    (True, 442)
    >>> print(model.certificate_.claims[0].statement)
    the set misses the truth with probability at most 0.2, on average over all rows and the new row, if the rows are exchangeable
    with future rows; in practice about 0.1, which is not proved
    """

    _rules = RULES

    def __init__(
        self,
        estimator=None,
        method="split",
        *,
        coverage=0.9,
        confidence=0.95,
        calibration_size=None,
        n_folds=10,
        assume=(),
        random_state=None,
    ):
        self.estimator = estimator
        self.method = method
        self.coverage = coverage
        self.confidence = confidence
        self.calibration_size = calibration_size
        self.n_folds = n_folds
        self.assume = assume
        self.random_state = random_state

    def fit(self, X, y):
        """Fit the model and calibrate the intervals. Returns the estimator."""
        y, units, order = self._begin(X, y)
        self._left_out: LinearLeftOut | KernelLeftOut | None = None
        if self._splits:
            self.estimator_, train, rows = self._split(X, y, units, order)
            answer = np.asarray(self.estimator_.predict(take_rows(X, rows)), dtype=np.float64).ravel()
            self.residuals_, self.calibration_rows_ = np.asarray(y[rows], dtype=np.float64) - answer, rows
            found: ConformalQuantile = conformal_quantile(np.abs(self.residuals_), 1.0 - self.coverage)
            self.quantile_, self.conditional_coverage_ = found.value, found.conditional_coverage(1.0 - self.confidence)
            self.train_rows_ = train
            claims = split_claims(found, 1.0 - self.confidence, (*units.tags, *self.assume))
        else:
            self.estimator_ = self._fit_rows(X, y, np.arange(len(y)))
            penalty = penalty_of(self.estimator_) if self.method == "jackknife+" and units.kind == "rows" else None
            if penalty is not None:
                self._left_out = linear_left_out(X, y, penalty, bool(self.estimator_.fit_intercept))
            elif self.method == "jackknife+" and units.kind == "rows":
                self._left_out = kernel_left_out(self.estimator_, X, y)
            count = self._fit_folds(X, y, units, order)
            n = len(np.unique(units.codes[self.calibration_rows_]))
            claims = [folds_claim(n, count, 1.0 - self.coverage, (*units.tags, *self.assume))]
        self._finish(X, y, claims, ("residuals_", "calibration_rows_"))
        return self

    def _fit_folds(self, X, y: np.ndarray, units, order: np.ndarray) -> int:
        """Compute the residual of each row by a model that was fitted without it; return the number of folds."""
        if self._left_out is not None:
            self.residuals_, self.calibration_rows_ = self._left_out.residuals, np.arange(len(y))
            self.folds_ = np.arange(len(y))
            return len(y)
        self.models_, self.folds_ = self._fold_models(X, y, units, order)
        answer = np.empty(len(y))
        for k, model in enumerate(self.models_):
            mine = np.flatnonzero(self.folds_ == k)
            answer[mine] = np.asarray(model.predict(take_rows(X, mine))).ravel()
        inside = np.flatnonzero(self.folds_ >= 0)
        rows = np.sort(inside[np.unique(units.codes[inside], return_index=True)[1]])  # duplicates count once
        self.calibration_rows_ = rows
        self.residuals_ = np.asarray(y[rows], dtype=np.float64) - answer[rows]
        return len(self.models_)

    def predict_interval(self, X) -> np.ndarray:
        """Return the lower and upper end of the interval of each row, shape (n_rows, 2); infinite if there were too few rows."""
        self._check_fitted()
        center = np.asarray(self.predict(X), dtype=np.float64).ravel()
        if self._splits:
            return np.column_stack([center - self.quantile_, center + self.quantile_])
        errors = np.abs(self.residuals_)
        rank = conformal_rank(len(errors), 1.0 - self.coverage)
        if rank > len(errors):
            return np.column_stack([np.full(len(center), -np.inf), np.full(len(center), np.inf)])
        ends = np.empty((len(center), 2))
        step = max(1, BLOCK // len(errors))
        for start in range(0, len(center), step):
            part = np.arange(start, min(start + step, len(center)))
            answers = self._answers_without(take_rows(X, part))
            ends[part, 0] = -np.partition(errors - answers, rank - 1, axis=1)[:, rank - 1]
            ends[part, 1] = np.partition(answers + errors, rank - 1, axis=1)[:, rank - 1]
        return ends

    def _answers_without(self, X) -> np.ndarray:
        if isinstance(self._left_out, KernelLeftOut):
            return self._left_out.answers(X)
        if self._left_out is not None:
            return self._left_out.answers(X.toarray() if hasattr(X, "toarray") else np.asarray(X))
        by_fold = np.column_stack([np.asarray(model.predict(X), dtype=np.float64).ravel() for model in self.models_])
        return by_fold[:, self.folds_[self.calibration_rows_]]

    def _base(self):
        if self.estimator is None:
            from surefit.linear.ridge.regressor import Ridge

            return Ridge()
        return self.estimator
