"""Training of kernel machines on landmarks: partitions map their rows to the span of the landmarks, and Newton's method runs there."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from surefit.cluster.fitting import require_class_weights, trains
from surefit.cluster.rows import DaskRows
from surefit.cluster.training.least_squares import require_one_number
from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import InvalidParameter
from surefit.core.partitioned import Part
from surefit.kernel_machines.nystroem_record import record_subset
from surefit.kernel_machines.nystroem_training import record
from surefit.kernel_machines.svm_inputs import Sample
from surefit.kernels import Kernel
from surefit.losses import Logistic, Squared
from surefit.operators.aligned import LENGTH
from surefit.problems import pose
from surefit.problems.kernels import kernel_in
from surefit.problems.partitioned import RowTarget
from surefit.solvers.kernel_subset.margins import FULL_WIDTH, MachineFit
from surefit.solvers.kernel_subset.partitioned import Chosen, choose_partitioned, features
from surefit.solvers.newton import Fit
from surefit.solvers.newton.partitioned import minimize_relative
from surefit.solvers.newton.terms import SmoothedHinge

SQUARES_TOL = 1e-9  # relative gap of least squares, which a Newton step reaches


class Mapped(NamedTuple):
    """The problem, the landmarks, and the rows in the coordinates of their span."""

    problem: dict[str, Any]
    sample: Sample
    chosen: Chosen
    rows: DaskRows


@trains("NystroemSVC", "NystroemLogisticRegression")
def classifier(estimator: Any, rows: DaskRows) -> Any:
    """Fit a classifier: one problem for two classes or the softmax, otherwise one problem per class against the rest."""
    labels = require_class_weights(estimator, rows)
    reporter = progress_reporter(estimator, rows, None)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget:
        mapped = _mapped(estimator, rows)
        found = [_machine(mapped, fit) for fit in _solved(mapped, float(estimator.tol), budget)]
    if reporter is not None:
        reporter.finish()
    _set_landmarks(estimator, mapped)
    estimator.classes_ = labels
    fits, widths = [fit for fit, _ in found], [width for _, width in found]
    return record(estimator, mapped.sample, fits, {"width": widths}, mapped.rows.shape[1])


def _solved(mapped: Mapped, tol: float, budget: Budget) -> list[Fit]:
    problem, C = mapped.problem, mapped.problem["C"]
    if problem["loss"] == "softmax":
        return [minimize_relative(mapped.rows, {**problem, "strength": C}, 1.0, tol=tol, budget=budget)]
    loss = SmoothedHinge(FULL_WIDTH) if problem["loss"] == "hinge" else Logistic()
    targets = [
        RowTarget(problem, k, C) for k in ([1] if len(problem["classes"]) == 2 else range(len(problem["classes"])))
    ]
    return [
        minimize_relative(mapped.rows, problem, 1.0, tol=tol, budget=budget, target=target, loss=loss)
        for target in targets
    ]


def _machine(mapped: Mapped, found: Fit) -> tuple[MachineFit, float]:
    """Return the solution in terms of landmark coefficients, and the smoothing width of its loss."""
    a, squares = found.coef @ mapped.chosen.span.whiten.T, np.sum(found.coef**2, axis=1)
    none = np.zeros((0, len(a)))  # dual variables are not collected
    fit = MachineFit(a, found.intercept, squares, found.objective, none, found.n_iter, found.reason, found.history)
    return fit, found.width


@trains("NystroemRidge")
def ridge(estimator: Any, rows: DaskRows) -> Any:
    """Fit least squares by Newton steps; the second step corrects the rounding errors of the first."""
    require_one_number(estimator, rows)
    mapped, alpha = _mapped(estimator, rows), float(estimator.alpha)
    problem = {**mapped.problem, "classes": None}
    found = minimize_relative(
        mapped.rows, problem, alpha, tol=SQUARES_TOL, budget=Budget(None, None), target=RowTarget(problem, 1, 1.0), loss=Squared()
    )  # fmt: skip
    _set_landmarks(estimator, mapped)
    estimator.dual_coef_ = mapped.chosen.span.whiten @ found.coef[0]
    estimator.intercept_ = float(found.intercept[0])
    estimator.objective_ = 2.0 * found.objective
    estimator.rkhs_norm_ = math.sqrt(float(found.coef[0] @ found.coef[0]))
    record_subset(estimator, mapped.sample, {"width": [0.0]}, mapped.rows.shape[1], "normal equations of the landmarks")
    return estimator


def _mapped(estimator: Any, rows: DaskRows) -> Mapped:
    """Draw the landmarks and map the rows to features, in aligned partitions, so that the bits do not depend on the given partitions."""
    who, (y, weights) = type(estimator).__name__, rows.outline
    assert y is not None
    if estimator.dual == "exact":
        raise InvalidParameter(who, "dual", "'auto' or 'bounded' for rows in partitions", estimator.dual)
    kernel = _kernel(who, estimator)
    problem = pose(estimator, rows, y, weights)
    if isinstance(estimator.kernel, str):  # the width may depend on the rows
        kernel = Kernel.from_record(problem["kernel"])
    aligned = rows.aligned(LENGTH)
    draws = check_random_state(estimator.random_state)
    count = int(estimator.n_landmarks)
    chosen = choose_partitioned(who, kernel, aligned, problem, count, estimator.landmarks, draws)
    d, n = rows.shape[1], rows.shape[0]
    sample = features(Part(rows.sample[:, :d], None, None, n, "the sample"), chosen).X
    sample = np.column_stack([sample, rows.sample[:, d:]])
    mapped = aligned.mapped(features, chosen, sample=sample, width=chosen.span.whiten.shape[1])
    return Mapped(problem, Sample(rows, y, y, weights, kernel), chosen, mapped)


def _kernel(who: str, estimator: Any) -> Kernel:
    """Return the kernel with a provisional width; raise an error if partitions cannot compute it."""
    kernel = kernel_in({**estimator.get_params(deep=False), "gamma": 1.0}, np.zeros((1, 1)), None, who)
    if kernel.positive_semidefinite is False:
        raise InvalidParameter(who, "kernel", "a positive semidefinite kernel", estimator.kernel)
    if kernel.takes not in ("vectors", "anything"):
        raise InvalidParameter(who, "kernel", "a kernel of vectors for rows in partitions", estimator.kernel)
    return kernel


def _set_landmarks(estimator: Any, mapped: Mapped) -> None:
    estimator.landmarks_, estimator.kernel_ = mapped.chosen.indices, mapped.sample.kernel
    estimator.X_fit_ = np.asarray(mapped.chosen.span.A)
