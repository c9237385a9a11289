"""Differences between surefit's estimators and scikit-learn's of the same name, as found on the installed versions."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor

import surefit
from surefit.sklearn import report

RESPONSES = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "score_samples")
#: Arguments without which an estimator cannot be made small enough, or made at all.
NEEDED: dict[str, dict[str, Any]] = {
    "GridSearchCV": {"param_grid": {"alpha": [1.0, 2.0]}},
    "RandomizedSearchCV": {"param_distributions": {"alpha": [1.0, 2.0]}, "n_iter": 2},
    "GaussianMixture": {"n_components": 2},
    "KMeans": {"n_clusters": 2},
    "RandomForestClassifier": {"n_estimators": 3},
    "RandomForestRegressor": {"n_estimators": 3},
    "HistGradientBoostingClassifier": {"max_iter": 3},
    "HistGradientBoostingRegressor": {"max_iter": 3},
    "AdaBoostClassifier": {"n_estimators": 3},
    "BaggingClassifier": {"n_estimators": 3},
    "BaggingRegressor": {"n_estimators": 3},
    "MLPClassifier": {"max_iter": 20},
    "MLPRegressor": {"max_iter": 20},
    "LogisticRegressionCV": {"Cs": 3, "use_legacy_attributes": False, "l1_ratios": (0.0,), "scoring": "accuracy"},
}
#: (name, kind, what, words)
Difference = tuple[str, str, str, str]


def shared() -> list[tuple[str, Any, Any]]:
    """Return (name, scikit-learn's class, ours) of every replaced estimator."""
    return [(name, getattr(import_module(module), name), getattr(surefit, name)) for module, name in report().replaced]


def of_signature(name: str, peer: Any, ours: Any) -> Iterator[Difference]:
    """Yield parameters that we do not have, defaults that differ, and positions that differ."""
    theirs, mine = (inspect.signature(kind.__init__).parameters for kind in (peer, ours))
    for key, parameter in theirs.items():
        if key not in mine:
            yield name, "parameter", key, "is missing"
        elif not _same(parameter.default, mine[key].default):
            yield name, "default", key, f"{mine[key].default!r} instead of {parameter.default!r}"
    by_place = [[k for k, p in each.items() if p.kind is p.POSITIONAL_OR_KEYWORD] for each in (theirs, mine)]
    if by_place[0] != by_place[1][: len(by_place[0])]:
        yield name, "order", "of parameters", f"{by_place[1][1:4]} instead of {by_place[0][1:4]}"


def of_methods(name: str, peer: Any, ours: Any) -> Iterator[Difference]:
    """Yield public methods and properties that we do not have, and arguments of methods that we do not take."""
    for key in dir(peer):
        if key.startswith("_") or key.endswith("_request"):
            continue
        if not hasattr(ours, key) and key not in dir(ours):
            yield name, "method", key, "is missing"
            continue
        theirs, mine = getattr(peer, key, None), getattr(ours, key, None)
        if inspect.isfunction(theirs) and inspect.isfunction(mine):
            for argument in inspect.signature(theirs).parameters:
                known = inspect.signature(mine).parameters
                if argument not in known and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
                    yield name, "argument", f"{key}({argument})", "is missing"


def of_fits(name: str, peer: Any, ours: Any) -> Iterator[Difference]:
    """Yield fitted attributes and responses that we do not have, or that have another type or shape."""
    X, y = _data(peer)
    fitted = [_made(name, kind).fit(X, y) for kind in (peer, ours)]
    for key in sorted(vars(fitted[0])):
        if key.startswith("_") or not key.endswith("_"):
            continue
        if not hasattr(fitted[1], key):
            yield name, "attribute", key, "is missing"
            continue
        theirs, mine = (form(getattr(model, key)) for model in fitted)
        if theirs != mine:
            yield name, "attribute", key, f"{mine} instead of {theirs}"
    for key in RESPONSES:
        if hasattr(fitted[0], key):
            theirs, mine = (form(getattr(model, key)(X)) for model in fitted)
            if theirs != mine:
                yield name, "returns", key, f"{mine} instead of {theirs}"


def form(value: Any) -> str:
    """Return type and shape of a value in words; numbers of both libraries count as one type."""
    if isinstance(value, np.ndarray):
        return f"{_kind(value.dtype)} array {value.shape}"
    if sparse.issparse(value):
        return f"sparse {value.shape}"
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (int, np.integer)):
        return "int"
    if isinstance(value, (float, np.floating)):
        return "float"
    if type(value) in (list, tuple, str, dict, type(None)):  # how many entries a list has depends on the iterations
        return type(value).__name__
    return "object"


def _kind(dtype: np.dtype) -> str:
    return {"f": "float", "i": "int", "u": "int", "b": "bool"}.get(dtype.kind, "object")


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and a == b) or repr(a) == repr(b)


def _made(name: str, kind: Any) -> Any:
    from sklearn.linear_model import Ridge

    known = inspect.signature(kind.__init__).parameters
    options = {key: value for key, value in NEEDED.get(name, {}).items() if key in known}
    if "random_state" in known:
        options["random_state"] = 0
    return kind(Ridge(), **options) if "Search" in name else kind(**options)


def _data(peer: Any) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(40, 3)))
    if "Search" in peer.__name__:
        return X, X[:, 0]
    if peer.__name__.startswith("MultiTask"):
        return X, X[:, :2] + rng.normal(size=(40, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=40) > 0.7).astype(int)
    return X, y if is_classifier(peer()) or not is_regressor(peer()) else X[:, 0] + y
