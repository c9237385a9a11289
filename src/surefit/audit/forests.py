"""Readers for scikit-learn's random forests and extra-trees."""

from __future__ import annotations

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from surefit.audit.free_bounds import free_of_forest
from surefit.audit.labels import as_classes, labels_of
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.audit.stating import asking
from surefit.core.errors import InvalidData
from surefit.core.sample import Data


@reader("sklearn", "RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor")
def read_forest(model, data: Data, tol: float) -> Reading:
    """Read a forest: the leaves of each tree contain the mean, or the class frequencies, of the rows it drew."""
    attribute(model, "estimators_")
    target_of(model, data)
    if model.criterion in ("absolute_error", "poisson"):
        raise refuse(model, "criterion", "one whose leaves contain means")
    if model.n_outputs_ != 1:
        raise InvalidData(f"certify: this {type(model).__name__} has several targets; certify one target at a time.")
    classes, weights = None, None
    if hasattr(model, "classes_"):
        classes = labels_of(model, data, None)[0]
        if model.class_weight == "balanced_subsample" and model.bootstrap:
            raise refuse(model, "class_weight", "None, 'balanced' or a dictionary")
        if model.class_weight is not None:
            weights = _class_weights(model, data)
    weighted = data.weights is not None or weights is not None
    if weighted and not hasattr(model, "_sample_weight"):
        raise InvalidData(
            "certify: this version of scikit-learn draws rows without their weights; certify a forest without weights."
        )
    problem = {
        "classes": classes,
        "single_precision": True,
        "drawn_by_weight": bool(model.bootstrap),
        "class_weights": None if weights is None else [float(w) for w in weights],
        "objective": "mean of trees, each grown on rows drawn for it",
    }

    return Reading("C", problem, (), asking("forest.leaves", "forest.splits"), derived="forest", free=free_of_forest)


def _class_weights(model, data: Data) -> np.ndarray:
    classes = attribute(model, "classes_")
    y = as_classes(target_of(model, data), classes)
    kind = "balanced" if model.class_weight == "balanced_subsample" else model.class_weight
    return compute_class_weight(kind, classes=classes, y=y, sample_weight=data.weights)
