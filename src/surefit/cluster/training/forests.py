"""Forests: codes of the columns and the draws of all trees stay in the partitions; one pass serves all trees that grow."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.cluster.fitting import PassBudget, require_defaults, trains
from surefit.cluster.training.trees import read_labels, read_numbers
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, InvalidParameter
from surefit.core.partitioned import ClusterLost, PartitionedRows
from surefit.core.warn import warn
from surefit.ensembles.forest_grow import columns_of, growth_rules, pruned
from surefit.ensembles.forest_training import PACKED, check_options
from surefit.ensembles.members import MOST_SEEDS, random_stream
from surefit.problems import pose
from surefit.problems.labels import names_of
from surefit.solvers.boosting import partitioned as boosting
from surefit.solvers.boosting.outline import bins_of_partitions, outline_of
from surefit.solvers.trees.candidates import Candidates, candidates_of
from surefit.solvers.trees.cells import cells_of, reading_of
from surefit.solvers.trees.passes import grow_trees, totals_of
from surefit.solvers.trees.sampling import line_of
from surefit.solvers.trees.waves import Waves


@trains("RandomForestClassifier", "ExtraTreesClassifier")
def classifier(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit labels."""
    asked = estimator.class_weight
    if isinstance(asked, str) and asked == "balanced_subsample":
        if estimator.bootstrap:
            words = "None, 'balanced' or a dict for rows in partitions"
            raise InvalidParameter(type(estimator).__name__, "class_weight", words, asked)
        asked = "balanced"
    factors = read_labels(estimator, rows, asked)
    return _fit(estimator, rows, names_of(estimator.classes_), factors)


@trains("RandomForestRegressor", "ExtraTreesRegressor")
def regressor(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit numbers."""
    read_numbers(estimator, rows)
    return _fit(estimator, rows, None, None)


def _fit(estimator: Any, rows: PartitionedRows, classes: list[Any] | None, factors: list[float] | None) -> Any:
    require_defaults(estimator, categorical_features=None, warm_start=False, oob_score=False)
    d, T = rows.shape[1], int(estimator.n_estimators)
    check_options(estimator, d, 0 if classes is None else len(classes))
    estimator.categories_, estimator.category_labels_, estimator.drawn_by_index_ = {}, {}, True
    problem = pose(estimator, rows, *rows.outline, "is_categorical_", "drawn_by_index_")
    seeds = random_stream(estimator.random_state).randint(MOST_SEEDS, size=T)
    reading, largest = reading_of(rows, estimator.criterion, classes, factors, drawn=estimator.bootstrap)
    candidates = _candidates(rows, classes, estimator.max_bins)
    line = line_of(rows, problem["draws"]) if estimator.bootstrap else None
    size = rows.shape[0] * (d + 8 * (2 + 2 * len(largest.amounts)) + (T if estimator.bootstrap else 0))
    cells = rows.derive(cells_of, reading, candidates, line, seeds, size=size)
    totals = np.broadcast_to(totals_of(cells, reading), (T, reading.width))
    monotone = None if estimator.monotonic_cst is None else np.asarray(estimator.monotonic_cst, dtype=np.int8)
    trees = []
    for seed, (n, weight) in zip(seeds.tolist(), reading.floats(totals)[:, :2].tolist(), strict=True):
        rules = growth_rules(estimator, seed, int(n), weight, d)
        trees.append(Waves(reading, candidates, rules, monotone, columns_of(estimator, seed, d)))
    run = _grow(estimator, rows, cells, trees, totals)
    estimator.trees_, estimator.tree_seeds_ = [pruned(estimator, waves.tree()) for waves in trees], seeds
    estimator._row_order = estimator._row_ends = None
    estimator._n_draws, estimator._n_rows = problem["draws"], rows.shape[0]
    claims = [Claim("forest.leaves"), *([Claim("forest.subsets")] if estimator.subset == "tree" else [])]
    claims.append(Claim("forest.global"))
    model = (*PACKED, "drawn_by_index_", *(() if classes is None else estimator._class_attributes()))
    estimator._issue("C", claims, problem=problem, model=model, sample=(rows, *rows.outline), run=run)
    return estimator


def _candidates(rows: PartitionedRows, classes: list[Any] | None, max_bins: int | None) -> Candidates:
    """Return the thresholds that rows in memory have: at quantiles of the weighted rows where a column has many values."""
    d = rows.shape[1]
    if max_bins is None:
        return candidates_of(rows, None)
    reading, numeric = boosting.Reading(classes, None, False, 0, 0.0), np.zeros(d, dtype=bool)
    bins = bins_of_partitions(rows, reading, outline_of(rows, reading, numeric, max_bins), numeric, max_bins)
    return Candidates(np.ascontiguousarray(bins.cuts[:, :254]), bins.n_bins - 1, np.full((d, 255), np.nan))


def _grow(estimator: Any, rows: PartitionedRows, cells: Any, trees: list[Waves], totals: np.ndarray) -> dict[str, Any]:
    """Grow all trees; a time limit or Ctrl-C leaves them as they are, but each has at least one wave."""
    reporter = progress_reporter(estimator, rows, None, task="pass")
    with PassBudget(rows, None, estimator.max_time, reporter) as budget:
        try:
            passes = grow_trees(cells, trees, totals, budget)
        except ClusterLost as error:
            raise ClusterLost(str(error), {"trees": [waves.tree() for waves in trees]}) from None
        finally:
            rows.budget = None
        seconds, reason = budget.seconds, budget.stopped
    if reporter is not None:
        reporter.finish()
    if reason is not None:
        depth = max(int(waves.tree().max_depth) for waves in trees)
        why = reason.sentence().partition(";")[0]
        warn(
            f"{type(estimator).__name__}: all {len(trees)} trees stopped growing at depth {depth} or less: {why}.",
            ConvergenceWarning,
        )
    return {
        "solver": "histograms of partitions",
        "reason": str(reason or "done"),
        "passes": passes,
        "seconds": float(seconds),
    }
