"""Every public estimator with quick settings, and how to feed it."""

import inspect
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import get_tags

import surefit

#: Settings that keep a fit on a few dozen rows quick; everything else is the default.
QUICK: dict[str, dict[str, Any]] = {
    "AdaBoostClassifier": {"n_estimators": 5},
    "AdaBoostRegressor": {"n_estimators": 3},
    "BaggingClassifier": {"n_estimators": 3},
    "BaggingRegressor": {"n_estimators": 3},
    "GaussianProcessClassifier": {"optimizer": None},
    "GaussianProcessRegressor": {"optimizer": None, "alpha": 1e-2},
    "HistGradientBoostingClassifier": {"max_iter": 5},
    "HistGradientBoostingRegressor": {"max_iter": 5},
    "MLPClassifier": {"hidden_layer_sizes": (4,), "max_iter": 20},
    "MLPRegressor": {"hidden_layer_sizes": (4,), "max_iter": 20},
    "ExtraTreesClassifier": {"n_estimators": 4},
    "ExtraTreesRegressor": {"n_estimators": 4},
    "RandomForestClassifier": {"n_estimators": 4},
    "RandomForestRegressor": {"n_estimators": 4},
    "RandomizedSearchCV": {"n_iter": 2},
}


class Case(NamedTuple):
    """An estimator and the arguments of its ``fit``."""

    model: Any
    X: Any
    y: np.ndarray | None
    weights: np.ndarray | None


def estimators() -> list[type]:
    """Public classes with ``fit``."""
    classes = (getattr(surefit, name) for name in surefit.__all__)
    return [cls for cls in classes if inspect.isclass(cls) and issubclass(cls, BaseEstimator) and hasattr(cls, "fit")]


def make(cls: type) -> Any:
    """Return an estimator with quick settings and a fixed seed."""
    settings = dict(QUICK.get(cls.__name__, {}))
    if "random_state" in inspect.signature(cls.__init__).parameters:
        settings["random_state"] = 0
    return cls(**settings)


def case(cls: type, data: Any) -> Case | None:
    """Return how to fit ``cls`` on hard data, or None if it cannot be fed with them at all."""
    model = make(cls)
    tags = get_tags(model)
    X, weights = data.X, data.weights
    if not tags.input_tags.two_d_array:  # one variable
        X = np.asarray(X.toarray() if sparse.issparse(X) else X)[:, 0]
    if tags.input_tags.positive_only:  # counts
        X = abs(X)
    if sparse.issparse(X) and not tags.input_tags.sparse:
        return None
    if weights is not None and "sample_weight" not in inspect.signature(model.fit).parameters:
        return None
    needs_labels = is_classifier(model) or tags.estimator_type == "classifier"
    y = data.labels if needs_labels else data.y
    if needs_labels and len(np.unique(y)) > 2 and not tags.classifier_tags.multi_class:
        return None
    if not tags.target_tags.single_output:
        y = np.column_stack([y, np.roll(y, 1)])
    if tags.target_tags.positive_only:  # counts and amounts
        y = 1.0 + np.abs(y)
    if tags.estimator_type in ("clusterer", "density_estimator") or not tags.target_tags.required:
        y = None if "y" not in inspect.signature(model.fit).parameters or not tags.target_tags.required else y
    return Case(model, X, y, weights)


def fitted(found: Case) -> Any:
    """Fit; a refusal in one sentence (ValueError) returns None."""
    arguments = (found.X,) if found.y is None else (found.X, found.y)
    options = {} if found.weights is None else {"sample_weight": found.weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return found.model.fit(*arguments, **options)
        except ValueError as error:
            assert str(error).strip(), "an error without a sentence"
            return None


def verify(certificate: Any, found: Case) -> Any:
    """Verify with the data of the fit."""
    options = {} if found.weights is None else {"sample_weight": found.weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return certificate.verify(found.X, found.y, **options)
