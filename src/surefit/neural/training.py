"""Training in one call of ``fit`` or ``partial_fit``: held-out rows, batches, steps, and a log for later calls."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from surefit.core.budget import Reason
from surefit.core.errors import DataWarning, InvalidData
from surefit.core.warn import warn
from surefit.solvers.networks import descent
from surefit.solvers.networks.activations import activation_named
from surefit.solvers.networks.backpropagation import ROWS, Network, whole_objective
from surefit.solvers.networks.epochs import Log, Plan, Rows, Validation, train
from surefit.solvers.networks.steps import Adam, Momentum

STOCHASTIC = ("adam", "sgd")


class Sample(NamedTuple):
    """Training rows of a network."""

    X: Any  # C order or CSR
    Y: np.ndarray  # (n, outputs), float64
    weights: np.ndarray | None
    y: np.ndarray  # in the format of the checker


Score = Callable[[np.ndarray, np.ndarray, np.ndarray | None], float]  # function of (Y, predictions, weights)


class Run:
    """One call of ``fit`` or ``partial_fit``."""

    def __init__(self, estimator, architecture, output, sample, watched, score, random, budget, fresh, once):
        self.estimator, self.architecture, self.output = estimator, architecture, output
        self.sample, self.watched, self.score = sample, watched, score
        self.random, self.budget, self.fresh, self.once = random, budget, fresh, once

    def stochastic(self, theta: np.ndarray) -> tuple[np.ndarray, Reason, list[float] | None]:
        """Train by mini-batches."""
        own, part = self.estimator, self.sample
        watched = self.watched
        if own.early_stopping and watched is None:
            part, watched = _split(own, part, self.random)
        batch = _batch_size(own, part.X.shape[0])
        network = Network(self.architecture, activation_named(own.activation), self.output, theta, max(batch, ROWS))
        stepper = _stepper(own, len(theta), theta.dtype)
        if self.once and hasattr(own, "_stepper_state"):
            stepper.go_on_from(own._stepper_state)
        log = Log() if self.fresh else _log_of(own)
        validation = None
        if watched is not None:
            target, weights = watched.Y, watched.weights
            validation = Validation(
                watched.X,
                target.astype(theta.dtype, copy=False),
                weights,
                lambda found: self.score(target, found, weights),
            )
        plan = Plan(
            alpha=float(own.alpha),
            batch=batch,
            random=self.random if own.shuffle else None,
            tol=float(own.tol),
            patience=float(own.n_iter_no_change),
            stop_early=own.early_stopping,
            once=self.once,
            tell=print if own.verbose else None,
        )
        rows = Rows(part.X, part.Y.astype(theta.dtype, copy=False), part.weights)
        own.n_iter_, reason = train(network, rows, stepper, log, self.budget, plan, validation)
        own.loss_, own.loss_curve_, own.t_ = log.losses[-1], log.losses, log.rows_seen
        own.validation_loss_curve_ = log.validation_losses if watched is not None else None
        own.validation_scores_ = log.validation_scores if watched is not None else None
        own.best_validation_score_ = log.best_score if own.early_stopping else None
        own.best_loss_ = None if own.early_stopping else log.best_loss
        own._lowest_loss, own._standing, own._stepper_state = log.best_loss, log.standing, stepper.state()
        return network.theta, reason, None

    def descent(self, theta: np.ndarray) -> tuple[np.ndarray, Reason, list[float] | None]:
        """Minimize the objective over all rows, in double precision."""
        own, part = self.estimator, self.sample
        objective, start = objective_of(own, self.architecture, self.output, part, theta)
        if own.solver == "lbfgs":
            end, losses, reason = descent.l_bfgs(
                objective, start, tol=float(own.tol), max_fun=own.max_fun, budget=self.budget
            )
            own.n_iter_ = len(losses)
        else:
            rate = float(own.learning_rate_init)
            end, losses, reason = descent.gradient_descent(
                objective, start, tol=float(own.tol), budget=self.budget, rate=rate
            )
            own.n_iter_ = len(losses) - 1
        own.loss_, own.best_loss_ = losses[-1], losses[-1]
        own.loss_curve_ = losses if self.fresh else [*getattr(own, "loss_curve_", []), *losses]
        own.validation_loss_curve_ = own.validation_scores_ = own.best_validation_score_ = None
        own.t_ = (0 if self.fresh else own.t_) + part.X.shape[0] * own.n_iter_
        own._lowest_loss, own._standing = losses[-1], 0
        return end.astype(theta.dtype), reason, losses


def objective_of(estimator, architecture, output, sample, theta):
    """Return the objective over all rows as a function of the packed parameters, and the starting point as float64."""
    network = Network(architecture, activation_named(estimator.activation), output, theta.astype(np.float64), ROWS)

    def value_and_gradient(at: np.ndarray) -> tuple[float, np.ndarray]:
        network.theta[:] = at
        network.follow()
        return whole_objective(network, sample.X, sample.Y, sample.weights, float(estimator.alpha))

    return value_and_gradient, network.theta.copy()


def _split(estimator, sample: Sample, random) -> tuple[Sample, Sample]:
    """Hold out validation rows by the same random draw as scikit-learn."""
    if not 0 < estimator.validation_fraction < 1 or sample.X.shape[0] * estimator.validation_fraction < 1:
        _too_small(estimator)
    columns = sample.Y if sample.weights is None else sample.weights
    stratify = sample.Y if hasattr(estimator, "classes_") and sample.Y.shape[1] == 1 else None
    rows = np.arange(sample.X.shape[0])
    size = estimator.validation_fraction
    try:
        kept, aside, _, _ = train_test_split(rows, columns, random_state=random, test_size=size, stratify=stratify)
    except ValueError as error:
        raise InvalidData(f"{type(estimator).__name__}: no rows could be held out for validation: {error}") from None
    if len(aside) < 2:
        _too_small(estimator)
    parts = []
    for chosen in (kept, aside):
        weights = None if sample.weights is None else sample.weights[chosen]
        parts.append(Sample(sample.X[chosen], sample.Y[chosen], weights, sample.y[chosen]))
    return parts[0], parts[1]


def _too_small(estimator) -> None:
    raise InvalidData(
        f"{type(estimator).__name__}: The validation set is too small: fewer than two rows. Increase "
        "validation_fraction, pass X_val and y_val to fit, or give more rows."
    )


def _batch_size(estimator, n: int) -> int:
    if estimator.batch_size == "auto":
        return min(200, n)
    if estimator.batch_size > n:
        warn(
            f"{type(estimator).__name__}: batch_size={estimator.batch_size} is larger than the {n} rows; using {n}.",
            DataWarning,
        )
    return min(int(estimator.batch_size), n)


def _stepper(estimator, size: int, dtype) -> Any:
    rate = estimator.learning_rate_init
    if estimator.solver == "adam":
        betas = {"beta_1": estimator.beta_1, "beta_2": estimator.beta_2, "epsilon": estimator.epsilon}
        return Adam(size, dtype, rate=rate, **betas)
    return Momentum(
        size,
        dtype,
        rate=rate,
        schedule=estimator.learning_rate,
        momentum=estimator.momentum,
        nesterov=estimator.nesterovs_momentum,
        power=estimator.power_t,
    )


def _log_of(estimator) -> Log:
    """Return the log of an earlier call."""
    best = estimator.best_validation_score_
    return Log(
        list(estimator.loss_curve_),
        list(estimator.validation_loss_curve_ or []),
        list(estimator.validation_scores_ or []),
        estimator._lowest_loss,
        -math.inf if best is None else best,
        estimator._standing,
        estimator.t_,
    )


def as_rows(X) -> Any:
    """Return X with fast access to rows: CSR, or an array in C order."""
    return X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X)
