"""Trees, forests and ensembles of trees in scikit-learn's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import NODE_DTYPE, Tree

from surefit.export.twins import cannot, filler
from surefit.solvers.trees.flat import LEAF, THRESHOLD, FlatTree

_CRITERIA = {"misclassification": "gini"}  # scikit-learn lacks this criterion, which is used only for growing


@filler("DecisionTreeClassifier", "DecisionTreeRegressor")
def fill_tree(model: Any, twin: Any) -> None:
    """Set ``tree_`` and the attributes that describe it."""
    if not np.isin(model.tree_.kind, (LEAF, THRESHOLD)).all():
        raise cannot(model, "scikit-learn's trees have no splits by categories; encode these columns and fit again")
    twin.criterion = _CRITERIA.get(model.criterion, model.criterion)
    twin.n_outputs_ = getattr(model, "n_outputs_", 1)
    twin.max_features_ = model.max_features_ if hasattr(model, "max_features_") else model.n_features_in_
    twin.tree_ = compiled_tree(model.tree_, model.n_features_in_)
    _set_classes(model, twin)


def compiled_tree(flat: FlatTree, n_features: int) -> Tree:
    """Return the tree as scikit-learn's compiled object.

    Scikit-learn compares values rounded to single precision. Thresholds are rounded as well. Rounding is monotone, so
    every value up to a threshold still goes left.
    """
    nodes = np.zeros(flat.node_count, dtype=NODE_DTYPE)
    leaf = flat.kind == LEAF
    nodes["left_child"], nodes["right_child"] = flat.left, flat.right
    nodes["feature"] = flat.feature
    with np.errstate(over="ignore"):
        nodes["threshold"] = np.where(leaf, -2.0, flat.threshold.astype(np.float32))
    nodes["impurity"], nodes["weighted_n_node_samples"] = flat.impurity, flat.weight
    nodes["n_node_samples"] = flat.n_rows
    nodes["missing_go_to_left"] = flat.missing_left & ~leaf
    values = np.ascontiguousarray(flat.value)
    tree = Tree(n_features, flat.n_classes.astype(np.intp), values.shape[1])
    state = {"max_depth": flat.max_depth, "node_count": flat.node_count, "nodes": nodes, "values": values}
    tree.__setstate__(state)
    return tree


@filler("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor")
def fill_forest(model: Any, twin: Any) -> None:
    """Set the members; those of a classifier predict class indices, as in scikit-learn."""
    if model.categories_:
        raise cannot(model, "scikit-learn's trees have no splits by categories; encode these columns and fit again")
    twin.criterion = _CRITERIA.get(model.criterion, model.criterion)
    twin.n_outputs_ = getattr(model, "n_outputs_", 1)
    twin.estimator_ = type(twin)().estimator
    _set_classes(model, twin)
    twin.estimators_ = [_member(twin, tree, model.n_features_in_) for tree in model.trees_]


def _set_classes(model: Any, twin: Any) -> None:
    """Set the labels of a classifier, a list of arrays for several targets."""
    if hasattr(model, "classes_"):
        twin.classes_, twin.n_classes_ = model.classes_, model.n_classes_


def _member(forest: Any, flat: FlatTree, n_features: int) -> Any:
    kind = type(forest.estimator_)
    member = kind(criterion=forest.criterion)
    member.n_features_in_, member.n_outputs_, member.max_features_ = n_features, forest.n_outputs_, n_features
    member.tree_ = compiled_tree(flat, n_features)
    if hasattr(forest, "classes_"):
        member.n_classes_ = forest.n_classes_
        ranges = [np.arange(count, dtype=np.float64) for count in np.atleast_1d(forest.n_classes_)]
        member.classes_ = ranges if isinstance(forest.classes_, list) else ranges[0]
    return member


@filler("DecisionStump")
def fill_stump(model: Any, twin: Any) -> None:
    """Set a tree of one split; a stump without a split is a leaf."""
    K = len(model.classes_)
    split = bool(np.isfinite(model.threshold_))
    nodes = np.zeros(3 if split else 1, dtype=NODE_DTYPE)
    nodes["left_child"], nodes["right_child"], nodes["feature"], nodes["threshold"] = -1, -1, -2, -2.0
    values = np.zeros((len(nodes), 1, K))
    values[-1, 0, model.right_] = values[0, 0, model.left_] = 1.0
    if split:
        nodes["left_child"][0], nodes["right_child"][0] = 1, 2
        nodes["feature"][0], nodes["threshold"][0] = model.feature_, np.float32(model.threshold_)
        values[0] = 0.5 * (np.eye(K)[model.left_] + np.eye(K)[model.right_])
        values[1, 0, model.left_] = 1.0
    elif model.threshold_ > 0:  # all rows are on the left
        values[0] = np.eye(K)[model.left_]
    else:
        values[0] = np.eye(K)[model.right_]
    twin.n_classes_, twin.n_outputs_, twin.max_features_ = K, 1, model.n_features_in_
    twin.tree_ = Tree(model.n_features_in_, np.array([K], dtype=np.intp), 1)
    twin.tree_.__setstate__({"max_depth": int(split), "node_count": len(nodes), "nodes": nodes, "values": values})


@filler("AdaBoostClassifier", "BaggingClassifier", "BaggingRegressor", "AdaBoostRegressor")
def fill_ensemble(model: Any, twin: Any) -> None:
    """Set the unfitted base estimator of the members."""
    default = DecisionTreeRegressor if "Regressor" in type(model).__name__ else DecisionTreeClassifier
    twin.estimator_ = twin.estimator if twin.estimator is not None else default()
