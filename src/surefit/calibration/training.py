"""Fitting of a calibrated classifier: one classifier per fold, or one on all rows with held-out scores."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import LeaveOneOut, check_cv, cross_val_predict
from sklearn.utils.parallel import Parallel, delayed

from surefit.calibration.calibrators import CalibratedPair, raw_scores, response_of
from surefit.core.errors import DataWarning, InvalidData
from surefit.core.routing import route, routing_enabled
from surefit.core.rows import take_rows, take_values
from surefit.core.warn import warn


class Fitted(NamedTuple):
    """Pairs of a classifier and its maps; rows and scores that the maps were fitted on, one after another."""

    pairs: list[CalibratedPair]
    rows: np.ndarray
    scores: list[np.ndarray]
    starts: np.ndarray  # index at which the rows of each pair begin


class Labels(NamedTuple):
    """The target of all rows as given and as class indices, and the weights."""

    y: np.ndarray
    codes: np.ndarray
    classes: np.ndarray
    weights: np.ndarray


def fit_pairs(owner: Any, X: Any, labels: Labels, params: dict[str, Any], split_params: dict[str, Any]) -> Fitted:
    """Fit the pairs of ``owner``; ``params`` are those of the classifier's ``fit``."""
    estimator, who = owner._base(), type(owner).__name__
    in_ensemble = not isinstance(estimator, FrozenEstimator) if owner.ensemble == "auto" else owner.ensemble
    splitter = _splitter(who, owner.cv, labels)
    if not in_ensemble:
        return _fit_one(owner, clone(estimator), splitter, X, labels, params)
    splits = list(splitter.split(X, labels.y, **split_params))
    found = Parallel(n_jobs=owner.n_jobs)(
        delayed(_fit_part)(who, clone(estimator), X, labels, train, test, owner.method, params)
        for train, test in splits
    )
    rows = [np.asarray(test) for _, test in splits]
    return Fitted(
        [pair for pair, _ in found],
        np.concatenate(rows),
        [scores for _, scores in found],
        np.cumsum([0, *(len(part) for part in rows)]),
    )


def _splitter(who: str, cv: Any, labels: Labels) -> Any:
    folds = cv if isinstance(cv, int) else getattr(cv, "n_splits", None)
    if folds and np.bincount(labels.codes).min() < folds:
        raise InvalidData(
            f"{who}: Requesting {folds}-fold cross-validation but provided less than {folds} examples for at least one class."
        )
    if isinstance(cv, LeaveOneOut):
        raise InvalidData(
            f"{who}: LeaveOneOut cross-validation does not allow all classes to be present in test splits; "
            "use folds in which every class appears."
        )
    return check_cv(cv, labels.y, classifier=True)


def _fit_part(who: str, estimator: Any, X: Any, labels: Labels, train: Any, test: Any, method: str, params: Any) -> Any:
    """Fit a classifier on some rows and its maps on others."""
    if not labels.weights[test].any():
        raise InvalidData(f"{who}: the rows of a fold have no weight; use fewer folds, or leave these rows out.")
    estimator.fit(take_rows(X, train), labels.y[train], **take_values(params, train, len(labels.y)))
    _require_classes(who, estimator, labels.classes, method)
    pair = CalibratedPair(estimator, [], classes=labels.classes, method=method)
    scores = pair.scores(take_rows(X, test))
    fitted = CalibratedPair.fitted(estimator, scores, labels.codes[test], labels.weights[test], labels.classes, method)
    return fitted, scores


def _fit_one(owner: Any, estimator: Any, splitter: Any, X: Any, labels: Labels, params: dict[str, Any]) -> Fitted:
    """Fit one classifier on all rows and its maps on held-out scores; a frozen classifier scores all rows itself."""
    method, K = response_of(estimator), len(labels.classes)
    if isinstance(estimator, FrozenEstimator):
        _require_classes(type(owner).__name__, estimator, labels.classes, owner.method)
        scores = CalibratedPair(estimator, [], classes=labels.classes, method=owner.method).scores(X)
    else:
        found = cross_val_predict(
            estimator, X, labels.y, cv=splitter, method=method, n_jobs=owner.n_jobs, params=params
        )
        scores = raw_scores(found, method, K, K, owner.method)
        estimator.fit(X, labels.y, **params)
    pair = CalibratedPair.fitted(estimator, scores, labels.codes, labels.weights, labels.classes, owner.method)
    return Fitted([pair], np.arange(len(labels.y)), [scores], np.array([0, len(labels.y)]))


def _require_classes(who: str, estimator: Any, classes: np.ndarray, method: str) -> None:
    """Raise an error for unknown classes, or for missing classes if one map needs all scores."""
    known = np.asarray(estimator.classes_)
    if not np.isin(known, classes).all():
        raise InvalidData(f"{who}: the classifier was fitted on classes that y does not have.")
    needs_all = method == "temperature" or len(classes) == 2
    if needs_all and len(known) < len(classes):
        lost = ", ".join(str(name) for name in np.setdiff1d(classes, known)[:3].tolist())
        raise InvalidData(
            f"{who}: the classifier was fitted without rows of class {lost}; use other folds, or more rows of this class."
        )


def fit_parameters(owner: Any, X: Any, sample_weight: Any, params: dict[str, Any]) -> tuple[dict, dict]:
    """Return the parameters of the classifier's ``fit`` and those of the splitter."""
    if routing_enabled():
        routed = route(owner, "fit", params, sample_weight=sample_weight)
        return dict(routed.estimator.fit), dict(routed.splitter.split)
    if sample_weight is None:
        return dict(params), {}
    estimator = owner._base()
    if "sample_weight" not in inspect.signature(estimator.fit).parameters:
        warn(
            f"{type(owner).__name__}: Since {type(estimator).__name__} does not appear to accept sample_weight, sample "
            "weights will only be used for the calibration itself.",
            DataWarning,
        )
        return dict(params), {}
    return {**params, "sample_weight": sample_weight}, {}
