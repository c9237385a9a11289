"""Readers for scikit-learn's trees and ensembles of trees, as arrays of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.problems.external.registry import derived

LEAF, THRESHOLD = 0, 1  # kinds of nodes
FIELDS = ("feature", "threshold", "left", "right", "missing_left", "value")  # fields of the nodes of an ensemble


@derived("tree")
def read_tree(model: Any) -> dict[str, np.ndarray]:
    """Return the nodes of a scikit-learn tree under surefit's names."""
    tree = model.tree_
    inner_node = tree.children_left >= 0
    value = np.asarray(tree.value, dtype=np.float64).reshape(tree.node_count, -1)
    missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
    return {
        "node_kind_": np.where(inner_node, THRESHOLD, LEAF),
        "node_feature_": np.where(inner_node, tree.feature, 0).astype(np.int64),
        "node_threshold_": np.where(inner_node, tree.threshold, 0.0),
        "node_left_": np.where(inner_node, tree.children_left, 0).astype(np.int64),
        "node_right_": np.where(inner_node, tree.children_right, 0).astype(np.int64),
        "node_missing_left_": np.asarray(missing).astype(bool),
        "node_start_": np.zeros(tree.node_count, dtype=np.int64),
        "node_words_": np.zeros(0, dtype=np.uint64),
        "node_branches_": np.zeros(0, dtype=np.int64),
        "node_value_": value,
    }


def nodes_of(trees: list[Any]) -> dict[str, np.ndarray]:
    """Return the concatenated nodes of several scikit-learn trees, and the index at which each tree starts."""
    leaf = np.concatenate([tree.children_left < 0 for tree in trees])
    columns = {
        "feature": np.where(leaf, -1, np.concatenate([tree.feature for tree in trees])),
        "threshold": np.concatenate([tree.threshold for tree in trees]),
        "left": np.concatenate([tree.children_left for tree in trees]),
        "right": np.concatenate([tree.children_right for tree in trees]),
        "missing_left": np.concatenate([tree.missing_go_to_left for tree in trees]).astype(bool),
        "value": np.concatenate([tree.value[:, 0, :] for tree in trees]),
    }
    starts = np.cumsum([0, *(tree.node_count for tree in trees)]).astype(np.int64)
    return {**{f"tree_{name}_": columns[name] for name in FIELDS}, "tree_starts_": starts}


@derived("forest")
def read_forest(model: Any) -> dict[str, np.ndarray]:
    """Return the nodes of all trees, and the rows drawn for each tree."""
    drawn = np.array([np.asarray(rows, dtype=np.int64) for rows in model.estimators_samples_])
    return {**nodes_of([member.tree_ for member in model.estimators_]), "drawn_": drawn}


@derived("adaboost")
def read_adaboost(model: Any) -> dict[str, np.ndarray]:
    """Return the nodes of the trees, and the errors and weights of the boosting rounds."""
    rounds = len(model.estimators_)
    kept = {
        name: np.asarray(getattr(model, name), dtype=np.float64)[:rounds]
        for name in ("estimator_weights_", "estimator_errors_")
    }
    return {**nodes_of([member.tree_ for member in model.estimators_]), **kept}


def joined(trees: list[dict[str, Any]], baseline: Any) -> dict[str, np.ndarray]:
    """Return the concatenated nodes of all trees, and the initial scores."""
    starts = np.cumsum([0, *(len(tree["feature"]) for tree in trees)])
    kinds = (np.int64, np.float64, np.int64, np.int64, bool, np.float64)
    joined = {
        f"tree_{name}_": np.concatenate([np.asarray(tree[name], dtype=kind) for tree in trees])
        for name, kind in zip(FIELDS, kinds, strict=True)
    }
    joined["tree_value_"] = joined["tree_value_"].reshape(-1, 1)
    return {
        **joined,
        "tree_starts_": starts.astype(np.int64),
        "baseline_": np.atleast_1d(np.asarray(baseline, dtype=np.float64)),
    }


@derived("gradient boosting")
def read_gradient_boosting(model: Any) -> dict[str, np.ndarray]:
    """Return the trees of a gradient boosting model, with values multiplied by the learning rate."""
    trees = []
    for tree in (member.tree_ for member in model.estimators_.ravel()):
        leaf = tree.children_left < 0
        trees.append(
            {"feature": np.where(leaf, -1, tree.feature), "threshold": tree.threshold, "left": tree.children_left,
             "right": tree.children_right, "missing_left": tree.missing_go_to_left,
             "value": np.where(leaf, model.learning_rate * tree.value[:, 0, 0], 0.0)}
        )  # fmt: skip
    return joined(trees, model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32)).ravel())


@derived("histogram boosting")
def read_histogram_boosting(model: Any) -> dict[str, np.ndarray]:
    """Return the trees of a histogram-based gradient boosting model."""
    trees = []
    for nodes in (predictor.nodes for stage in model._predictors for predictor in stage):
        leaf = nodes["is_leaf"].astype(bool)
        trees.append(
            {"feature": np.where(leaf, -1, nodes["feature_idx"]), "threshold": nodes["num_threshold"], "left": nodes["left"],
             "right": nodes["right"], "missing_left": nodes["missing_go_to_left"], "value": np.where(leaf, nodes["value"], 0.0)}
        )  # fmt: skip
    return joined(trees, np.ravel(model._baseline_prediction))
