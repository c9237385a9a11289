"""What the parameters of both trees may be, and what they mean for a given number of rows and columns."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from surefit.core.errors import InvalidParameter
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


def random_stream(random_state) -> np.random.RandomState:
    """Return scikit-learn's kind of stream; a Generator seeds one."""
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(int(random_state.integers(2**31 - 1)))
    return check_random_state(random_state)


def growth_rules(estimator, n_rows: int, n_columns: int, weight: float, seed: int) -> Rules:
    """Translate the parameters of an estimator for a training set of this size."""
    leaf, split, leaves = estimator.min_samples_leaf, estimator.min_samples_split, estimator.max_leaf_nodes
    leaf = leaf if isinstance(leaf, numbers.Integral) else math.ceil(leaf * n_rows)
    split = split if isinstance(split, numbers.Integral) else max(2, math.ceil(split * n_rows))
    return Rules(
        max_depth=2**31 - 1 if estimator.max_depth is None else int(estimator.max_depth),
        min_samples_split=max(int(split), 2 * int(leaf)),
        min_samples_leaf=int(leaf),
        min_weight_leaf=float(estimator.min_weight_fraction_leaf) * weight,
        max_leaf_nodes=0 if leaves is None else int(leaves),
        min_impurity_decrease=float(estimator.min_impurity_decrease),
        min_gain=float(estimator.min_gain),
        max_features=_n_drawn(estimator.max_features, n_columns),
        random_cuts=estimator.splitter == "random",
        multiway=estimator.categorical_split == "multiway",
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
    """Return the directions in which predictions must go, one a column, or None."""
    given = estimator.monotonic_cst
    if given is None:
        return None
    who, directions = type(estimator).__name__, np.asarray(given)
    if directions.shape != (n_columns,) or not np.isin(directions, [-1, 0, 1]).all():
        raise InvalidParameter(who, "monotonic_cst", f"one of -1, 0, 1 for each of the {n_columns} columns of X", given)
    return directions.astype(np.int8)
