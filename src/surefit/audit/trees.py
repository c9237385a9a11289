"""Readers for scikit-learn's decision trees: splits, impurities, leaf values and stopping rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from surefit.audit.labels import labels_of
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.audit.stating import asking
from surefit.core.errors import InvalidData
from surefit.core.sample import Data

NO_BOUND = 10**9  # used for a stopping rule that is not set


@reader("sklearn", "DecisionTreeClassifier", "ExtraTreeClassifier", "DecisionTreeRegressor", "ExtraTreeRegressor")
def read_tree_model(model, data: Data, tol: float) -> Reading:
    """Read a tree: each split is compared with all cuts of its node; impurities, leaves and limits are checked."""
    problem = tree_problem(model, data)
    random = model.splitter != "best" or model.max_features_ < data.X.shape[1]
    imposed = problem["monotone"] is not None or model.criterion == "friedman_mse"

    splits = "tree.random_splits" if random else "tree.imposed_splits" if imposed else "tree.splits"
    return Reading("C", problem, (), asking("tree.accounting", splits, "tree.leaves", "tree.limits"), derived="tree")


def tree_problem(model, data: Data) -> dict[str, Any]:
    """Return the parameters with which a tree was grown, in the form that the checker reads."""
    attribute(model, "tree_")
    y = target_of(model, data)
    if model.n_outputs_ != 1:
        raise InvalidData(
            f"certify: this {type(model).__name__} has {model.n_outputs_} targets; certify one target at a time."
        )
    n, weights = data.X.shape[0], None
    classifier = hasattr(model, "classes_")
    if classifier:
        labels_of(model, data, None)
        if model.class_weight is not None:
            classes = attribute(model, "classes_")
            if model.class_weight == "balanced_subsample":
                raise refuse(model, "class_weight", "None, 'balanced' or a dictionary")
            weights = compute_class_weight(model.class_weight, classes=classes, y=np.asarray(y).astype(classes.dtype))
    total = float(n) if data.weights is None else math.fsum(data.weights)
    least = _count(model.min_samples_leaf, n)
    directions = getattr(model, "monotonic_cst", None)
    criterion = {"log_loss": "entropy", "friedman_mse": "squared_error"}.get(model.criterion, model.criterion)
    return {
        "task": "classification" if classifier else "regression",
        "criterion": criterion,
        "class_weights": None if weights is None else [float(w) for w in weights],
        "categorical": [],
        "multiway": False,
        "single_precision": True,
        "min_samples_leaf": least,
        "min_samples_split": _count(model.min_samples_split, n),
        "min_weight_leaf": float(model.min_weight_fraction_leaf) * total if weights is None else 0.0,
        "max_depth": NO_BOUND if model.max_depth is None else int(model.max_depth),
        "max_leaf_nodes": -1 if model.max_leaf_nodes is None else int(model.max_leaf_nodes),
        "min_gain": 0.0,
        "min_impurity_decrease": float(model.min_impurity_decrease),
        "monotone": None if directions is None else [int(d) for d in directions],
        "n_codes": 0,
        "objective": "impurity of the leaves; every split is chosen for its own node",
    }


def _count(rule: float, n: int) -> int:
    return int(rule) if isinstance(rule, (int, np.integer)) else math.ceil(rule * n)
