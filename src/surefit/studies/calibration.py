"""Calibration of scores to probabilities, and decisions from probabilities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from surefit.solvers.calibration import fit_directions, one_hot

ENOUGH = 30  # rows of each class from which an intercept is fitted in addition to the slope
TINY = 1e-12
RIDGE = 1.0  # pseudo-rows that keep the slope near 1, so that it stays finite for separated classes


class Calibration(NamedTuple):
    r"""Probabilities :math:`p_k \propto \exp(a s_k + b_k)` of scores s, such as log-probabilities."""

    slope: float = 1.0
    intercepts: tuple[float, ...] = ()

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return one probability per row and class."""
        z = self.slope * scores + (np.asarray(self.intercepts) if self.intercepts else 0.0)
        return np.exp(z - logsumexp(z, axis=1, keepdims=True))


def class_scores(estimator: Any, X: np.ndarray, n_classes: int, codes: np.ndarray) -> np.ndarray:
    """Return one score per row and class: log-probabilities, or the decision function if there are none.

    ``codes`` are the class codes that the estimator was fitted on; other classes get a score with a probability of
    nearly zero.
    """
    if hasattr(estimator, "predict_proba"):
        found = np.log(np.maximum(np.asarray(estimator.predict_proba(X), dtype=np.float64), TINY))
    else:
        found = np.asarray(estimator.decision_function(X), dtype=np.float64)
        if found.ndim == 1:
            found = np.column_stack([-found / 2, found / 2])
    if len(codes) == n_classes:
        return found
    scores = np.full((len(found), n_classes), np.log(TINY))
    scores[:, codes] = found
    return scores


def fit_calibration(scores: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> Calibration:
    """Fit the slope (and, for two classes with enough rows each, an intercept) by maximum likelihood on held-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.studies.calibration import fit_calibration
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=4000)
    >>> truth = (rng.random(4000) < 1 / (1 + np.exp(-z))).astype(int)
    >>> found = fit_calibration(np.column_stack([-2 * z, 2 * z]), truth, np.ones(4000))  # four times too sure
    >>> round(found.slope, 1)
    0.3
    """
    free = scores.shape[1] == 2 and min(np.bincount(truth, minlength=2)) >= ENOUGH
    # Derivatives of the scores: the slope affects all scores, the intercept only those of class 1.
    moves = np.stack([scores, np.broadcast_to([0.0, 1.0], scores.shape)]) if free else scores[None]
    start, ridge = np.array([1.0, 0.0])[: len(moves)], np.array([RIDGE, 0.0])[: len(moves)]
    targets = one_hot(truth, scores.shape[1])
    theta = fit_directions(moves, targets, weights, start, ridge=ridge, positive=True)
    return Calibration(float(theta[0]), (0.0, float(theta[1])) if free else ())


def cross_fitted(scores: np.ndarray, truth: np.ndarray, weights: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Return probabilities of held-out rows, each calibrated on the other folds; a single fold is halved."""
    parts = fold if len(np.unique(fold)) > 1 else np.arange(len(truth)) % 2
    found = np.empty_like(scores)
    for k in np.unique(parts):
        mine = parts == k
        if len(np.unique(truth[~mine])) < 2:
            found[mine] = Calibration().probabilities(scores[mine])
        else:
            found[mine] = fit_calibration(scores[~mine], truth[~mine], weights[~mine]).probabilities(scores[mine])
    return found


def decide(probabilities: np.ndarray, decision: np.ndarray) -> np.ndarray:
    """Return the class with the largest weighted probability; ties go to the lowest code."""
    return np.argmax(probabilities * decision, axis=1)


def threshold_for_f1(probabilities: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> float:
    """Return the decision threshold for the probability of the rarer of two classes that maximizes its F1 score."""
    rare = int(np.argmin(np.bincount(truth, minlength=2)))
    order = np.argsort(-probabilities[:, rare], kind="stable")
    p, hits, total = probabilities[order, rare], weights[order] * (truth[order] == rare), weights[order]
    f1 = 2 * np.cumsum(hits) / (np.cumsum(total) + hits.sum())
    last = np.append(p[1:] != p[:-1], True)  # equal probabilities stay on one side of the threshold
    best = int(np.argmax(np.where(last, f1, -1.0)))
    below = p[best + 1] if best + 1 < len(p) else 0.0
    return float(np.clip((p[best] + below) / 2, 0.001, 0.999))
