"""Boosters of XGBoost and LightGBM: trees, parameters and predictions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from surefit.problems.external.registry import derived
from surefit.problems.external.trees import FIELDS, joined


class Booster:
    """Predictor that returns labels or numbers from the scores of a Booster."""

    def __init__(self, scores: Callable[[Any], np.ndarray], classes: int) -> None:
        self._scores = scores
        if classes:
            self.classes_ = np.arange(float(classes))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class, or the predicted number, of each row."""
        found = np.asarray(self._scores(X), dtype=np.float64)
        if not hasattr(self, "classes_"):
            return found
        return self.classes_[found.argmax(axis=1) if found.ndim == 2 else (found > 0.5).astype(int)]


def adapter(model: Any) -> Any:
    """Return a predictor for a Booster; return other models unchanged."""
    library = type(model).__module__.partition(".")[0]
    if type(model).__name__ != "Booster" or library not in ("xgboost", "lightgbm"):
        return model
    if library == "lightgbm":
        found = lightgbm_parameters(model)
        return Booster(model.predict, {"binary": 2, "multiclass": int(found["num_class"])}.get(found["objective"], 0))
    import xgboost

    found = xgboost_parameters(model)
    classes = {"binary:logistic": 2, "multi:softprob": int(float(found["num_class"]))}.get(found["objective"], 0)

    def scores(X: Any) -> Any:
        return model.predict(xgboost.DMatrix(X, feature_names=model.feature_names, feature_types=model.feature_types))

    return Booster(scores, classes)


def xgboost_parameters(model: Any) -> dict[str, str]:
    """Return the parameters of an XGBoost Booster as strings."""
    learner = json.loads(model.save_config())["learner"]
    trees = learner["gradient_booster"]
    return {
        **trees.get("tree_train_param", {}),
        **trees.get("gbtree_model_param", {}),
        **learner["objective"].get("reg_loss_param", {}),
        **learner["learner_model_param"],
        **learner["learner_train_param"],
    }


def lightgbm_parameters(model: Any) -> dict[str, str]:
    """Return the parameters of a LightGBM Booster as strings."""
    text = model.model_to_string()
    lines = text[text.index("\nparameters:") :].splitlines()
    pairs = (line.strip("[]").split(":", 1) for line in lines if line.startswith("[") and ":" in line)
    found = {name.strip(): value.strip() for name, value in pairs}
    found["cat_features"] = str(int('"decision_type": "=="' in json.dumps(model.dump_model()["tree_info"])))
    return found


@derived("xgboost")
def read_xgboost(model: Any) -> dict[str, np.ndarray]:
    """Return the trees of an XGBoost model or Booster, in which values below a threshold go left, and its baseline as a score."""
    booster = model if hasattr(model, "save_raw") else model.get_booster()
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    trees = []
    for tree in learner["gradient_booster"]["model"]["trees"]:
        left = np.asarray(tree["left_children"])
        value = np.asarray(tree["split_conditions"], dtype=np.float32).astype(np.float64)
        trees.append(
            {"feature": np.where(left < 0, -1, tree["split_indices"]), "threshold": np.nextafter(value, -np.inf), "left": left,
             "right": tree["right_children"], "missing_left": tree["default_left"], "value": np.where(left < 0, value, 0.0)}
        )  # fmt: skip
    param = learner["learner_model_param"]
    base = np.atleast_1d(np.asarray(json.loads(param["base_score"].lower()), dtype=np.float64))
    if learner["objective"]["name"] == "binary:logistic":
        base = np.log(base / (1 - base))
    return joined(trees, np.broadcast_to(base, max(int(param["num_class"]), 1)))


@derived("lightgbm")
def read_lightgbm(model: Any) -> dict[str, np.ndarray]:
    """Return the trees of a LightGBM model or Booster; the first round includes the baseline."""
    dump = getattr(model, "booster_", model).dump_model()
    return joined(
        [_flat(info["tree_structure"]) for info in dump["tree_info"]], np.zeros(int(dump["num_tree_per_iteration"]))
    )


def _flat(root: dict[str, Any]) -> dict[str, list[Any]]:
    """Return nested nodes as lists, parents before children."""
    tree: dict[str, list[Any]] = {name: [] for name in FIELDS}

    def add(node: dict[str, Any]) -> int:
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
