"""Training of forests on rows in partitions.

The codes of the columns and the draws of all trees stay in the partitions; each pass serves all growing trees.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from surefit.bounds.votes import vote_first_order, vote_tandem
from surefit.cluster.fitting import PassBudget, require_defaults, trains
from surefit.cluster.training.trees import read_labels, read_numbers
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, InvalidData, InvalidParameter
from surefit.core.partitioned import ClusterLost, PartitionedRows
from surefit.core.warn import warn
from surefit.ensembles.forest_grow import columns_of, growth_rules, pruned
from surefit.ensembles.forest_training import PACKED, check_options, require_left_out, vote_claims
from surefit.ensembles.members import MOST_SEEDS, random_stream
from surefit.problems import pose
from surefit.problems.labels import names_of
from surefit.solvers.boosting import rows as boosting
from surefit.solvers.boosting.outline import bins_of_partitions, outline_of
from surefit.solvers.trees.candidates import Candidates, candidates_of
from surefit.solvers.trees.cells import cells_of, reading_of
from surefit.solvers.trees.left_out import LeftOut, left_out
from surefit.solvers.trees.passes import grow_trees, totals_of
from surefit.solvers.trees.sampling import Line, line_of
from surefit.solvers.trees.waves import Waves
from surefit.trees.claims import edges_of


@trains("RandomForestClassifier", "ExtraTreesClassifier")
def classifier(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a forest classifier."""
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
    """Fit a forest regressor."""
    read_numbers(estimator, rows)
    return _fit(estimator, rows, None, None)


def _fit(estimator: Any, rows: PartitionedRows, classes: list[Any] | None, factors: list[float] | None) -> Any:
    require_defaults(estimator, categorical_features=None, warm_start=False)
    d, T = rows.shape[1], int(estimator.n_estimators)
    check_options(estimator, d, 0 if classes is None else len(classes))
    if callable(estimator.oob_score):
        words = "True or False for rows in partitions (a function needs all predictions)"
        raise InvalidParameter(type(estimator).__name__, "oob_score", words, estimator.oob_score)
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
    if not np.all(totals[:, 0] > 0):
        raise InvalidData(
            f"{type(estimator).__name__}: a tree drew no row whose class has a positive weight; give all classes a weight."
        )
    for seed, (n, weight) in zip(seeds.tolist(), reading.floats(totals)[:, :2].tolist(), strict=True):
        rules = growth_rules(estimator, seed, int(n), weight, d)
        trees.append(Waves(reading, candidates, rules, monotone, columns_of(estimator, seed, d)))
    run = _grow(estimator, rows, cells, trees, totals)
    estimator.trees_, estimator.tree_seeds_ = [pruned(estimator, waves.tree()) for waves in trees], seeds
    estimator._row_order = estimator._row_ends = None
    estimator._n_draws, estimator._n_rows = problem["draws"], rows.shape[0]
    claims = [Claim("forest.leaves"), _splits(estimator, candidates), Claim("forest.limits")]
    claims += [Claim("forest.subsets")] if estimator.subset == "tree" else []
    for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
        estimator.__dict__.pop(name, None)  # from an earlier fit
    if estimator.oob_score and line is not None:
        claims += _out_of_bag(estimator, rows, line, classes, reading.center)
    claims.append(Claim("forest.global"))
    model = (*PACKED, "drawn_by_index_", *(() if classes is None else estimator._class_attributes()))
    estimator._issue("C", claims, problem=problem, model=model, sample=(rows, *rows.outline), run=run)
    return estimator


def _out_of_bag(
    estimator: Any, rows: PartitionedRows, line: Line, classes: list[Any] | None, center: float
) -> list[Claim]:
    """Set the out-of-bag score and return the claims about the error; out-of-bag predictions are not stored."""
    found: LeftOut = rows.map_reduce(left_out, estimator.trees_, line, estimator.tree_seeds_, classes, center)
    require_left_out(estimator, found.rows, found.always)
    error = float(Fraction(found.loss, found.weight))
    numbers = {"rows": found.rows, "classes": classes is not None}
    claims = [Claim("forest.out_of_bag", error, numbers=numbers)]
    if classes is None:
        square, moment = Fraction(found.square, found.weight), Fraction(found.moment, found.weight)
        estimator.oob_score_ = 1 - error / max(float(square - moment**2), 1e-300)
        return claims
    estimator.oob_score_ = 1 - error
    counts = np.diag(found.pairs)
    if rows.weighted or len(counts) < 2 or found.pairs.min() < 1:
        return claims
    delta = float(estimator.delta) / 2
    single, both = float(np.mean(np.diag(found.wrong) / counts)), float(np.mean(found.wrong / found.pairs))
    bounds = {
        "first_order": vote_first_order(single, int(counts.min()), delta),
        "tandem": vote_tandem(both, int(found.pairs.min()), delta),
    }
    return claims + vote_claims(bounds)


def _splits(estimator: Any, candidates: Candidates) -> Claim:
    if estimator.monotonic_cst is not None and np.any(estimator.monotonic_cst):
        return Claim("tree.constrained_splits")
    witness = {**edges_of(candidates.edges, candidates.counts), "random_cuts": np.array(estimator._random_cuts)}
    return Claim("forest.candidate_splits", witness=witness)


def _candidates(rows: PartitionedRows, classes: list[Any] | None, max_bins: int | None) -> Candidates:
    """Return the candidate thresholds, which are those of a fit in memory: weighted quantiles for columns with many values."""
    d = rows.shape[1]
    if max_bins is None:
        return candidates_of(rows, None)
    reading, numeric = boosting.Reading(classes, None, False, 0, 0.0), np.zeros(d, dtype=bool)
    bins = bins_of_partitions(rows, reading, outline_of(rows, reading, numeric, max_bins), numeric, max_bins)
    return Candidates(np.ascontiguousarray(bins.cuts[:, :254]), bins.n_bins - 1, np.full((d, 255), np.nan))


def _grow(estimator: Any, rows: PartitionedRows, cells: Any, trees: list[Waves], totals: np.ndarray) -> dict[str, Any]:
    """Grow all trees; a time limit or Ctrl-C stops growing, but not before the first pass."""
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
