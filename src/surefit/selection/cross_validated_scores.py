"""The result of a cross-validation: scores by name, valid intervals, paired comparisons, and the one-standard-error rule."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import t as student

from surefit.bounds.base import RiskBound
from surefit.bounds.progressive import error_limit
from surefit.core import tables
from surefit.core.assumptions import sentence
from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.core.warn import warn
from surefit.risk.losses import Loss
from surefit.selection.comparison import Comparison
from surefit.selection.fold_losses import FoldLosses


@dataclass(frozen=True, eq=False)
class CrossValidation(Mapping):
    """Result of :func:`cross_validate`: scikit-learn's dict of scores by name, with intervals for the risks.

    ``result["test_score"]`` and the other entries have one value per fold; for several models, they have one row per
    model.

    Attributes
    ----------
    names : tuple of str
        The models; the one-standard-error rule assumes that the simplest comes first.
    means, standard_errors : ndarray
        Mean loss over the folds and its standard error (an estimate, because folds share training rows).
    chosen : str
        The model chosen by the rule.
    trouble : str or None
        Reason why no interval is valid, or None. If there is one, the intervals cover the whole range of the loss.
    """

    names: tuple[str, ...]
    measured: FoldLosses | None = field(repr=False)
    loss: Loss
    confidence: float
    rule: str
    trouble: str | None = None
    scores: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def folds(self) -> FoldLosses:
        """Losses of all tested rows."""
        if self.measured is None:
            raise InvalidData(f"cross_validate: there are scores, but no losses of rows: {self.trouble}.")
        return self.measured

    @property
    def fold_means(self) -> np.ndarray:
        """Mean loss of each model on each fold, in the units of the loss."""
        return self.folds.fold_means * self.loss.scale

    @property
    def means(self) -> np.ndarray:
        """Mean over the folds."""
        return self.fold_means.mean(axis=1)

    @property
    def train_means(self) -> np.ndarray:
        """Mean training loss over the folds."""
        return self.folds.train_losses.mean(axis=1) * self.loss.scale

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard error of each mean, from the variation over the folds."""
        return self.fold_means.std(axis=1, ddof=1) / math.sqrt(self.folds.n_folds)

    @property
    def chosen(self) -> str:
        """Model with the smallest mean loss, or the first (simplest) model within one standard error of it."""
        best = int(np.argmin(self.means))
        if self.rule == "best":
            return self.names[best]
        return self.names[int(np.flatnonzero(self.means <= self.means[best] + self.standard_errors[best])[0])]

    def bound(self, name: str | None = None) -> RiskBound:
        """Return an upper bound on the mean risk of a model's fold models, corrected for selection."""
        place, count = self._place(name)
        if self.loss.name == "unbounded":
            raise InvalidParameter(
                "CrossValidation", "y_range", "declared, because an unbounded loss has no bound", None
            )
        self._warn()
        delta = self._share(count)
        mean, m = float(self.folds.fold_means[place].mean()), self.folds.smallest_fold
        about = f"{self.loss.words} of the fold models of {self.names[place]}, on average"
        return RiskBound(
            "k_fold",
            error_limit(min(mean, 1.0), m, m, delta) if self.trouble is None else 1.0,
            1.0 - self.confidence,
            about,
            self.bound_tags,
            inputs={"empirical": mean, "n": m, "folds": self.folds.n_folds, "delta_spent": delta, "candidates": count},
            terms={"empirical": mean},
        )

    def interval(self, name: str | None = None) -> tuple[float, float]:
        """Return the interval, in the units of the loss, that covers the mean risk of the fold models with the stated confidence."""
        self._warn()
        return self._interval(name)

    def _warn(self) -> None:
        if self.trouble is not None and self.loss.name != "unbounded":
            warn(f"cross_validate: no interval is valid: {self.trouble}.", DataWarning)

    def _interval(self, name: str | None) -> tuple[float, float]:
        place, count = self._place(name)
        if self.loss.name == "unbounded":
            return 0.0, math.inf
        if self.trouble is not None:
            return 0.0, self.loss.scale
        low, high = _limits(self.folds.fold_means[place], self.folds.smallest_fold, self._share(count))
        return low * self.loss.scale, high * self.loss.scale

    def compare(self, first: str, second: str) -> Comparison:
        """Compare two models row by row on the same folds."""
        a, b = self._place(first)[0], self._place(second)[0]
        gaps = self.folds.fold_means[a] - self.folds.fold_means[b]
        K = self.folds.n_folds
        # Nadeau and Bengio: training sets overlap, so the variance of the mean is larger than that of K independent folds.
        error = math.sqrt((1 / K + 1 / (K - 1)) * float(np.var(gaps, ddof=1)))
        mean = float(gaps.mean())
        statistic = abs(mean) / error if error > 0 else (math.inf if mean else 0.0)
        scale, ends = self.loss.scale, (-math.inf, math.inf)
        if self.loss.name != "unbounded":
            low, high = self._gap_limits(a, b) if self.trouble is None else (-1.0, 1.0)
            ends = low * scale, high * scale
        p_value = 2 * float(student.sf(statistic, K - 1))
        return Comparison(first, second, mean * scale, error * scale, p_value, ends, self.confidence)

    def _gap_limits(self, a: int, b: int) -> tuple[float, float]:
        """Return limits of the difference of two risks, from the positive parts of both loss differences.

        If the models mostly agree, both parts are small and the limits are close to each other.
        """
        parts = [self.folds.unit_losses(k)[[a, b]] for k in range(self.folds.n_folds)]
        gaps = [pair[0] - pair[1] for pair in parts]
        m, share = self.folds.smallest_fold, self._share(2)
        worse = _limits(np.array([np.maximum(gap, 0.0).mean() for gap in gaps]), m, share)
        better = _limits(np.array([np.maximum(-gap, 0.0).mean() for gap in gaps]), m, share)
        return worse[0] - better[1], worse[1] - better[0]

    @property
    def bound_tags(self) -> tuple[str, ...]:
        """Assumptions of every interval."""
        return (*self.folds.units.tags, self.folds.drawing.tag)

    def _share(self, count: int) -> float:
        """Return the delta of one of several statements, reduced if the folds are stratified."""
        return (1.0 - self.confidence) * self.folds.drawing.weight / count

    def __getitem__(self, key: str) -> Any:
        """Return the entry of scikit-learn's dict, such as ``"test_score"``."""
        return self.scores[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def _place(self, name: str | None) -> tuple[int, int]:
        """Return the index of a model and the number of models compared (one if the model was named in advance)."""
        if name is None:
            return self.names.index(self.chosen), len(self.names)
        if name not in self.names:
            raise InvalidParameter("CrossValidation", "name", f"one of {', '.join(self.names)}", name)
        return self.names.index(name), 1

    def __repr__(self) -> str:
        if self.measured is None:
            means: list[tuple[str, ...]] = [
                (key, f"{np.mean(value):.4g}") for key, value in self.scores.items() if key.startswith("test_")
            ]
            return tables.text_table(
                "cross-validation", ("score", "mean"), means, f"No losses of rows: {self.trouble}."
            )
        rows = []
        for place, name in enumerate(self.names):
            low, high = self._interval(name)
            mark = "chosen" if name == self.chosen else ""
            numbers = (self.train_means[place], self.means[place], self.standard_errors[place])
            rows.append((name, *(f"{v:.4g}" for v in numbers), f"{low:.4g} to {high:.4g}", mark))
        header = ("model", "train", "test", "se", f"interval ({self.confidence:g})", "")
        title = f"{self.folds.n_folds}-fold cross-validation, {self.loss.words}"
        foot = f"Each interval covers the mean risk of that model's fold models, {sentence(self.bound_tags)}."
        if self.trouble is not None:
            foot = f"No interval is valid: {self.trouble}."
        return tables.text_table(title, header, rows, foot)


def _limits(fold_means: np.ndarray, m: int, delta: float) -> tuple[float, float]:
    """Return a lower and an upper limit of a mean risk from means of losses in [0, 1], each at delta / 2."""
    mean = float(np.clip(fold_means.mean(), 0.0, 1.0))
    return 1.0 - error_limit(1.0 - mean, m, m, delta / 2), error_limit(mean, m, m, delta / 2)
