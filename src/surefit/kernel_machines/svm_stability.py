"""Bounds on the distance of each prediction of a support vector machine from that of the exact optimum."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_regressor

from surefit.core.errors import InvalidParameter
from surefit.core.issuing.state import dense
from surefit.core.stability import PredictionStability
from surefit.kernel_machines.svm_inputs import read_sample
from surefit.kernels import Kernel
from surefit.solvers.smo.problem import BoxProblem, best_offsets


class OneProblem(NamedTuple):
    """Dual problem of a machine: the sample, the rows of positive weight, and their box constraints."""

    X: Any
    rows: np.ndarray
    box: BoxProblem


class StabilityMixin:
    """Mixin that adds ``prediction_stability`` to machines with one dual problem."""

    certificate_: Any
    kernel_: Kernel
    intercept_: np.ndarray
    dual_coef_: np.ndarray
    support_: np.ndarray
    _functions: Any
    _dual_problem: Any  # (sample) -> OneProblem

    def prediction_stability(self, X, y, X_new=None, sample_weight=None) -> PredictionStability:
        r"""Bound the distance of each score from that of the exact optimum.

        With the proved gap :math:`g`, :math:`|f(x) - f^*(x)| \le \sqrt{2 g\,k(x, x)}`; the optimal intercept lies
        between the best intercepts for all training scores shifted down and up by this bound (theory: :ref:`svm-gap`).

        Parameters
        ----------
        X, y, sample_weight
            The training data; the certificate is verified first.
        X_new : sample, optional
            Rows to predict; the default is the training rows, which precomputed kernels require.

        Returns
        -------
        PredictionStability
            ``scores``, ``bounds`` and ``labels_at_risk(threshold)``.
        """
        who = type(self).__name__
        if len(np.atleast_1d(self.intercept_)) > 1:
            raise InvalidParameter(who, "the model", "one with two classes for prediction_stability", self)
        if X_new is not None and self.kernel_.takes == "values":
            raise InvalidParameter(
                who, "X_new", "None for precomputed values, which do not contain k(x, x)", "a matrix"
            )
        gap = self.certificate_.verify(X, y, sample_weight=sample_weight).findings[0].proved
        problem = self._dual_problem(read_sample(clone(self), X, y, sample_weight, numeric=is_regressor(self)))
        reach = math.sqrt(2 * gap)
        own = reach * np.sqrt(np.maximum(self.kernel_.diag(problem.X), 0.0)) * (1 + 1e-12)
        f = self._functions(problem.X, self.dual_coef_).ravel()[problem.rows]
        offset = self._offset_reach(problem, f, own[problem.rows] + self._rounding(problem))
        sample = problem.X if X_new is None else X_new
        bounds = own if X_new is None else reach * np.sqrt(np.maximum(self.kernel_.diag(sample), 0.0)) * (1 + 1e-12)
        scores = self.decision_function(sample) if hasattr(self, "decision_function") else self.predict(sample)  # type: ignore[attr-defined]
        return PredictionStability(np.asarray(scores), bounds + offset)

    def _rounding(self, problem: OneProblem) -> np.ndarray:
        """Bound the rounding error of scores by the number of terms times the sum of their absolute values."""
        lengths = np.sqrt(np.maximum(self.kernel_.diag(problem.X), 0.0))
        size = float(np.sum(np.abs(dense(self.dual_coef_)) * lengths[self.support_]))
        return 4 * (len(self.support_) + 16) * float(np.finfo(np.float64).eps) * size * lengths[problem.rows]

    def _offset_reach(self, problem: OneProblem, f: np.ndarray, moved: np.ndarray) -> float:
        """Bound the distance of the optimal intercept from the fitted one; best intercepts are monotone in the kinks."""
        box, b = problem.box, float(self.intercept_[0])
        if not box.offset:
            return 0.0
        g = box.y - f
        if np.isinf(box.high).any():
            positive = box.y > 0
            ends = float(np.max((g - moved)[positive])), float(np.min((g + moved)[~positive]))
        else:
            ends = best_offsets(box, g - moved)[0], best_offsets(box, g + moved)[1]
        return max(abs(b - ends[0]), abs(ends[1] - b)) * (1 + 1e-12)
