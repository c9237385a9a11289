"""Cross-validation that says what it proves: intervals, paired comparisons, and the one-standard-error rule."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import t as student

from surefit.bounds.base import RiskBound
from surefit.bounds.progressive import error_limit
from surefit.core import tables
from surefit.core.errors import DataRemark, InvalidParameter
from surefit.core.validation import one_of
from surefit.risk.claims import sentence
from surefit.risk.ledger import SHARE
from surefit.risk.losses import Loss
from surefit.risk.units import ASSUME
from surefit.risk.void import why_void
from surefit.selection.comparison import Comparison
from surefit.selection.fold_losses import FoldLosses, measure

RULE = one_of("best", "1se")


@dataclass(frozen=True)
class CrossValidation:
    """Result of :func:`cross_validate`.

    Attributes
    ----------
    names : tuple of str
        The models, simplest first if the one-standard-error rule is to mean something.
    means, standard_errors : ndarray
        Mean loss over the folds and its standard error (an estimate: folds share training rows).
    chosen : str
        The model that the rule picks.
    trouble : str or None
        Why no interval is valid; then they are as wide as the loss.
    """

    names: tuple[str, ...]
    folds: FoldLosses = field(repr=False)
    loss: Loss
    confidence: float
    rule: str
    trouble: str | None = None

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
        """Standard error of each mean, from the spread over the folds."""
        return self.fold_means.std(axis=1, ddof=1) / math.sqrt(self.folds.n_folds)

    @property
    def chosen(self) -> str:
        """Model of the smallest mean, or the first one (the simplest) within one standard error of it."""
        best = int(np.argmin(self.means))
        if self.rule == "best":
            return self.names[best]
        return self.names[int(np.flatnonzero(self.means <= self.means[best] + self.standard_errors[best])[0])]

    def bound(self, name: str | None = None) -> RiskBound:
        """Upper limit of the mean risk of one model's fold models; the chosen one's pays for the choice."""
        place, count = self._place(name)
        if self.loss.name == "unbounded":
            raise InvalidParameter("CrossValidation", "y_range", "declared, or an unbounded loss proves nothing", None)
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
        """Interval, in the units of the loss, that covers the mean risk of the fold models with the stated confidence."""
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
        """Limits of the difference of two risks: what the first loses to the second, less what the second loses to the first.

        Both parts are small where the models mostly agree, and then their limits are close.
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
        """Delta of one of several statements, less the price of folds that were drawn by class."""
        return (1.0 - self.confidence) * self.folds.drawing.weight / count

    def __getitem__(self, key: str) -> np.ndarray:
        """``"test_score"``, ``"train_score"`` and ``"fit_time"`` of a single model, as scikit-learn's function returns them."""
        found = {"test_score": self.fold_means, "train_score": self.folds.train_losses * self.loss.scale}
        values = self.folds.fit_seconds if key == "fit_time" else found[key]
        signed = values if key == "fit_time" else 1.0 - values if self.loss.name == "zero_one" else -values
        return signed[0] if len(self.names) == 1 else signed

    def _place(self, name: str | None) -> tuple[int, int]:
        """Index of a model, and among how many it was chosen: one if it was named beforehand."""
        if name is None:
            return self.names.index(self.chosen), len(self.names)
        if name not in self.names:
            raise InvalidParameter("CrossValidation", "name", f"one of {', '.join(self.names)}", name)
        return self.names.index(name), 1

    def __repr__(self) -> str:
        rows = []
        for place, name in enumerate(self.names):
            low, high = self.interval(name)
            mark = "chosen" if name == self.chosen else ""
            numbers = (self.train_means[place], self.means[place], self.standard_errors[place])
            rows.append((name, *(f"{v:.4g}" for v in numbers), f"{low:.4g} to {high:.4g}", mark))
        header = ("model", "train", "test", "se", f"interval ({self.confidence:g})", "")
        title = f"{self.folds.n_folds}-fold cross-validation, {self.loss.words}"
        foot = f"Each interval is about the mean risk of that model's fold models, {sentence(self.bound_tags)}."
        if self.trouble is not None:
            foot = f"No interval is valid: {self.trouble}."
        return tables.text_table(title, header, rows, foot)


def cross_validate(
    estimator,
    X,
    y,
    *,
    cv=10,
    loss=None,
    y_range=None,
    groups=None,
    confidence=0.95,
    rule="1se",
    assume=(),
    random_state=None,
) -> CrossValidation:
    r"""Cross-validate one model, or compare several on the same folds.

    Guarantee: ``interval()`` covers the mean risk of the k fold models with probability at least ``confidence``, both sides
    together, paying for the choice if the model was chosen here; the confidence term counts the rows of one fold, because the
    folds' errors depend on each other (theory: :ref:`k-fold`). Means, standard errors and p-values are estimates.

    Parameters
    ----------
    estimator : estimator, list or dict of estimators
        The model, or candidates by name; put the simplest first.
    X, y : array-like
        Rows and targets.
    cv : int or splitter, default=10
        Number of random folds, which keep equal rows and groups together, or a splitter that does.
    loss : {"zero_one", "brier", "squared", "absolute"}, callable or None, default=None
        None: errors of classifiers, squared errors of regressors.
    y_range : (low, high) or None, default=None
        Declared range of a regressor's target; predictions are clipped to it. Without one the squared error is estimated, but
        its intervals are infinite.
    groups : array of shape (n_rows,) or None, default=None
        Rows that belong together.
    confidence : float, default=0.95
        Confidence of intervals.
    rule : {"1se", "best"}, default="1se"
        Choose the first model within one standard error of the best mean, or the best mean.
    assume : tuple of {"equal_rows_are_draws", "fixed_scaling", "independent_times"}, default=()
        What you vouch for.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from surefit import cross_validate
    >>> X, y = load_digits(return_X_y=True)
    >>> models = {"naive Bayes": GaussianNB(), "5 neighbours": KNeighborsClassifier()}
    >>> result = cross_validate(models, X, y, cv=4, random_state=0)
    >>> result.chosen, result.means.round(3).tolist()
    ('5 neighbours', [0.159, 0.018])
    >>> result.compare("naive Bayes", "5 neighbours").decided
    True
    """
    who = "cross_validate"
    if not SHARE.allows(confidence):
        raise InvalidParameter(who, "confidence", SHARE.words, confidence)
    if not RULE.allows(rule):
        raise InvalidParameter(who, "rule", RULE.words, rule)
    if not ASSUME.allows(assume):
        raise InvalidParameter(who, "assume", ASSUME.words, assume)
    models = named(estimator)
    folds, read_as = measure(
        who, list(models.values()), X, y, cv=cv, loss=loss, y_range=y_range, groups=groups, assume=assume,
        random_state=random_state,
    )  # fmt: skip
    trouble = why_void(X, y, groups=groups, assume=tuple(assume)) or folds.drawing.trouble
    if trouble is not None and read_as.name != "unbounded":
        warnings.warn(f"{who}: no interval is valid: {trouble}.", DataRemark, stacklevel=2)
    return CrossValidation(tuple(models), folds, read_as, confidence, rule, trouble)


def named(estimator) -> dict:
    """Candidates by name; unnamed ones are called by their class, numbered where it repeats."""
    if isinstance(estimator, Mapping):
        return dict(estimator)
    models = list(estimator) if isinstance(estimator, (list, tuple)) else [estimator]
    classes = [type(model).__name__ for model in models]
    names = [f"{c} {i + 1}" if classes.count(c) > 1 else c for i, c in enumerate(classes)]
    return dict(zip(names, models, strict=True))


def _limits(fold_means: np.ndarray, m: int, delta: float) -> tuple[float, float]:
    """Both limits of a mean risk from means of losses in [0, 1], at half of delta each."""
    mean = float(np.clip(fold_means.mean(), 0.0, 1.0))
    return 1.0 - error_limit(1.0 - mean, m, m, delta / 2), error_limit(mean, m, m, delta / 2)
