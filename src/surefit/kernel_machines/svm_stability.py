"""How far a support vector machine can predict from its exact optimum, row by row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.base import read
from surefit.checks.svm import machines_of, prove
from surefit.core.errors import InvalidParameter
from surefit.core.stability import PredictionStability
from surefit.kernels import Kernel
from surefit.solvers.smo.problem import BoxProblem, best_offsets


class StabilityMixin:
    """Adds ``prediction_stability`` to machines with one dual problem."""

    certificate_: Any
    kernel_: Kernel
    intercept_: np.ndarray
    dual_coef_: np.ndarray

    def prediction_stability(self, X, y, X_new=None, sample_weight=None) -> PredictionStability:
        r"""Bound the distance of each score from that of the exact optimum.

        With the proved gap :math:`g`, :math:`|f(x) - f^*(x)| \le \sqrt{2 g\,k(x, x)}`; the offset of the optimum lies between the best
        offsets for all training scores moved down, and up, by as much (theory: :ref:`svm-gap`).

        Parameters
        ----------
        X, y, sample_weight
            The training data; the certificate is verified first.
        X_new : sample, optional
            Rows to predict; the training rows by default. Precomputed kernels know no others.

        Returns
        -------
        PredictionStability
            ``scores``, ``bounds`` and ``labels_at_risk(threshold)``.
        """
        who = type(self).__name__
        if len(np.atleast_1d(self.intercept_)) > 1:
            raise InvalidParameter(who, "the model", "one with two classes for prediction_stability", self)
        if X_new is not None and self.kernel_.takes == "values":
            raise InvalidParameter(who, "X_new", "None for precomputed values, which do not hold k(x, x)", "a matrix")
        certificate = self.certificate_
        certificate.verify(X, y, sample_weight=sample_weight)
        data = read(X, y, sample_weight, strings=certificate.data.get("elements") == "strings")
        proof, machine = prove(certificate, data)[0], machines_of(certificate, data)[0]
        reach = math.sqrt(2 * proof.gap)
        own = reach * np.sqrt(np.maximum(self.kernel_.diag(data.X), 0.0)) * (1 + 1e-12)
        moved = own[machine.rows] + proof.scores.rad
        offset = _offset_reach(machine, machine.y - proof.scores.mid, moved)
        sample = data.X if X_new is None else X_new
        bounds = own if X_new is None else reach * np.sqrt(np.maximum(self.kernel_.diag(sample), 0.0)) * (1 + 1e-12)
        scores = self.decision_function(sample) if hasattr(self, "decision_function") else self.predict(sample)  # type: ignore[attr-defined]
        return PredictionStability(np.asarray(scores), bounds + offset)


def _offset_reach(machine, g: np.ndarray, moved: np.ndarray) -> float:
    """How far the offset of the optimum can be from ours: best offsets do not fall when all kinks rise."""
    if not machine.b_free:
        return 0.0
    if machine.hard:
        positive = machine.y > 0
        ends = float(np.max((g - moved)[positive])), float(np.min((g + moved)[~positive]))
    else:
        box = BoxProblem(machine.y, machine.low, machine.high, machine.epsilon, True)
        ends = best_offsets(box, g - moved)[0], best_offsets(box, g + moved)[1]
    return max(abs(machine.b - ends[0]), abs(ends[1] - machine.b)) * (1 + 1e-12)
