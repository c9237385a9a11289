"""Conversion of fitted estimators to scikit-learn estimators with the same predictions."""

from __future__ import annotations

import copy
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch
from sklearn.utils.discovery import all_estimators
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidData

#: (model of surefit, unfitted twin with its parameters) -> None; sets what predictions of the twin need beyond public attributes
Filler = Callable[[Any, Any], None]

FILLERS: dict[str, Filler] = {}

#: Model -> twin, for estimators without a namesake that other estimators of scikit-learn express.
MAKERS: dict[str, Callable[[Any], Any]] = {}

#: Why no estimator of scikit-learn expresses the predictions of these.
REASONS = {
    "BayesianLogisticRegression": "its probabilities are means over a posterior distribution",
    "CircleBasis": "scikit-learn has no such features",
    "ExhaustiveClustering": "it predicts nothing",
    "ForwardStagewise": "scikit-learn has no sum of one-column functions",
    "FourierBasis": "scikit-learn has no such features",
    "HingeBasis": "scikit-learn has no such features",
    "HistogramClassifier": "scikit-learn has no classifier by cells",
    "PartitionClassifier": "scikit-learn has no classifier by cells",
    "PeriodicBasis": "scikit-learn has no such features",
    "RadialBasis": "scikit-learn has no such features",
    "Regressogram": "scikit-learn has no regressor by cells",
    "SmoothingSpline": "scikit-learn's splines have few knots",
    "SparseGaussianProcessRegressor": "scikit-learn has no processes with inducing rows",
    "VotedPerceptron": "scikit-learn has no vote of all hyperplanes of a run",
    "WienerProcessRegressor": "scikit-learn has no kernel of the Wiener process",
}

#: Estimators of surefit without a namesake whose predictions another class of scikit-learn makes.
OTHER_NAMES = {
    "AveragedPerceptron": "Perceptron",
    "BatchPerceptron": "Perceptron",
    "DecisionStump": "DecisionTreeClassifier",
    "LeastAbsoluteDeviations": "QuantileRegressor",
    "MarginPerceptron": "Perceptron",
    "VariableIncrementPerceptron": "Perceptron",
}
_MODULES = ("boosting", "calibration", "kernels", "models", "relatives", "trees")


def filler(*names: str) -> Callable[[Filler], Filler]:
    """Register a function that sets additional attributes of the converted estimators."""

    def register(function: Filler) -> Filler:
        FILLERS.update(dict.fromkeys(names, function))
        return function

    return register


def to_sklearn(model: Any) -> Any:
    """Return a fitted scikit-learn estimator that makes the predictions of ``model``.

    The result has the parameters that both classes share and the fitted attributes of ``model``. Nothing is fitted
    again, except that nearest-neighbor searches are rebuilt from the stored rows. Pipelines, searches and ensembles are
    converted with their members. Models without a scikit-learn class of the same name become estimators with the same
    predictions, if there are any: a kernel expansion becomes a pipeline of the kernel and a linear model, and a
    certified model becomes its inner model. The result depends on scikit-learn only, so it works with libraries that
    read scikit-learn models (SHAP, treelite, skl2onnx).

    Scikit-learn's trees and forests round X to single precision: predictions agree for rows whose values do not round across a threshold.

    Parameters
    ----------
    model : estimator
        A fitted estimator of surefit, or a scikit-learn meta-estimator around such estimators.

    Returns
    -------
    estimator
        The converted estimator. A model without estimators of surefit is returned unchanged.

    Raises
    ------
    InvalidData
        If scikit-learn has no equivalent estimator, or cannot represent the fitted model, for example a tree with
        categorical splits.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import surefit
    >>> X, y = load_iris(return_X_y=True)
    >>> model = surefit.RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> twin = surefit.to_sklearn(model)
    >>> type(twin).__module__.partition(".")[0], bool((twin.predict(X) == model.predict(X)).all())
    ('sklearn', True)
    """
    if not isinstance(model, BaseEstimator):
        raise InvalidData(f"to_sklearn: expected a fitted estimator; got an object of type {type(model).__name__}.")
    if not is_ours(model):
        return converted(model)
    check_is_fitted(model)
    kind, name = _namesake(type(model)), type(model).__name__
    for module in _MODULES:
        import_module(f"surefit.export.{module}")
    if name in MAKERS:
        return MAKERS[name](model)
    if kind is None:
        raise cannot(model, REASONS.get(name, "scikit-learn has no such estimator"))
    shared = set(kind._get_param_names()) & set(model.get_params(deep=False))
    twin = kind(**_arguments(kind, {key: converted(getattr(model, key)) for key in shared}))
    for key, value in public_state(model).items():
        set_if_possible(twin, key, value)
    if name in FILLERS:
        FILLERS[name](model, twin)
    return twin


def cannot(model: Any, reason: str) -> InvalidData:
    """Return the error that states why a model cannot be converted."""
    return InvalidData(f"to_sklearn: this {type(model).__name__} cannot be expressed in scikit-learn: {reason}.")


def is_ours(value: Any) -> bool:
    """Whether an object is an instance of a class of surefit."""
    return type(value).__module__.partition(".")[0] == "surefit"


def public_state(model: Any) -> dict[str, Any]:
    """Return the fitted attributes that scikit-learn can store: numbers, arrays, and converted estimators."""
    names = (name for name in vars(model) if name.endswith("_") and not name.startswith("_"))
    state = {name: converted(vars(model)[name]) for name in names}
    return {name: value for name, value in state.items() if not _holds_ours(value)}


def set_if_possible(twin: Any, name: str, value: Any) -> None:
    """Set an attribute, unless it is a read-only property."""
    if not isinstance(getattr(type(twin), name, None), property):
        setattr(twin, name, np.float64(value) if type(value) is float else value)  # readers expect NumPy scalars


def converted(value: Any) -> Any:
    """Return ``value`` with estimators of surefit converted, including those in containers and meta-estimators."""
    if isinstance(value, type):
        return value
    if isinstance(value, BaseEstimator) and hasattr(value, "fit"):  # kernels also have parameters, but no fit
        if is_ours(value):
            return to_sklearn(value) if _fitted(value) else _unfitted(value)
        parts = {name: converted(part) for name, part in vars(value).items()}
        if all(part is vars(value)[name] for name, part in parts.items()):
            return value
        twin = copy.copy(value)
        vars(twin).update(parts)
        return twin
    if isinstance(value, (dict, Bunch)):
        pairs = {key: converted(part) for key, part in value.items()}
        same = all(part is value[key] for key, part in pairs.items())
        return value if same else Bunch(**pairs) if isinstance(value, Bunch) else pairs
    if type(value) in (list, tuple):
        items = [converted(item) for item in value]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else type(value)(items)
    return value


def _fitted(model: Any) -> bool:
    return any(name.endswith("_") and not name.startswith("__") for name in vars(model))


def _unfitted(model: Any) -> Any:
    kind = _namesake(type(model))
    if kind is None:
        raise cannot(model, "scikit-learn has no such estimator")
    shared = set(kind._get_param_names()) & set(model.get_params(deep=False))
    return kind(**_arguments(kind, {key: converted(getattr(model, key)) for key in shared}))


def _arguments(kind: type, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments without objects of surefit, such as kernels and losses, which are converted separately."""
    return {name: value for name, value in given.items() if not _holds_ours(value)}


def _holds_ours(value: Any) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else (value,)
    return is_ours(value) or any(map(is_ours, parts))


def _namesake(kind: type) -> Any:
    name = OTHER_NAMES.get(kind.__name__, kind.__name__)
    return dict(all_estimators()).get(name)
