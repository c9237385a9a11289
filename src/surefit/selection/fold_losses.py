"""Losses of several models on the same folds: row by row, so that models can be compared in pairs."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_random_state

from surefit.checks.risk_rows import take_rows
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT
from surefit.risk.losses import Loss, losses_of, read_loss, respond
from surefit.risk.parts import fit_part
from surefit.risk.target import read_target
from surefit.risk.units import Units, find_units
from surefit.selection.drawn_folds import Drawing, drawing_of


class FoldLosses(NamedTuple):
    """Losses of the tested rows, one line a model; ``fold`` is -1 for a row that no fold tests."""

    losses: np.ndarray  # (n_models, n_rows)
    train_losses: np.ndarray  # (n_models, n_folds)
    fold: np.ndarray  # (n_rows,)
    units: Units
    drawing: Drawing
    fit_seconds: np.ndarray  # (n_models, n_folds)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.fold.max()) + 1

    def unit_losses(self, fold: int) -> np.ndarray:
        """Mean losses of the units that a fold tests, one line a model."""
        rows = np.flatnonzero(self.fold == fold)
        return np.vstack([self.units.means(line[rows], rows) for line in self.losses])

    @property
    def fold_means(self) -> np.ndarray:
        """Mean loss of each model on each fold, shape (n_models, n_folds)."""
        return np.column_stack([self.unit_losses(k).mean(axis=1) for k in range(self.n_folds)])

    @property
    def smallest_fold(self) -> int:
        """Units of the smallest fold."""
        return min(self.unit_losses(k).shape[1] for k in range(self.n_folds))


def measure(
    who: str, estimators: list[Any], X, y, *, cv, loss, y_range, groups, assume, random_state
) -> tuple[FoldLosses, Loss]:
    """Fit every estimator on every fold and record the loss of every tested row."""
    target = read_target(who, X, y)
    classifier = is_classifier(estimators[0])
    has_proba = all(hasattr(model, "predict_proba") for model in estimators)
    read_as = read_loss(who, loss, y_range, classifier=classifier, has_proba=has_proba)
    if read_as.name == "quantile":  # a regressor without a declared range: estimates only
        read_as = Loss("unbounded", "predict", True)
    units = find_units(who, X, target, groups, assume)
    splits, drawing = folds_of(who, cv, units, target, classifier, random_state)
    fold = np.full(len(target), -1)
    losses = np.full((len(estimators), len(target)), np.nan)
    trained, seconds = np.empty((len(estimators), len(splits))), np.empty((len(estimators), len(splits)))
    classes = np.unique(target) if read_as.method == "predict_proba" else None
    for k, (train, test) in enumerate(splits):
        if np.any(fold[test] >= 0):
            raise InvalidData(f"{who}: cv tests a row twice; use folds that test every row at most once.")
        fold[test] = k
        for m, model in enumerate(estimators):
            start = time.perf_counter()
            fitted = fit_part(who, model, X, target, train)
            seconds[m, k] = time.perf_counter() - start
            for rows, place in ((test, losses[m]), (train, None)):
                found = losses_of(
                    who, read_as, target[rows], respond(fitted, take_rows(X, rows), read_as, classes), classes
                )
                if place is None:
                    trained[m, k] = float(found.mean())
                else:
                    place[rows] = found
    return FoldLosses(losses, trained, fold, units, drawing, seconds), read_as


def folds_of(
    who: str, cv, units: Units, y, classifier: bool, random_state
) -> tuple[list[tuple[np.ndarray, np.ndarray]], Drawing]:
    """Return the folds, k random ones of whole units or those of a splitter, and how they were drawn.

    Folds that look at the labels (stratified ones) are not drawn independently of the rows, so k means plain folds here.
    """
    if COUNT.allows(cv):
        if not 2 <= cv <= units.total:
            raise InvalidParameter(who, "cv", f"from 2 to the number of different rows (or groups), {units.total}", cv)
        order = check_random_state(random_state).permutation(units.total)
        parts = np.array_split(order, cv)
        everything = np.arange(len(units.codes))
        tests = [units.rows(part) for part in parts]
        return [(np.setdiff1d(everything, test), test) for test in tests], Drawing()
    splitter = check_cv(cv, y, classifier=classifier)
    groups = units.codes if "Group" in type(splitter).__name__ else None
    splits = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(np.zeros(len(y)), y, groups)]
    for train, test in splits:
        if np.intersect1d(units.codes[train], units.codes[test]).size:
            raise InvalidData(
                f"{who}: cv puts equal rows, or rows of one group, on both sides of a split; pass a number of folds, "
                "use GroupKFold(shuffle=True), or declare assume=('equal_rows_are_draws',)."
            )
    return splits, drawing_of(splitter, y, [test for _, test in splits], units)
