"""Scores and losses of several models on the same folds: scikit-learn's scores per fold, and the loss of each row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import check_cv
from sklearn.model_selection import cross_validate as scored_folds
from sklearn.utils import get_tags
from sklearn.utils.validation import check_random_state

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.rows import take_rows
from surefit.core.validation import COUNT
from surefit.risk.losses import Loss, losses_of, read_loss, respond
from surefit.risk.parts import missing_classes
from surefit.risk.target import read_target
from surefit.risk.units import Units, find_units
from surefit.selection.drawn_folds import Drawing, drawing_of

DEFAULT_FOLDS = 5  # as in scikit-learn
Splits = list[tuple[np.ndarray, np.ndarray]]


class Plan(NamedTuple):
    """Options of the caller: folds, loss, and ``scoring`` (options for scikit-learn's ``cross_validate``)."""

    cv: Any
    loss: Any
    y_range: Any
    groups: Any
    assume: tuple[str, ...]
    random_state: Any
    scoring: dict[str, Any]


class FoldLosses(NamedTuple):
    """Losses of the tested rows, one row per model; ``fold`` is -1 for a row that no fold tests."""

    losses: np.ndarray  # (n_models, n_rows)
    train_losses: np.ndarray  # (n_models, n_folds)
    fold: np.ndarray  # (n_rows,)
    units: Units
    drawing: Drawing

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.fold.max()) + 1

    def unit_losses(self, fold: int) -> np.ndarray:
        """Return the mean losses of the units that a fold tests, one row per model."""
        rows = np.flatnonzero(self.fold == fold)
        return np.vstack([self.units.means(line[rows], rows) for line in self.losses])

    @property
    def fold_means(self) -> np.ndarray:
        """Mean loss of each model on each fold, shape (n_models, n_folds)."""
        return np.column_stack([self.unit_losses(k).mean(axis=1) for k in range(self.n_folds)])

    @property
    def smallest_fold(self) -> int:
        """Number of units of the smallest fold."""
        return min(self.unit_losses(k).shape[1] for k in range(self.n_folds))


class Measured(NamedTuple):
    """Scores of each model as scikit-learn's dict, and losses or the reason why there are none."""

    scores: list[dict[str, Any]]
    folds: FoldLosses | None
    loss: Loss
    missing: str | None


def single_target(who: str, X, y) -> np.ndarray | None:
    """Return the target as one column, or None if there is no target or more than one."""
    return read_target(who, X, y) if y is not None and (np.ndim(y) < 2 or np.shape(y)[1] == 1) else None


def measure(who: str, estimators: list[Any], X, y, plan: Plan) -> Measured:
    """Fit every estimator on every fold; score it as scikit-learn does, and record the loss of every tested row."""
    target = single_target(who, X, y)
    loss = _loss_of(who, estimators, plan, target)
    units = None if target is None else find_units(who, X, target, plan.groups, plan.assume)
    splits, drawing = folds_of(who, plan, units, X, y, is_classifier(estimators[0]))
    scores = [scored(who, model, X, y, splits, plan.scoring) for model in estimators]
    missing = "there is no target" if y is None else _why_no_losses(estimators, target, loss, splits, scores)
    if missing is not None or loss is None or units is None or target is None:
        return Measured(scores, None, loss or Loss("unbounded", "predict", True), missing)
    fold = np.full(len(target), -1)
    for k, (_, test) in enumerate(splits):
        fold[test] = k
    losses, trained = np.full((len(estimators), len(target)), np.nan), np.empty((len(estimators), len(splits)))
    for m, found in enumerate(scores):
        for k, (train, test) in enumerate(splits):
            model = found["estimator"][k]
            losses[m, test] = row_losses(who, model, X, target, test, loss)
            trained[m, k] = row_losses(who, model, X, target, train, loss).mean()
    return Measured(scores, FoldLosses(losses, trained, fold, units, drawing), loss, None)


def scored(who: str, model: Any, X, y, splits: Splits, scoring: dict[str, Any]) -> dict[str, Any]:
    """Return scikit-learn's scores on given splits, with the fitted models."""
    try:
        return scored_folds(model, X, y, cv=splits, **{**scoring, "return_estimator": True})
    except ValueError as error:
        labels = None if y is None else np.asarray(y)
        lost = None if labels is None else [missing_classes(model, labels, train) for train, _ in splits]
        named = next((name for name in lost or () if name is not None), None)
        if named is None:
            raise
        raise InvalidData(
            f"{who}: {type(model).__name__} could not be fitted on a fold without rows of class {named}: {error}; use stratified "
            "folds, or more rows of rare classes."
        ) from error


def row_losses(who: str, model: Any, X, y: np.ndarray, rows: np.ndarray, loss: Loss) -> np.ndarray:
    """Return the losses of a fitted model on some rows."""
    classes = np.unique(y) if loss.method == "predict_proba" else None
    return losses_of(who, loss, y[rows], respond(model, take_rows(X, rows), loss, classes), classes)


def _loss_of(who: str, estimators: list[Any], plan: Plan, target: np.ndarray | None) -> Loss | None:
    first = estimators[0]
    known = target is not None and (is_classifier(first) or is_regressor(first) or plan.loss is not None)
    return loss_of(who, estimators, plan) if known else None


def loss_of(who: str, estimators: list[Any], plan: Plan) -> Loss:
    """Return the loss that the caller requested, or the default loss of the task."""
    has_proba = all(hasattr(model, "predict_proba") for model in estimators)
    found = read_loss(who, plan.loss, plan.y_range, classifier=is_classifier(estimators[0]), has_proba=has_proba)
    # A regressor without a declared range has estimates only.
    return Loss("unbounded", "predict", True) if found.name == "quantile" else found


def _why_no_losses(estimators, target, loss, splits: Splits, scores: list[dict[str, Any]]) -> str | None:
    """Return the reason why losses of single rows are not available, or None."""
    if target is None:
        return "there are several targets"
    if loss is None:
        return "the model does not predict the target"
    if any(get_tags(model).input_tags.pairwise for model in estimators):
        return "the columns of X are its rows (precomputed kernels or distances)"
    tested = np.concatenate([test for _, test in splits])
    if len(np.unique(tested)) < len(tested):
        return "cv tests some row twice; use folds that test every row at most once"
    values = [value for found in scores for name, value in found.items() if name.startswith("test_")]
    return None if np.all(np.isfinite(values)) else "a model could not be fitted or scored on some fold"


def folds_of(who: str, plan: Plan, units: Units | None, X, y, classifier: bool) -> tuple[Splits, Drawing]:
    """Return the folds, and how they were drawn.

    By default, the folds are scikit-learn's. With ``random_state`` and a number of folds, the folds are random and
    consist of whole units: equal rows and groups stay together, and labels are not used.
    """
    cv = DEFAULT_FOLDS if plan.cv is None else plan.cv
    if COUNT.allows(cv) and cv < 2:
        raise InvalidParameter(who, "cv", "an integer >= 2, a splitter or a list of splits", cv)
    if COUNT.allows(cv) and plan.random_state is not None and units is not None:
        if not 2 <= cv <= units.total:
            raise InvalidParameter(
                who, "cv", f"an integer from 2 to the number of distinct rows (or groups), {units.total}", cv
            )
        parts = np.array_split(check_random_state(plan.random_state).permutation(units.total), cv)
        everything, tests = np.arange(len(units.codes)), [units.rows(part) for part in parts]
        return [(np.setdiff1d(everything, test), test) for test in tests], Drawing()
    splitter = check_cv(cv, y, classifier=classifier)
    groups = plan.groups if units is None else units.codes
    groups = groups if "Group" in type(splitter).__name__ else None
    splits = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, y, groups)]
    if units is None:
        return splits, Drawing()
    if any(np.intersect1d(units.codes[train], units.codes[test]).size for train, test in splits):
        return splits, Drawing(
            trouble="cv puts equal rows, or rows of one group, on both sides of a split; pass a number of folds with random_state, "
            "use GroupKFold(shuffle=True), or declare assume=('equal_rows_are_draws',)"
        )
    return splits, drawing_of(splitter, np.ravel(y), [test for _, test in splits], units)
