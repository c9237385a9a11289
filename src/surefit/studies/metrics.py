"""Metrics of the leaderboard; models are compared with signs such that smaller is better."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

BLOCKS = 20  # number of blocks of rows that the jackknife leaves out in turn
EPS = 1e-12


class Metric(NamedTuple):
    """Name of a metric, its task, its input (labels, probabilities or numbers), and whether larger is better."""

    name: str
    words: str
    task: str
    looks_at: str
    larger: bool
    function: Callable[..., float]
    level: float = 0.5

    def loss(self, value: float) -> float:
        """Return the value with a sign such that smaller is better."""
        return -value if self.larger else value


class Answers(NamedTuple):
    """Held-out rows: true values (class codes or numbers), predictions, probabilities of a classifier, weights, folds if any."""

    truth: np.ndarray
    predicted: np.ndarray
    probabilities: np.ndarray | None
    weights: np.ndarray
    fold: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> Answers:
        """Return some of the rows."""
        p = None if self.probabilities is None else self.probabilities[rows]
        fold = None if self.fold is None else self.fold[rows]
        return Answers(self.truth[rows], self.predicted[rows], p, self.weights[rows], fold)


def _error(a: Answers, level: float) -> float:
    return float(np.average(a.truth != a.predicted, weights=a.weights))


def _log_loss(a: Answers, level: float) -> float:
    own = a.probabilities[np.arange(len(a.truth)), a.truth]  # type: ignore[index]
    return float(np.average(-np.log(np.maximum(own, EPS)), weights=a.weights))


def _brier(a: Answers, level: float) -> float:
    truth = np.eye(a.probabilities.shape[1])[a.truth]  # type: ignore[union-attr]
    return float(np.average(0.5 * np.sum((a.probabilities - truth) ** 2, axis=1), weights=a.weights))


def _auc(a: Answers, level: float) -> float:
    """Return the mean area under the ROC curve over the folds, since scores of different models are not comparable."""
    if a.fold is None:
        return _area(a)
    rows = [np.flatnonzero(a.fold == k) for k in np.unique(a.fold)]
    areas, sizes = np.array([_area(a.take(each)) for each in rows]), np.array([len(each) for each in rows])
    known = np.isfinite(areas)
    return float(np.average(areas[known], weights=sizes[known])) if known.any() else float("nan")


def _area(a: Answers) -> float:
    """Return the area under the ROC curve of one model; for several classes, the mean over classes against the rest."""
    from sklearn.metrics import roc_auc_score

    classes = np.unique(a.truth)
    if len(classes) < 2:
        return float("nan")
    codes = [1] if a.probabilities.shape[1] == 2 else classes  # type: ignore[union-attr]
    areas = [roc_auc_score(a.truth == k, a.probabilities[:, k], sample_weight=a.weights) for k in codes]  # type: ignore[index]
    return float(np.mean(areas))


def _f1(a: Answers, level: float) -> float:
    """Return the F1 score of the rarer of two classes; for several, the mean over classes."""
    counts = np.bincount(a.truth, minlength=a.probabilities.shape[1])  # type: ignore[union-attr]
    codes = [int(np.argmin(counts))] if len(counts) == 2 else np.flatnonzero(counts)
    found = []
    for k in codes:
        hit = a.weights[(a.truth == k) & (a.predicted == k)].sum()
        total = a.weights[a.truth == k].sum() + a.weights[a.predicted == k].sum()
        found.append(2 * hit / total if total else 0.0)
    return float(np.mean(found))


def _rmse(a: Answers, level: float) -> float:
    return float(np.sqrt(np.average((a.truth - a.predicted) ** 2, weights=a.weights)))


def _mae(a: Answers, level: float) -> float:
    return float(np.average(np.abs(a.truth - a.predicted), weights=a.weights))


def _r2(a: Answers, level: float) -> float:
    mean = np.average(a.truth, weights=a.weights)
    spread = np.average((a.truth - mean) ** 2, weights=a.weights)
    return 1.0 - _rmse(a, level) ** 2 / spread if spread > 0 else float("nan")


def _pinball(a: Answers, level: float) -> float:
    gap = a.truth - a.predicted
    return float(np.average(np.maximum(level * gap, (level - 1) * gap), weights=a.weights))


METRICS = {
    metric.name: metric
    for metric in (
        Metric("error", "error rate", "classification", "labels", False, _error),
        Metric("log-loss", "log-loss", "classification", "probabilities", False, _log_loss),
        Metric("brier", "Brier score", "classification", "probabilities", False, _brier),
        Metric("auc", "area under the ROC curve", "classification", "probabilities", True, _auc),
        Metric("f1", "F1 score", "classification", "labels", True, _f1),
        Metric("rmse", "root mean squared error", "regression", "numbers", False, _rmse),
        Metric("mae", "mean absolute error", "regression", "numbers", False, _mae),
        Metric("r2", "R squared", "regression", "numbers", True, _r2),
        Metric("pinball", "pinball loss", "regression", "numbers", False, _pinball),
    )
}


def read_metric(name: str) -> Metric | None:
    """Return the metric with this name; ``pinball:0.9`` includes the level of its quantile.

    Examples
    --------
    >>> from surefit.studies.metrics import read_metric
    >>> read_metric("pinball:0.9").level, read_metric("accuracy") is None
    (0.9, True)
    """
    base, _, level = name.partition(":")
    metric = METRICS.get(base)
    if metric is None or not level:
        return metric
    try:
        share = float(level)
    except ValueError:
        return None
    if base != "pinball" or not 0 < share < 1:
        return None
    return metric._replace(name=name, words=f"pinball loss of the {share:g} quantile", level=share)


def score(metric: Metric, answers: Answers) -> float:
    """Return the metric of held-out predictions."""
    return metric.function(answers, metric.level)


def standard_error(metric: Metric, answers: Answers, units: np.ndarray) -> float:
    r"""Return the jackknife standard error of a score, leaving out blocks of whole units.

    .. math:: \widehat{se}^2 = \frac{B - 1}{B} \sum_b (s_{(b)} - \bar s)^2

    It is valid for every metric, including those that are not means over rows. ``units`` contains the index of the unit
    of each row; rows of one unit are drawn together.
    """
    names, codes = np.unique(units, return_inverse=True)
    blocks = min(BLOCKS, len(names))
    if blocks < 2:
        return float("nan")
    block = (np.arange(len(names)) % blocks)[codes]
    left = np.array([score(metric, answers.take(np.flatnonzero(block != b))) for b in range(blocks)])
    left = left[np.isfinite(left)]
    return (
        float(np.sqrt((len(left) - 1) / len(left) * np.sum((left - left.mean()) ** 2)))
        if len(left) > 1
        else float("nan")
    )
