"""Problems of forests and bagging: number of draws, columns per tree, and class weights."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from surefit.core.outputs import read_classes
from surefit.core.partitioned import Part, PartitionedRows, weights_in
from surefit.problems.base import Given, problem_of
from surefit.problems.labels import class_factors
from surefit.problems.trees import categorical_columns

#: Parameters that stop the growth of a tree.
STOPPING = (
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_leaf_nodes",
    "min_impurity_decrease",
)


@problem_of("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor")
def forest_problem(given: Given) -> dict[str, Any]:
    """Return the number of draws, the columns, the criterion and the class weights of the trees."""
    params, d = given.params, given.X.shape[1]
    asked = params.get("class_weight")
    if isinstance(asked, str) and asked == "balanced_subsample" and not params["bootstrap"]:
        asked = "balanced"
    by_tree = isinstance(asked, str) and asked == "balanced_subsample"
    return {
        **_draws(given),
        "classes": n_classes(given) if "class_weight" in params else 0,
        "criterion": params["criterion"],
        "class_weights": asked if by_tree else class_factors(asked, given.y, given.weights),
        "categorical": categorical_columns(given),
        "columns_of_a_tree": n_columns(params["max_features"], d) if params["subset"] == "tree" else 0,
        **(_by_index(params, d) if given.chosen.get("drawn_by_index_") else {}),
    }


def _by_index(params: Any, d: int) -> dict[str, Any]:
    """Return the entries of the problem for draws by index: number of columns per split, and stopping rules."""
    return {
        "drawn_by_index": True,
        "columns_of_a_split": n_columns(params["max_features"], d) if params["subset"] == "split" else d,
        "stopping": {name: params[name] for name in STOPPING},
    }


@problem_of("BaggingClassifier")
def bagged_classes(given: Given) -> dict[str, Any]:
    """Return the number of draws and of classes of a bagged classifier."""
    return {**_draws(given), "classes": n_classes(given), "class_weights": None}


@problem_of("BaggingRegressor")
def bagged_numbers(given: Given) -> dict[str, Any]:
    """Return the number of draws of a bagged regressor."""
    return {**_draws(given), "classes": 0, "class_weights": None}


@problem_of("AdaBoostRegressor")
def boosted_medians(given: Given) -> dict[str, Any]:
    """Return the loss and the learning rate of AdaBoost.R2."""
    return {"loss": given.params["loss"], "learning_rate": float(given.params["learning_rate"])}


def n_classes(given: Given) -> Any:
    """Return the number of classes, as a list for several targets; 0 without a target."""
    return read_classes(np.asarray(given.y))[2] if given.y is not None else 0


def _draws(given: Given) -> dict[str, Any]:
    params, bootstrap = given.params, bool(given.params["bootstrap"])
    count = 0
    if bootstrap and isinstance(given.X, PartitionedRows):
        count = _share(_total_in_partitions(given.X), params["max_samples"])
    elif bootstrap:
        count = n_draws(given.weights, given.X.shape[0], params["max_samples"])
    return {"bootstrap": bootstrap, "draws": count, "delta": float(params["delta"])}


def n_draws(weights: np.ndarray | None, n: int, max_samples: Any) -> int:
    """Return the number of draws: the total of integer weights, otherwise the number of non-zero weights; or ``max_samples``."""
    if weights is None:
        total = n
    elif np.all(weights == np.rint(weights)):
        total = int(math.fsum(weights))
    else:
        total = int(np.count_nonzero(weights))
    return _share(total, max_samples)


def _share(total: int, max_samples: Any) -> int:
    if max_samples is None:
        return total
    if isinstance(max_samples, float | np.floating):
        return max(1, round(total * float(max_samples)))
    return int(max_samples)


def _total_in_partitions(rows: PartitionedRows) -> int:
    """Return the total weight if all weights are integers, otherwise the number of rows of nonzero weight."""
    if not rows.weighted:
        return rows.shape[0]
    count, fractions = rows.map_reduce(_counted)
    return count if fractions else int(rows.total_weight)


def _counted(part: Part) -> tuple[int, int]:
    weights = weights_in(part)
    return int(np.count_nonzero(weights)), int(np.count_nonzero(weights != np.rint(weights)))


def n_columns(max_features: Any, d: int) -> int:
    """Return the number of columns that ``max_features`` stands for."""
    if max_features is None:
        return d
    if isinstance(max_features, str):
        return max(1, int(math.sqrt(d) if max_features == "sqrt" else math.log2(d)))
    if isinstance(max_features, numbers.Integral):
        return min(int(max_features), d)
    return max(1, int(max_features * d))
