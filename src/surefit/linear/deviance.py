"""Generalized linear models with an l2 penalty: shared base class of the Poisson, gamma and Tweedie regressors."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import d2_tweedie_score

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import ANYTHING, BOOLEAN, COUNT, NON_NEGATIVE, NOTHING, POSITIVE, check_params
from surefit.linear.base import LinearRegressorMixin
from surefit.linear.composed import fit_composed
from surefit.linear.offsets import read_offset, without_offset
from surefit.losses import Squared
from surefit.problems.stated_gap import StatedGapMixin


class DevianceRegressor(CertifiedMixin, CallbackSupportMixin, StatedGapMixin, LinearRegressorMixin, BaseEstimator):
    """Base class of regressors that minimize half the mean deviance plus an l2 penalty."""

    _shares_rows = True

    _rules = {
        "alpha": NON_NEGATIVE,
        "fit_intercept": BOOLEAN,
        "solver": ANYTHING,
        "max_iter": COUNT,
        "tol": NON_NEGATIVE,
        "warm_start": BOOLEAN,
        "verbose": ANYTHING,
        "max_time": NOTHING | POSITIVE,
    }

    def __init__(
        self,
        *,
        alpha=1.0,
        fit_intercept=True,
        solver="lbfgs",
        max_iter=100,
        tol=1e-4,
        warm_start=False,
        verbose=0,
        max_time=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.max_time = max_time

    @abstractmethod
    def _loss(self) -> Any:
        """Return half the deviance as a function of the score."""

    @abstractmethod
    def _deviance_power(self) -> float:
        """Return the power ``p`` of the deviance: the variance is proportional to the ``p``-th power of the mean."""

    @with_callbacks
    def fit(self, X, y, sample_weight=None, offset=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator.

        ``offset`` is a known term of each row's score, such as the logarithm of its exposure. The mean is
        ``exp(x'w + b + offset)``, or ``x'w + b + offset`` for the identity link.
        """
        check_params(self)
        loss = self._loss()
        if offset is None:
            return fit_composed(self, X, y, sample_weight, loss)
        power = None if isinstance(loss, Squared) else self._deviance_power()
        return fit_composed(
            self, X, y, sample_weight, loss, moved=lambda rows: without_offset(self, rows, offset, power)
        )

    def predict(self, X, offset=None) -> np.ndarray:
        """Return the expected target of each row, ``exp(x'w + b + offset)``."""
        return np.exp(self._linear(X, offset))

    def _linear(self, X, offset) -> np.ndarray:
        scores = LinearRegressorMixin.predict(self, X)
        return scores if offset is None else scores + read_offset(self, offset, len(scores))

    def score(self, X, y, sample_weight=None, offset=None) -> float:
        """Return the fraction of deviance explained, as in scikit-learn; the null model ignores the offsets."""
        predicted = self.predict(X, offset)
        return float(d2_tweedie_score(y, predicted, sample_weight=sample_weight, power=self._deviance_power()))

    def verify(self, X, y=None, sample_weight=None, offset=None) -> Any:
        """Re-derive every claim of ``certificate_`` from the training data, independently of the solver."""
        return self.certificate_.verify(X, y, sample_weight=sample_weight, offset=offset)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
