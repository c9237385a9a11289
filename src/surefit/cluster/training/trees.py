"""Decision trees: column codes stay in the partitions; one pass sums the integer histograms of all waiting nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.cluster.fitting import require_defaults, trains
from surefit.cluster.training.least_squares import require_one_number
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.partitioned import PartitionedRows, rounded
from surefit.problems.labels import class_factors, names_of
from surefit.solvers.trees.candidates import candidates_of
from surefit.solvers.trees.cells import cells_of, reading_of
from surefit.solvers.trees.flat import FlatTree
from surefit.solvers.trees.nodes import Rules
from surefit.solvers.trees.passes import grow_trees, totals_of
from surefit.solvers.trees.waves import Waves
from surefit.trees.claims import claims_of_partitions
from surefit.trees.fit import record
from surefit.trees.parameters import drawn_seed, growth_rules, read_monotone
from surefit.trees.prune import pruned


@trains("DecisionTreeClassifier")
def classifier(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a decision tree classifier."""
    factors = read_labels(estimator, rows, estimator.class_weight)
    if estimator.monotonic_cst is not None and np.any(estimator.monotonic_cst) and estimator.n_classes_ > 2:
        who = type(estimator).__name__
        raise InvalidParameter(who, "monotonic_cst", "None for more than two classes", estimator.monotonic_cst)
    return _fit(estimator, rows, names_of(estimator.classes_), factors)


def read_labels(estimator: Any, rows: PartitionedRows, class_weight: Any) -> list[float] | None:
    """Set the classes and return their weights, or None without class weights."""
    if rows.weighted and isinstance(class_weight, str):  # only sums of weights are known, not numbers of rows
        who = type(estimator).__name__
        raise InvalidParameter(who, "class_weight", "None or a dict for weighted rows in partitions", class_weight)
    assert rows.labels is not None
    estimator.classes_, estimator.n_classes_, estimator.n_outputs_ = rows.labels, len(rows.labels), 1
    return class_factors(class_weight, *rows.outline)


@trains("DecisionTreeRegressor")
def regressor(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a decision tree regressor."""
    read_numbers(estimator, rows)
    return _fit(estimator, rows, None, None)


def read_numbers(estimator: Any, rows: PartitionedRows) -> None:
    """Raise an error if the criterion is not supported for rows in partitions, or does not admit the targets."""
    require_one_number(estimator, rows)
    who = type(estimator).__name__
    if estimator.criterion == "absolute_error":
        words = "'squared_error' or 'poisson' for rows in partitions (medians do not add up)"
        raise InvalidParameter(who, "criterion", words, estimator.criterion)
    if estimator.criterion == "poisson" and (rows.smallest_target < 0 or rows.largest_target <= 0):
        raise InvalidData(
            f"{who}: criterion='poisson' needs y >= 0 with a positive sum; the least is {rows.smallest_target:.6g}, "
            f"the largest {rows.largest_target:.6g}. Use 'squared_error'."
        )
    estimator.n_outputs_ = 1


def _fit(estimator: Any, rows: PartitionedRows, classes: list[Any] | None, factors: list[float] | None) -> Any:
    require_defaults(estimator, categorical_features=None, thresholds=None, pruning=None)
    estimator.categories_, estimator.category_labels_ = {}, {}
    reading, totals = reading_of(rows, estimator.criterion, classes, factors)
    seed = drawn_seed(estimator.random_state)
    rules = growth_rules(estimator, totals.rows, rows.shape[1], rounded(totals.weight), seed)
    monotone = read_monotone(estimator, rows.shape[1])
    candidates = candidates_of(rows, estimator.max_bins)
    size = rows.shape[0] * (rows.shape[1] + 8 * (2 + 2 * len(totals.amounts)))
    cells = rows.derive(cells_of, reading, candidates, size=size)

    def grow(_: None, rules: Rules) -> FlatTree:
        waves = Waves(reading, candidates, rules, monotone)
        grow_trees(cells, [waves], totals_of(cells, reading))
        return waves.tree()

    outcome = pruned(estimator, None, rules, grow)
    constrained = monotone is not None and bool(monotone.any())
    claims = claims_of_partitions(candidates, outcome, rules, constrained)
    return record(estimator, outcome, rules, claims, (rows, *rows.outline), "histograms of partitions")
