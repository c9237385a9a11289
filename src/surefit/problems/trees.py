"""Problems of decision trees: stopping rules from parameters and the size of the data."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from surefit.core.outputs import read_classes, row_factors
from surefit.core.partitioned import Part, PartitionedRows, exact_sum, rounded, weights_in
from surefit.core.sample import read_target
from surefit.problems.base import Given, problem_of
from surefit.problems.labels import class_codes, class_factors, names_of

UNLIMITED = 2**31 - 1


@problem_of("DecisionTreeClassifier", "DecisionTreeRegressor")
def tree_problem(given: Given) -> dict[str, Any]:
    """Return stopping rules, criterion, constraints and pruning of a tree."""
    params, classifier = given.params, "class_weight" in given.params
    spread, d = isinstance(given.X, PartitionedRows), given.X.shape[1]
    counts = given.weights if spread else None  # rows in partitions are represented by one row per label
    factors = class_factors(params.get("class_weight"), given.y, counts) if classifier else None
    used, weight = (_in_partitions if spread else _in_memory)(given, factors)
    criterion, directions = params["criterion"], params["monotonic_cst"]
    return {
        "task": "classification" if classifier else "regression",
        "criterion": "entropy" if criterion == "log_loss" else criterion,
        "class_weights": factors,
        "categorical": categorical_columns(given),
        "multiway": params["categorical_split"] == "multiway",
        **stopping_rules(params, used, weight),
        "min_gain": float(params["min_gain"]),
        "monotone": None if directions is None else [int(s) for s in np.asarray(directions).ravel()],
        "thresholds": declared_thresholds(params["thresholds"], d),
        "binned": params["max_bins"] is not None,
        "n_codes": int(given.chosen["n_codes_"]),
        "pruned_by": "training error" if params["pruning"] == "cost_complexity" else "impurity",
        "alpha": float(given.chosen["pruning_alpha_"]),
        "delta": float(params["delta"]),
    }


def _in_memory(given: Given, factors: list[float] | None) -> tuple[int, float]:
    """Return the number of rows of positive weight, and their total weight."""
    if factors is None and given.weights is None:
        return given.X.shape[0], float(given.X.shape[0])
    weights = np.ones(given.X.shape[0]) if given.weights is None else given.weights
    if factors is not None and given.y is not None:
        _, codes, n_classes = read_classes(np.asarray(given.y))
        weights = weights * row_factors(np.asarray(factors), codes, n_classes)
    return int(np.count_nonzero(weights > 0)), math.fsum(weights)


def _in_partitions(given: Given, factors: list[float] | None) -> tuple[int, float]:
    if factors is None and not given.X.weighted:
        return given.X.shape[0], float(given.X.shape[0])
    classes = None if factors is None or given.y is None else names_of(np.asarray(given.y))
    count, weight = given.X.map_reduce(_counted, classes, factors)
    return count, rounded(weight)


def _counted(part: Part, classes: list[Any] | None, factors: list[float] | None) -> tuple[int, int]:
    weights = weights_in(part)
    if classes is not None and part.y is not None:
        weights = weights * np.asarray(factors)[class_codes(read_target(part.y), classes)]
    return int(np.count_nonzero(weights > 0)), exact_sum(weights)


def stopping_rules(params: Any, n: int, weight: float) -> dict[str, Any]:
    """Convert scikit-learn's stopping rules for ``n`` rows of positive weight with total ``weight``."""
    leaf, split, leaves = (params[name] for name in ("min_samples_leaf", "min_samples_split", "max_leaf_nodes"))
    leaf = int(leaf) if isinstance(leaf, numbers.Integral) else math.ceil(leaf * n)
    split = int(split) if isinstance(split, numbers.Integral) else max(2, math.ceil(split * n))
    return {
        "max_depth": UNLIMITED if params["max_depth"] is None else int(params["max_depth"]),
        "min_samples_split": max(split, 2 * leaf),
        "min_samples_leaf": leaf,
        "min_weight_leaf": float(params["min_weight_fraction_leaf"]) * weight,
        "max_leaf_nodes": 0 if leaves is None else int(leaves),
        "min_impurity_decrease": float(params["min_impurity_decrease"]),
    }


def declared_thresholds(given: Any, d: int) -> list[list[float]] | None:
    """Return the declared thresholds of each column as ascending lists; None if none were declared."""
    if given is None:
        return None
    lines = [np.asarray(item, dtype=np.float64) for item in given]
    if all(line.ndim == 0 for line in lines):
        lines = [np.array(lines)] * d
    return [np.unique(line).tolist() for line in lines]


def categorical_columns(given: Given) -> list[int]:
    """Return the categorical columns: given by index or mask, or by name or dtype as resolved by the fit."""
    asked, d = given.params.get("categorical_features"), given.X.shape[1]
    listed = None if asked is None or isinstance(asked, str) else np.asarray(asked)
    if asked is None or (listed is not None and listed.size == 0):
        return []
    if listed is None or listed.dtype.kind not in "biu":
        return [int(j) for j in np.flatnonzero(given.chosen["is_categorical_"])]
    if listed.dtype == bool:
        return [int(j) for j in np.flatnonzero(listed)]
    return sorted({int(j) % d for j in listed})
