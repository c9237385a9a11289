"""Gradient boosting: binned columns and scores stay in the partitions; the client receives sums of gradient histograms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.cluster.fitting import PassBudget, require_defaults, trains
from surefit.cluster.training.least_squares import require_one_number
from surefit.core.budget import Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.partitioned import ClusterLost, PartitionedRows, PartValues, PassStopped
from surefit.ensembles.boosted_columns import mark_categorical, monotone_signs, require_few_categories
from surefit.ensembles.boosted_training import (
    LARGE,
    Watch,
    columns_of,
    forget_rounds,
    record,
    run_rounds,
    settings,
)
from surefit.ensembles.members import random_stream
from surefit.losses import ExponentialLoss, Logistic
from surefit.problems import pose
from surefit.problems.labels import names_of
from surefit.solvers.boosting.losses import CrossEntropy, start, start_quantile
from surefit.solvers.boosting.outline import Outline, bins_of_partitions, outline_of
from surefit.solvers.boosting.partitioned import BlockBooster, PartitionedBooster, WaveBooster
from surefit.solvers.boosting.quantiles import quantiles
from surefit.solvers.boosting.rows import Reading, bin_rows, join_rows, targets

CELLS = 2**24  # of joined partitions: a worker bins and reads them in less time than Dask needs to divide the work


class Job(NamedTuple):
    """Definition of a fit: the loss with its name, and the settings by which partitions read their rows."""

    loss: Any
    name: str
    reading: Reading


@trains("HistGradientBoostingClassifier")
def classifier(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a gradient boosting classifier."""
    assert rows.labels is not None
    if _continues(estimator) and not np.array_equal(rows.labels, estimator.classes_):
        raise InvalidData(
            f"{type(estimator).__name__}: warm_start needs the classes of the previous fit, {estimator.classes_.tolist()}."
        )
    many, signed = len(rows.labels), estimator.loss == "exponential"
    if signed and many > 2:
        raise InvalidParameter(type(estimator).__name__, "loss", "'log_loss' for more than two classes", estimator.loss)
    if rows.weighted and estimator.class_weight == "balanced":  # rounding of the sums depends on the order of the rows
        raise InvalidParameter(
            type(estimator).__name__, "class_weight", "None or a dict for weighted rows in partitions", "balanced"
        )
    estimator.classes_ = rows.labels
    loss: Any = ExponentialLoss() if signed else CrossEntropy(many) if many > 2 else Logistic()
    _name(estimator, rows, estimator.loss)
    try:
        problem = pose(estimator, rows, *rows.outline, "loss_name_", "monotone_signs_")
    except ValueError as error:
        raise InvalidParameter(type(estimator).__name__, "class_weight", str(error), estimator.class_weight) from None
    estimator._class_factors = np.asarray(problem["class_weights"])
    reading = Reading(names_of(rows.labels), problem["class_weights"], signed, 0, 0.0)
    return _fit(estimator, rows, Job(loss, estimator.loss, reading))


@trains("HistGradientBoostingRegressor")
def regressor(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a gradient boosting regressor."""
    require_one_number(estimator, rows)
    loss, name, _ = estimator._term()
    _name(estimator, rows, name)
    return _fit(estimator, rows, Job(loss, name, Reading(None, None, False, 0, 0.0)))


def _continues(estimator: Any) -> bool:
    return bool(estimator.warm_start and hasattr(estimator, "_trees"))


def _name(estimator: Any, rows: PartitionedRows, loss: str) -> None:
    estimator._frame_categories = {}
    estimator.loss_name_, estimator.monotone_signs_ = loss, monotone_signs(estimator, rows.shape[1])


def _fit(estimator: Any, rows: PartitionedRows, job: Job) -> Any:
    require_defaults(estimator, scoring="loss")
    random, again = random_stream(estimator.random_state), _continues(estimator)
    job = job._replace(reading=_held_out(estimator, rows, job.reading, random))
    categorical = mark_categorical(estimator, rows.shape[1])
    outline = outline_of(rows, job.reading, categorical, estimator.max_bins)
    _require_rows(estimator, job.reading, outline)
    for j, found in zip(np.flatnonzero(categorical), outline.categories, strict=True):
        require_few_categories(estimator, int(j), len(found))
    if not again:
        forget_rounds(estimator)
        estimator._bins = bins_of_partitions(rows, job.reading, outline, categorical, estimator.max_bins)
    groups = -(-rows.shape[1] // 4)
    size = rows.shape[0] * (2 * 4 * groups + 16)
    most = CELLS // rows.shape[1]
    binned = rows.derive(bin_rows, job.reading, estimator._bins, size=size, join=join_rows, most=most)
    if not again:
        estimator.baseline_ = _start(estimator, job, outline, binned)
    kind = BlockBooster if len(binned) == 1 else WaveBooster
    booster = kind(
        binned,
        job.loss,
        columns=columns_of(estimator, np.zeros((groups, 0), dtype=np.uint32)),
        rows=sum(outline.counts),
        most=estimator.max_iter - len(estimator._trees),
        **settings(estimator),
    )
    booster.begin(estimator.baseline_, estimator._trees)
    reason, seconds = _run(estimator, rows, booster, outline, random, again)
    return record(
        estimator,
        (rows, *rows.outline),
        job.name,
        booster.measured.loss / outline.weights[0],
        reason=reason,
        seconds=seconds,
        witness={"held_out": np.array([job.reading.seed, job.reading.share])} if job.reading.share else {},
    )


def _held_out(estimator: Any, rows: PartitionedRows, reading: Reading, random: np.random.RandomState) -> Reading:
    """Choose the fraction of rows that early stopping holds out, and the seed of the draws."""
    wanted, asked = estimator.early_stopping, estimator.validation_fraction
    estimator.do_early_stopping_ = rows.shape[0] > LARGE if wanted == "auto" else bool(wanted)
    if not estimator.do_early_stopping_ or asked is None:
        return reading
    share = float(asked) if isinstance(asked, float) else asked / rows.shape[0]
    if not 0 < share < 1:
        words = f"a fraction below 1, or a number of rows below {rows.shape[0]}"
        raise InvalidParameter(type(estimator).__name__, "validation_fraction", words, asked)
    return reading._replace(seed=int(random.randint(2**31 - 1)), share=share)


def _require_rows(estimator: Any, reading: Reading, outline: Outline) -> None:
    learn, held = outline.weights
    if not learn > 0 or (reading.share and not held > 0):
        words = "such that held-out and training rows both have positive weight"
        raise InvalidParameter(type(estimator).__name__, "validation_fraction", words, estimator.validation_fraction)
    if reading.classes is None:
        estimator._check_targets(np.array([outline.smallest, outline.product / learn]))


def _start(estimator: Any, job: Job, outline: Outline, binned: PartValues) -> np.ndarray:
    """Return the best constant scores, from totals or from a quantile of the targets."""
    if job.reading.classes is not None:
        codes = np.arange(len(job.reading.classes), dtype=np.float64)
        return start(job.loss, 2 * codes - 1 if job.reading.signed else codes, outline.by_code)
    q = start_quantile(job.loss)
    center = outline.product / outline.weights[0] if q is None else quantiles(binned, targets, 1, q)[0]
    return start(job.loss, np.array([center]), np.ones(1))


class _PassWatch(Watch):
    """Monitor whose scores come from the passes of the booster."""

    def __init__(self, estimator: Any, booster: PartitionedBooster, outline: Outline) -> None:
        self.estimator, self.booster, self.weights = estimator, booster, outline.weights
        self.active = estimator.do_early_stopping_

    def scores(self, trees: Any) -> tuple[float, float | None]:
        """Return the negative mean losses of the training rows and the held-out rows."""
        found, (learn, held) = self.booster.measured, self.weights
        return -found.loss / learn, -found.held_loss / held if held else None


def _run(
    estimator: Any, rows: PartitionedRows, booster: PartitionedBooster, outline: Outline, random: Any, again: bool
) -> tuple[Reason, float]:
    """Add boosting rounds until a stopping rule holds; the time limit interrupts passes only after the first round."""
    reporter = progress_reporter(
        estimator, rows, None, task="round", max_subtasks=int(estimator.max_iter), prints=False
    )
    watch = _PassWatch(estimator, booster, outline)
    with PassBudget(rows, estimator.max_iter, estimator.max_time, reporter) as budget:
        try:
            reason = run_rounds(estimator, booster, watch, outline.weights[0], budget, random, again)
        except PassStopped as stop:
            reason = stop.reason
        except ClusterLost as error:
            best = {"training_losses_": np.array(estimator._log), "trees": list(estimator._trees)}
            raise ClusterLost(str(error), best) from None
        finally:
            rows.budget = None
        seconds = budget.seconds
    if reporter is not None:
        reporter.finish()
    return reason, seconds
