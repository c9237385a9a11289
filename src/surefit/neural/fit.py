"""Fitting of a network from parameters and targets, with learning curves and a certificate."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, InvalidData, InvalidParameter
from surefit.core.threads import one_blas_thread
from surefit.core.warn import warn
from surefit.neural.parameters import architecture_of, require_trainable
from surefit.neural.start import random_stream, starting_point
from surefit.neural.training import STOCHASTIC, Run, Sample, Score, objective_of
from surefit.problems import pose
from surefit.solvers.networks import descent
from surefit.solvers.networks.activations import activation_named
from surefit.solvers.networks.architecture import Architecture
from surefit.solvers.networks.backpropagation import ROWS, Network, whole_objective
from surefit.solvers.networks.outputs import Output

POLISH_STEPS = 1000


class Measured(NamedTuple):
    """Objective and gradient at the returned point, over all rows and in double precision."""

    objective: float
    gradient: np.ndarray


def fit_network(
    estimator, sample: Sample, output: Output, score: Score, watched: Sample | None, *, once: bool = False
) -> Any:
    """Train, set the fitted attributes and issue the certificate. Returns the estimator."""
    require_trainable(estimator)
    who = type(estimator).__name__
    fresh = not hasattr(estimator, "coefs_") or (not estimator.warm_start and not once)
    architecture = architecture_of(estimator, sample.X.shape[1], sample.Y.shape[1])
    random = random_stream(estimator.random_state)
    dtype = sample.X.dtype
    if fresh:
        theta = starting_point(architecture, estimator.activation, random, dtype)
    else:
        if [m.shape for m in estimator.coefs_] != [architecture.shape(k) for k in range(architecture.n_layers)]:
            raise InvalidParameter(
                who, "warm_start", "False if the shape of the data or of the layers changed", estimator.warm_start
            )
        theta = architecture.pack(estimator.coefs_, estimator.intercepts_).astype(dtype)
    reporter = progress_reporter(estimator, sample.X, sample.y, prints=False)
    estimator.out_activation_ = output.activation
    with (
        Budget(estimator.max_iter, estimator.max_time, reporter) as budget,
        one_blas_thread(),
        np.errstate(over="ignore"),
    ):
        run = Run(estimator, architecture, output, sample, watched, score, random, budget, fresh, once)
        theta, reason, log = run.stochastic(theta) if estimator.solver in STOCHASTIC else run.descent(theta)
        if not np.isfinite(theta).all():
            raise InvalidData(
                f"{who}: the weights overflowed; scale the columns of X (for example with StandardScaler), or lower "
                "learning_rate_init."
            )
        if estimator.polish and output.convex:
            theta = _polished(estimator, architecture, output, sample, theta)
        measured = _measure(estimator, architecture, output, sample, theta)
        if not math.isfinite(measured.objective) or not math.isfinite(float(np.linalg.norm(measured.gradient))):
            raise InvalidData(
                f"{who}: the gradient of the objective overflowed; scale the columns of X (for example with StandardScaler)."
            )
        if reporter is not None:
            reporter.finish()
        _record(estimator, architecture, output, sample, theta, reason, log, budget.seconds)
    if not once:
        _warn(estimator, reason, measured)
    return estimator


def _polished(estimator, architecture: Architecture, output: Output, sample: Sample, theta: np.ndarray) -> np.ndarray:
    """Solve the convex problem of the last layer with fixed hidden units."""
    network = Network(architecture, activation_named(estimator.activation), output, theta.astype(np.float64), ROWS)
    features = np.empty((sample.X.shape[0], architecture.sizes[-2]))
    whole_objective(network, sample.X, sample.Y, sample.weights, float(estimator.alpha), features)
    last = Architecture(architecture.sizes[-2:], architecture.tables[-1:])
    start = last.pack([network.coefs[-1]], [network.intercepts[-1]])
    objective, start = objective_of(estimator, last, output, sample._replace(X=features), start)
    budget = Budget(POLISH_STEPS, estimator.max_time)
    end, _, _ = descent.l_bfgs(objective, start, tol=1e-12, max_fun=10 * POLISH_STEPS, budget=budget)
    coefs, intercepts = last.unpack(end)
    return architecture.pack([*network.coefs[:-1], coefs[0]], [*network.intercepts[:-1], intercepts[0]]).astype(
        theta.dtype
    )


def _measure(estimator, architecture: Architecture, output: Output, sample: Sample, theta: np.ndarray) -> Measured:
    network = Network(architecture, activation_named(estimator.activation), output, theta.astype(np.float64), ROWS)
    objective, gradient = whole_objective(network, sample.X, sample.Y, sample.weights, float(estimator.alpha))
    return Measured(objective, gradient)


def _record(estimator, architecture, output, sample, theta, reason, log, seconds) -> None:
    estimator.coefs_, estimator.intercepts_ = architecture.unpack(theta)
    estimator.n_layers_ = len(architecture.sizes)
    estimator.n_outputs_ = architecture.sizes[-1]
    estimator.n_links_, estimator.n_parameters_ = architecture.n_links, architecture.n_parameters
    linked = any(table is not None for table in architecture.tables)
    estimator._tables = list(architecture.tables)
    names = (
        "packed_",
        *(("packed_links_",) if linked else ()),
        *(("classes_",) if hasattr(estimator, "classes_") else ()),
    )
    solved = estimator.solver not in STOCHASTIC or estimator.polish
    claims = ["gradient", *(["output_gap"] if solved and output.convex and estimator.alpha > 0 else []), "objective"]
    claims += [*(["links"] if linked else []), "global"]
    given = sample.y
    estimator._issue(
        "B",
        [Claim(f"network.{name}") for name in claims],
        problem=pose(estimator, sample.X, given, sample.weights, *(("classes_",) if "classes_" in names else ())),
        model=names,
        sample=(sample.X, given, sample.weights),
        run={
            "solver": estimator.solver,
            "reason": str(reason),
            "passes": int(estimator.n_iter_),
            "largest_rise": 0.0 if log is None else float(np.max(np.diff(log), initial=0.0)),
            "seconds": float(seconds),
        },
    )


def _warn(estimator, reason: Reason, measured: Measured) -> None:
    if reason is Reason.CONVERGED:
        return
    steepest = float(np.max(np.abs(measured.gradient), initial=0.0))
    warn(
        f"{type(estimator).__name__}: stopped after {estimator.n_iter_} passes with objective {measured.objective:.4g} and "
        f"largest derivative {steepest:.2g}: {reason.sentence()}.",
        ConvergenceWarning,
    )
