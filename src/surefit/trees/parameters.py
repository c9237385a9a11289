"""Parameters of the two tree estimators: their rules, and their values for a given number of rows and columns."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.randomness import seeded
from surefit.core.validation import (
    ANYTHING,
    BOOLEAN,
    COUNT,
    NON_NEGATIVE,
    NOTHING,
    RANDOM_STATE,
    Rule,
    one_of,
)
from surefit.problems.trees import stopping_rules
from surefit.solvers.trees import Rules

_is_count = COUNT.allows
SHARE = Rule("a number in (0, 1)", lambda v: NON_NEGATIVE.allows(v) and 0 < v < 1)
OPEN_SHARE = Rule("a number in (0, 1]", lambda v: isinstance(v, float) and 0 < v <= 1)
SPLIT_COUNT = Rule("an integer >= 2", lambda v: _is_count(v) and v >= 2)

RULES = {
    "splitter": one_of("best", "random"),
    "max_depth": NOTHING | COUNT,
    "min_samples_split": SPLIT_COUNT | OPEN_SHARE,
    "min_samples_leaf": COUNT | SHARE,
    "min_weight_fraction_leaf": Rule("a number from 0 to 0.5", lambda v: NON_NEGATIVE.allows(v) and v <= 0.5),
    "max_features": NOTHING | COUNT | OPEN_SHARE | one_of("sqrt", "log2"),
    "random_state": RANDOM_STATE,
    "max_leaf_nodes": NOTHING | SPLIT_COUNT,
    "min_impurity_decrease": NON_NEGATIVE,
    "ccp_alpha": NON_NEGATIVE,
    "monotonic_cst": ANYTHING,
    "min_gain": NON_NEGATIVE,
    "max_bins": NOTHING | Rule("an integer from 2 to 255", lambda v: _is_count(v) and 2 <= v <= 255),
    "thresholds": ANYTHING,
    "categorical_features": ANYTHING,
    "categorical_split": one_of("subset", "multiway"),
    "pruning": NOTHING | one_of("cost_complexity", "reduced_error"),
    "cv": ANYTHING,
    "standard_errors": NON_NEGATIVE,
    "validation_fraction": SHARE,
    "allow_zero_gain": BOOLEAN,
    "delta": SHARE,
}


def current_criterion(criterion: Any) -> Any:
    """Return the criterion; "friedman_mse", a deprecated synonym of "squared_error", is replaced with a warning."""
    if isinstance(criterion, str) and criterion == "friedman_mse":
        warnings.warn(
            "criterion='friedman_mse' is deprecated, as in scikit-learn, and means 'squared_error'; pass that value instead.",
            FutureWarning,
            stacklevel=3,
        )
        return "squared_error"
    return criterion


def drawn_seed(random_state) -> int:
    """Return the seed that a tree draws from a parameter ``random_state``."""
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31 - 1))
    with seeded(random_state) as random:
        return int(random.randint(2**31 - 1))


def growth_rules(estimator, n_rows: int, n_columns: int, weight: float, seed: int) -> Rules:
    """Convert the parameters of an estimator to growth rules for a training set of the given size."""
    params = estimator.get_params(deep=False)
    rules = stopping_rules(params, n_rows, weight)
    return Rules(
        **rules,
        min_gain=float(params["min_gain"]),
        max_features=_n_drawn(params["max_features"], n_columns),
        random_cuts=params["splitter"] == "random",
        multiway=params["categorical_split"] == "multiway",
        seed=seed,
    )


def _n_drawn(max_features: Any, n_columns: int) -> int:
    if max_features is None:
        return n_columns
    if max_features == "sqrt":
        return max(1, int(math.sqrt(n_columns)))
    if max_features == "log2":
        return max(1, int(math.log2(n_columns)))
    if isinstance(max_features, numbers.Integral):
        return min(int(max_features), n_columns)
    return max(1, int(max_features * n_columns))


def read_monotone(estimator, n_columns: int) -> np.ndarray | None:
    """Return the monotonicity constraints, one per column, or None."""
    given = estimator.monotonic_cst
    if given is None:
        return None
    who, directions = type(estimator).__name__, np.asarray(given)
    if directions.shape != (n_columns,) or not np.isin(directions, [-1, 0, 1]).all():
        raise InvalidParameter(who, "monotonic_cst", f"one of -1, 0, 1 for each of the {n_columns} columns of X", given)
    return directions.astype(np.int8)
