"""Conversion of held-out scores to predictions: calibrated probabilities and decisions, or numbers, as in the final model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.studies.calibration import cross_fitted, decide, fit_calibration, threshold_for_f1
from surefit.studies.encoded import class_weights
from surefit.studies.metrics import Answers, Metric
from surefit.studies.model import CalibratedModel
from surefit.studies.options import Options
from surefit.studies.prepare import Prepared


class Held(NamedTuple):
    """Raw scores on held-out rows: class scores or numbers, the rows, and the fold of each row."""

    scores: np.ndarray
    rows: np.ndarray
    fold: np.ndarray


def answered(held: Held, prepared: Prepared, metric: Metric, options: Options) -> Answers:
    """Return the predictions of the model on the held-out rows; each fold is calibrated on the others."""
    truth = prepared.target.y[held.rows]
    weights = np.ones(len(truth)) if prepared.weights is None else prepared.weights[held.rows].astype(np.float64)
    if not prepared.target.classes:
        predicted = held.scores
        if metric.name.startswith("pinball"):
            predicted = predicted + _by_other_folds(
                held.fold, lambda rows: _offset(truth[rows] - held.scores[rows], weights[rows], metric.level)
            )
        return Answers(truth, predicted, None, weights)
    p = cross_fitted(held.scores, truth, weights, held.fold)
    decision = decision_of(prepared, options)
    if decision is None and metric.name == "f1" and p.shape[1] == 2:
        cut = _by_other_folds(held.fold, lambda rows: threshold_for_f1(p[rows], truth[rows], weights[rows]))
        rare = int(np.argmin(np.bincount(truth, minlength=2)))
        predicted = np.where(p[:, rare] > cut, rare, 1 - rare)
        return Answers(truth, predicted, p, weights, held.fold)
    predicted = decide(p, np.ones(p.shape[1]) if decision is None else decision)
    return Answers(truth, predicted, p, weights, held.fold)


def decision_of(prepared: Prepared, options: Options) -> np.ndarray | None:
    """Return the factor of each class probability in a decision, or None without class weights."""
    return class_weights(prepared, options)


def calibrate(model: CalibratedModel, held: Held, prepared: Prepared, metric: Metric, options: Options) -> float | None:
    """Calibrate the final model on all held-out rows; return the decision threshold of the rarer class if one was chosen."""
    truth = prepared.target.y[held.rows]
    weights = np.ones(len(truth)) if prepared.weights is None else prepared.weights[held.rows].astype(np.float64)
    if not prepared.target.classes:
        if metric.name.startswith("pinball"):
            model.offset_ = _offset(truth - held.scores, weights, metric.level)
        return None
    found = fit_calibration(held.scores, truth, weights)
    model.slope_, model.intercepts_ = found.slope, found.intercepts
    decision = decision_of(prepared, options)
    if decision is not None:
        model.decision_ = decision
        return None
    if metric.name != "f1" or len(prepared.target.classes) != 2:
        return None
    cut = threshold_for_f1(found.probabilities(held.scores), truth, weights)
    rare = int(np.argmin(np.bincount(truth, minlength=2)))
    model.decision_ = np.where(np.arange(2) == rare, 1.0 - cut, cut)
    return cut


def _by_other_folds(fold: np.ndarray, value) -> np.ndarray:
    """Return one number per row, computed from the rows of the other folds."""
    parts = fold if len(np.unique(fold)) > 1 else np.arange(len(fold)) % 2
    found = np.empty(len(fold))
    for k in np.unique(parts):
        found[parts == k] = value(np.flatnonzero(parts != k))
    return found


def _offset(residuals: np.ndarray, weights: np.ndarray, level: float) -> float:
    """Return the weighted quantile of the residuals."""
    order = np.argsort(residuals, kind="stable")
    share = np.cumsum(weights[order]) / weights.sum()
    return float(residuals[order][min(int(np.searchsorted(share, level)), len(order) - 1)])
