"""Fitting of a tree: reading the data, growing, pruning, and issuing the certificate."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.blocks import require_memory
from surefit.core.claims import Claim
from surefit.core.outputs import refuse_several, row_factors
from surefit.core.threads import blas_threads
from surefit.core.validation import read_weights
from surefit.solvers import trees as solver
from surefit.solvers.trees import FlatTree, Rules
from surefit.trees.claims import make_claims
from surefit.trees.columns import as_columns, read_categories, read_thresholds
from surefit.trees.parameters import drawn_seed, growth_rules, read_monotone
from surefit.trees.prune import CostComplexity, Outcome, pruned

#: Attributes that the fit derived from the table or chose by cross-validation.
CHOSEN = ("n_codes_", "is_categorical_", "pruning_alpha_")
#: Fitted attributes in the certificate.
MODEL = (
    "node_kind_",
    "node_feature_",
    "node_threshold_",
    "node_left_",
    "node_right_",
    "node_missing_left_",
    "node_start_",
    "node_words_",
    "node_branches_",
    "node_value_",
    *CHOSEN,
)


class Sample(NamedTuple):
    """Training data of a tree."""

    values: np.ndarray  # (d, n) columns, categories as codes
    y: np.ndarray  # (n,) class codes or real targets; (n, outputs) if there are several
    weights: np.ndarray | None  # (n,) or None
    n_classes: Any  # 0 for real targets, a list for several outputs
    criterion: str
    categories: np.ndarray  # (d,) number of categories, 0 for numbers
    monotone: np.ndarray | None
    declared: list[np.ndarray] | None  # thresholds fixed in advance
    bins: solver.Bins | None  # None: exact cuts
    seed: int

    def rows(self) -> np.ndarray:
        """Rows of positive weight."""
        n = self.values.shape[1]
        return np.arange(n) if self.weights is None else np.flatnonzero(self.weights > 0)


def read_sample(estimator, X, table, y, weights, n_classes: Any) -> Sample:
    """Convert the data and the column parameters to the training data of a tree."""
    require_memory(type(estimator).__name__, X, 12, "use a forest, which needs a twelfth of that, or fewer columns")
    estimator.categories_ = read_categories(estimator, X, table)
    d = X.shape[1]
    counts = np.zeros(d, dtype=np.int64)
    for j, known in estimator.categories_.items():
        counts[j] = max(len(known), 1)
    declared, bins = read_thresholds(estimator, d), None
    exact = declared is None and estimator.max_bins is None
    values = as_columns(X, estimator.categories_, "F" if exact else "C")
    if not exact:
        bins = solver.bin_columns(values, estimator.max_bins or 255, counts, declared)
    return Sample(
        values,
        y,
        weights,
        n_classes,
        estimator.criterion,
        counts,
        read_monotone(estimator, d),
        declared,
        bins,
        drawn_seed(estimator.random_state),
    )


def grow_tree(sample: Sample, rules: Rules, rows: np.ndarray | None = None) -> FlatTree:
    """Grow a tree on ``rows`` (ascending), by default on all rows of positive weight."""
    rows = sample.rows() if rows is None else rows
    part = None if len(rows) == sample.values.shape[1] else rows
    rows = None  # row numbers are not kept if all rows are used
    chosen: Any = slice(None) if part is None else part
    weights = sample.weights
    if weights is not None and np.all(weights[chosen] == 1.0):
        weights = None
    center: Any = 0.0
    if sample.n_classes:
        target = solver.class_target(sample.y, sample.n_classes, sample.criterion, weights)
    else:
        if sample.criterion == "squared_error":  # centering avoids cancellation in sums of squares
            center = np.average(sample.y[chosen], axis=0, weights=None if weights is None else weights[chosen])
        target = solver.real_target(sample.y - center, sample.criterion, weights)
    monotone = sample.monotone
    options: dict[str, Any] = {"categories": sample.categories, "monotone": monotone, "rows": part}
    if sample.bins is None:
        tree = solver.grow_exact(sample.values, target, rules, **options, n_jobs=blas_threads())
    else:
        tree = solver.grow_binned(sample.bins, target, rules, **options)
    return tree._replace(values=tree.values + center) if np.any(center) else tree


def fit_tree(estimator, X, table, y, given_y, sample_weight, class_weights: np.ndarray | None, n_classes: Any):
    """Fit ``estimator`` to validated X and encoded y; ``given_y`` is y as in the certificate. Returns the estimator."""
    refuse_several(
        estimator, y, monotonic_cst="None for several targets", pruning="None for several targets (use ccp_alpha)"
    )
    given = read_weights(estimator, sample_weight, X.shape[0])
    weights = given
    if class_weights is not None:
        factors = row_factors(class_weights, y, n_classes)
        weights = factors if given is None else given * factors
    sample = read_sample(estimator, X, table, y, weights, n_classes)
    count = len(sample.rows())
    total = float(count) if weights is None else math.fsum(weights)
    rules = growth_rules(estimator, count, X.shape[1], total, sample.seed)
    outcome = pruned(estimator, sample, rules, grow_tree)
    claims = make_claims(estimator, sample, outcome, rules)
    run = "exact cuts" if sample.bins is None else "binned cuts"
    return record(estimator, outcome, rules, claims, (X, given_y, given), run)


def record(estimator, outcome: Outcome, rules: Rules, claims: list[Claim], sample: tuple, run: str):
    """Store the tree and issue its certificate; ``sample`` has rows, targets and weights. Returns the estimator."""
    estimator.tree_ = outcome.tree
    estimator.pruning_ = outcome.record
    estimator.max_features_ = rules.max_features
    chosen = outcome.record.alpha if isinstance(outcome.record, CostComplexity) else 0.0
    estimator.pruning_alpha_ = float(chosen)
    estimator._issue(
        "C",
        claims,
        problem=CHOSEN,
        model=(*MODEL, *estimator._class_attributes()) if hasattr(estimator, "classes_") else MODEL,
        sample=sample,
        run={"solver": run},
    )
    return estimator
