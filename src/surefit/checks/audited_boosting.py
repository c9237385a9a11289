r"""Checks boosted trees of other libraries by repeating all rounds: routes, slopes and curvatures, the values of the leaves, the loss.

With slopes g and curvatures h at the scores so far, a leaf must hold :math:`-\nu \sum g / (\kappa \sum h + \lambda)`; the factor
:math:`\kappa` of the curvature is the library's (theory: ``boosted-trees``).
"""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.audited_models import derived, inner
from surefit.checks.base import Data, Finding, checker
from surefit.checks.boosting_trees import _derivatives as derivatives
from surefit.checks.linear_scores import class_codes
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

SMALLEST_LEAF = 1e-9  # share of the largest target below which a leaf is rounding
FIELDS = ("feature", "threshold", "left", "right", "missing_left", "value")


class Rounds(NamedTuple):
    """All rounds, repeated."""

    losses: np.ndarray
    worst: float  # largest distance of a leaf from the step it should be, as a share of the largest leaf


@checker("audit.boosting.leaves")
def check_leaves(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Every leaf holds the step of its rows, up to value (a share of the largest leaf)."""
    found = rounds_of(certificate, data).worst
    ok = bool(found <= claim.value * (1 + 1e-6) + 1e-12)
    return Finding(
        claim.name, claim.value, found, ok, "recomputed", "slopes of every round were summed over every leaf."
    )


@checker("audit.boosting.loss")
def check_loss(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The mean loss on the training rows is value, and rose in no more rounds than stated."""
    losses = rounds_of(certificate, data).losses
    found, rises = float(losses[-1]), rises_of(losses)
    ok = abs(found - claim.value) <= 1e-8 * (1 + abs(found)) and rises <= claim.numbers["rises"]
    return Finding(
        claim.name,
        claim.value,
        found,
        ok,
        "recomputed",
        f"{len(losses) - 1} rounds repeated; the loss rose in {rises}.",
    )


def rises_of(losses: np.ndarray) -> int:
    """Count the rounds in which the loss rose beyond single precision."""
    return int(np.sum(np.diff(losses) > 1e-6 * (1 + np.abs(losses[:-1]))))


def rounds_of(certificate: Certificate, data: Data) -> Rounds:
    """Repeat the fit round by round."""
    if "audit.boosting" not in data.memo:
        read_as, rows = inner(certificate, data)
        data.memo["audit.boosting"] = _repeat(read_as, rows)
    return data.memo["audit.boosting"]


def _repeat(read_as: Certificate, rows: Data) -> Rounds:
    problem, model = read_as.problem, read_as.model
    X = np.asarray(rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X)
    s = np.ones(len(X)) if rows.weights is None else rows.weights
    y = (
        np.asarray(rows.target, dtype=np.float64)
        if problem["classes"] is None
        else class_codes(read_as, rows).astype(float)
    )
    z = np.tile(np.asarray(model["baseline_"], dtype=np.float64)[:, None], (1, len(X)))
    losses, worst, total = [], 0.0, math.fsum(s)
    floor = SMALLEST_LEAF * (
        float(np.max(np.abs(y), initial=0.0)) or 1.0
    )  # trees of no split hold nothing but rounding
    largest = max(float(np.max(np.abs(model["tree_value_"]), initial=0.0)), floor)
    trees = [{name: model[f"tree_{name}_"][a:b] for name in FIELDS} for a, b in pairwise(model["tree_starts_"])]
    if problem["folded"]:
        z = np.tile(_constants(problem, y, s)[:, None], (1, len(X)))
        for k, tree in enumerate(trees[: problem["scores"]]):
            tree["value"] = np.where(tree["feature"] < 0, tree["value"] - z[k, 0], 0.0)
        largest = max(floor, *(float(np.max(np.abs(tree["value"]), initial=0.0)) for tree in trees))
    for first in range(0, len(trees), problem["scores"]):
        loss, g, h = derivatives(problem, y, z)
        losses.append(math.fsum(s * loss) / total)
        for k, tree in enumerate(trees[first : first + problem["scores"]]):
            leaf = route(tree, X, problem["strict"])
            size = len(tree["feature"])
            G, H = (np.bincount(leaf, weights=s * v[k], minlength=size) for v in (g, h))
            own = (tree["feature"] < 0) & (np.bincount(leaf, weights=s, minlength=size) > 0)
            step = -problem["rate"] * G[own] / (problem["curvature"] * H[own] + problem["l2"] + np.finfo(float).tiny)
            worst = max(worst, float(np.max(np.abs(tree["value"][own] - step), initial=0.0)) / largest)
            z[k] += tree["value"][leaf]
    losses.append(math.fsum(s * derivatives(problem, y, z)[0]) / total)
    return Rounds(np.array(losses), worst)


def _constants(problem: dict, y: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return the best constant scores: LightGBM starts from them and hides them in the trees of its first round."""
    if problem["loss"] == "squared_error":
        return np.array([s @ y / math.fsum(s)])
    shares = np.bincount(y.astype(int), weights=s) / math.fsum(s)
    return np.log(shares) if problem["scores"] > 1 else np.log(shares[1:] / shares[:1])


def route(tree: dict[str, Any], X: np.ndarray, strict: bool) -> np.ndarray:
    """Leaf of every row; ``strict``: values below the threshold go left, else those up to it."""
    node, rows = np.zeros(len(X), dtype=np.int64), np.arange(len(X))
    while len(rows):
        at = node[rows]
        inside = tree["feature"][at] >= 0
        rows, at = rows[inside], at[inside]
        x, t = X[rows, tree["feature"][at]], tree["threshold"][at]
        left = np.where(np.isnan(x), tree["missing_left"][at], x < t if strict else x <= t)
        node[rows] = np.where(left, tree["left"][at], tree["right"][at])
    return node


def _joined(trees: list[dict[str, Any]], baseline) -> dict[str, np.ndarray]:
    starts = np.cumsum([0, *(len(tree["feature"]) for tree in trees)])
    kinds = (np.int64, np.float64, np.int64, np.int64, bool, np.float64)
    joined = {
        f"tree_{name}_": np.concatenate([np.asarray(tree[name], dtype=kind) for tree in trees])
        for name, kind in zip(FIELDS, kinds, strict=True)
    }
    return {
        **joined,
        "tree_starts_": starts.astype(np.int64),
        "baseline_": np.atleast_1d(np.asarray(baseline, dtype=np.float64)),
    }


@derived("gradient boosting")
def read_gradient_boosting(model) -> dict[str, np.ndarray]:
    """Trees of scikit-learn's GradientBoostingClassifier and GradientBoostingRegressor, multiplied by the learning rate."""
    trees = []
    for tree in (member.tree_ for member in model.estimators_.ravel()):
        leaf = tree.children_left < 0
        trees.append(
            {"feature": np.where(leaf, -1, tree.feature), "threshold": tree.threshold, "left": tree.children_left,
             "right": tree.children_right, "missing_left": tree.missing_go_to_left,
             "value": np.where(leaf, model.learning_rate * tree.value[:, 0, 0], 0.0)}
        )  # fmt: skip
    return _joined(trees, model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32)).ravel())


@derived("histogram boosting")
def read_histogram_boosting(model) -> dict[str, np.ndarray]:
    """Trees of scikit-learn's HistGradientBoostingClassifier and HistGradientBoostingRegressor."""
    trees = []
    for nodes in (predictor.nodes for stage in model._predictors for predictor in stage):
        leaf = nodes["is_leaf"].astype(bool)
        trees.append(
            {"feature": np.where(leaf, -1, nodes["feature_idx"]), "threshold": nodes["num_threshold"], "left": nodes["left"],
             "right": nodes["right"], "missing_left": nodes["missing_go_to_left"], "value": np.where(leaf, nodes["value"], 0.0)}
        )  # fmt: skip
    return _joined(trees, np.ravel(model._baseline_prediction))


@derived("xgboost")
def read_xgboost(model) -> dict[str, np.ndarray]:
    """Trees of XGBoost, wrapped or not; the baseline is kept as a probability there for two classes."""
    booster = model if hasattr(model, "save_raw") else model.get_booster()
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    trees = []
    for tree in learner["gradient_booster"]["model"]["trees"]:
        left = np.asarray(tree["left_children"])
        value = np.asarray(tree["split_conditions"], dtype=np.float32).astype(np.float64)
        trees.append(
            {"feature": np.where(left < 0, -1, tree["split_indices"]), "threshold": value, "left": left,
             "right": tree["right_children"], "missing_left": tree["default_left"], "value": np.where(left < 0, value, 0.0)}
        )  # fmt: skip
    param = learner["learner_model_param"]
    base = np.atleast_1d(np.asarray(json.loads(param["base_score"].lower()), dtype=np.float64))
    if learner["objective"]["name"] == "binary:logistic":
        base = np.log(base / (1 - base))
    return _joined(trees, np.broadcast_to(base, max(int(param["num_class"]), 1)))


@derived("lightgbm")
def read_lightgbm(model) -> dict[str, np.ndarray]:
    """Trees of LightGBM, wrapped or not; its first round carries the baseline too."""
    dump = getattr(model, "booster_", model).dump_model()
    return _joined(
        [_flat(info["tree_structure"]) for info in dump["tree_info"]], np.zeros(int(dump["num_tree_per_iteration"]))
    )


def _flat(root: dict) -> dict[str, list]:
    """Return nested nodes as lists, parents before children."""
    tree: dict[str, list] = {name: [] for name in FIELDS}

    def add(node: dict) -> int:
        here, leaf = len(tree["feature"]), "leaf_value" in node
        cut = (-1, 0.0, False) if leaf else (node["split_feature"], node["threshold"], node["default_left"])
        row = (cut[0], cut[1], 0, 0, cut[2], node["leaf_value"] if leaf else 0.0)
        for name, value in zip(FIELDS, row, strict=True):
            tree[name].append(value)
        if not leaf:
            tree["left"][here], tree["right"][here] = add(node["left_child"]), add(node["right_child"])
        return here

    add(root)
    return tree
