"""Fitting of multi-task models: solve the problem, set the fitted attributes, and state the claim."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import CallbackSupportMixin, progress_reporter, with_callbacks
from surefit.core.centering import column_means
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.estimator import CertifiedMixin, warn_unless_converged
from surefit.core.sparse_coef import linear_scores
from surefit.core.threads import threads_instead_of_blas
from surefit.core.validation import BOOLEAN, check_params, read_data
from surefit.linear.lasso.training import RULES as LASSO_RULES
from surefit.linear.lasso.training import usable_target
from surefit.problems import pose
from surefit.problems.stated_gap import StatedGapMixin
from surefit.solvers.multi_task import Result, minimize

READ: dict[str, Any] = {"dtype": [np.float64, np.float32]}
SHARED = ("fit_intercept", "copy_X", "max_iter", "tol", "random_state", "selection", "max_time")
RULES = {**{name: LASSO_RULES[name] for name in SHARED}, "warm_start": BOOLEAN}


class MultiTaskRegressor(CertifiedMixin, CallbackSupportMixin, StatedGapMixin, RegressorMixin, BaseEstimator):
    """Base class of linear regression of several targets whose coefficients have a common support."""

    coef_: np.ndarray
    intercept_: np.ndarray
    _shares_rows = True

    @with_callbacks
    def fit(self, X, y):
        """Fit the model to targets of shape (n_samples, n_targets). Returns the estimator."""
        check_params(self)
        who = type(self).__name__
        X, y = read_data(self, X, y, multi_output=True, y_numeric=True, **READ)
        if y.ndim == 1:
            raise InvalidData(f"{who}: y must have one column per target; for mono-task outputs, use {who[9:]}.")
        y = usable_target(who, y)
        problem = pose(self, X, y)
        result = self._solved(X, y, problem)
        self.n_iter_ = result.n_iter
        self.history_ = np.array(result.history, dtype=np.float64).reshape(-1, 3)
        self._issue(
            "A",
            [Claim("multi_task.gap")],
            problem=problem,
            model=("coef_", "intercept_"),
            sample=(X, y[:, 0] if y.shape[1] == 1 else y, None),  # in the form in which the checker reads targets
            run={"solver": "block coordinate descent", "reason": str(result.reason), "passes": int(result.n_iter)},
        )
        warn_unless_converged(who, Reason(result.reason), result.gap, problem["tol"] * result.null_objective)
        return self

    def _solved(self, X, y, problem: dict[str, Any]) -> Result:
        """Solve the problem and set the coefficients."""
        before = getattr(self, "coef_", None) if self.warm_start else None  # type: ignore[attr-defined]
        shape = (X.shape[1], y.shape[1])
        start = np.zeros(shape) if before is None or before.T.shape != shape else before.T
        zero = np.zeros(X.shape[1]), np.zeros(y.shape[1])
        X = np.asarray(X, dtype=np.float64)
        means = (column_means(X), column_means(y)) if problem["fit_intercept"] else zero
        reporter = progress_reporter(self, X, y)
        with Budget(self.max_iter, self.max_time, reporter) as budget, threads_instead_of_blas():  # type: ignore[attr-defined]
            result = minimize(
                X - means[0], y - means[1], problem["l1"], problem["l2"], tol=problem["tol"], budget=budget, start=start
            )
        if reporter is not None:
            reporter.finish()
        self.coef_ = np.ascontiguousarray(result.W.T)
        self.intercept_ = means[1] - self.coef_ @ means[0]
        return result

    def predict(self, X) -> np.ndarray:
        """Return ``X W' + b``, one column per target."""
        check_is_fitted(self)
        return linear_scores(read_data(self, X, reset=False, **READ), self.coef_) + self.intercept_

    @property
    def sparse_coef_(self):
        """The coefficients as a CSR matrix of shape (n_targets, n_features)."""
        return sparse.csr_array(self.coef_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags
