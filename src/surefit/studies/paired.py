"""Comparison of two models on the same rows: the difference of their losses, its interval, and a paired test."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from surefit.core.errors import InvalidData
from surefit.studies.labeled import Labeled, labeled_rows
from surefit.studies.model import TableModel
from surefit.tables import Table


class Paired(NamedTuple):
    """Mean losses of two models on n rows, and their difference (first minus second) with interval and p-value."""

    measure: str
    n: int
    words: str
    fresh: bool
    losses: tuple[float, float]
    difference: float
    interval: tuple[float, float]
    p_value: float
    test: str

    def verdict(self, first: str, second: str) -> str:
        """Return a text that names the better model if the difference is significant."""
        if self.interval[0] <= 0 <= self.interval[1]:
            return "the difference is not significant"
        return f"{first if self.difference < 0 else second} is better"


def compare_models(first: TableModel, second: TableModel, table: Table, confidence: float = 0.95) -> Paired:
    """Compare two models on the rows of a table on which both can be tested.

    Errors of classifiers are compared by McNemar's exact test, and absolute errors of regressors by Student's paired
    t-test. The interval is a t-interval for the mean of the row-wise differences.
    """
    if first.target_ != second.target_ or bool(len(first.classes_)) != bool(len(second.classes_)):
        raise InvalidData(f"The models predict different things: {first.target_!r} and {second.target_!r}.")
    a, b = labeled_rows(first, table), labeled_rows(second, table)
    both = np.intersect1d(a.numbers, b.numbers)
    if len(both) < 2:
        raise InvalidData(
            f"{table.source}: the models have {len(both)} test rows in common; name a table that neither has seen."
        )
    losses = [_losses(model, rows, both) for model, rows in ((first, a), (second, b))]
    difference = losses[0] - losses[1]
    mean, error = float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(both)))
    half_width = float(stats.t.ppf(0.5 + confidence / 2, len(both) - 1)) * error
    classes = len(first.classes_) > 0
    words = a.words if a.words == b.words else "that both were tested on"
    return Paired(
        "error rate" if classes else "mean absolute error", len(both), words, a.fresh and b.fresh,
        (float(losses[0].mean()), float(losses[1].mean())), mean, (mean - half_width, mean + half_width),
        _mcnemar(difference) if classes else _student(difference), "McNemar's exact test" if classes else "paired t-test",
    )  # fmt: skip


def _losses(model: TableModel, rows: Labeled, numbers: np.ndarray) -> np.ndarray:
    place = {int(number): i for i, number in enumerate(rows.numbers)}
    chosen = np.array([place[int(number)] for number in numbers])
    X, y = rows.X[chosen], rows.y[chosen]
    if len(model.classes_):
        return (model.predictor_.predict_codes(X) != y).astype(np.float64)
    return np.abs(model.predictor_.predict(X) - y)


def _mcnemar(difference: np.ndarray) -> float:
    """Return the p-value of McNemar's exact test, from the rows on which exactly one model errs."""
    worse, better = int(np.sum(difference > 0)), int(np.sum(difference < 0))
    return float(stats.binomtest(worse, worse + better).pvalue) if worse + better else 1.0


def _student(difference: np.ndarray) -> float:
    return float(stats.ttest_1samp(difference, 0.0).pvalue) if np.ptp(difference) > 0 else 1.0
