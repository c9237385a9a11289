"""Stochastic training: epochs of mini-batches, stopping rules, and learning curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.budget import Budget, Reason
from surefit.solvers.networks import outputs
from surefit.solvers.networks.backpropagation import NO_WEIGHTS, Network, as_type, row_pieces

UNBOUNDED = float("inf")


@dataclass
class Log:
    """History of a fit; ``warm_start`` and ``partial_fit`` continue it."""

    losses: list[float] = field(default_factory=list)  # mean loss of the batches of an epoch, including the penalty
    validation_losses: list[float] = field(default_factory=list)  # mean loss of the validation rows, without penalty
    validation_scores: list[float] = field(default_factory=list)
    best_loss: float = UNBOUNDED
    best_score: float = -UNBOUNDED
    standing: int = 0  # epochs without progress
    rows_seen: int = 0


@dataclass(frozen=True)
class Validation:
    """Validation rows, which are not used for training."""

    X: Any
    Y: np.ndarray
    weights: np.ndarray | None
    score: Callable[[np.ndarray], float]  # score of predictions, larger is better


class Rows(NamedTuple):
    """Training rows."""

    X: Any
    Y: np.ndarray
    weights: np.ndarray | None


@dataclass(frozen=True)
class Plan:
    """Settings of the training loop."""

    alpha: float
    batch: int
    random: np.random.RandomState | None  # shuffles the rows before each epoch; None keeps their order
    tol: float  # the fit stops after more than ``patience`` epochs in a row without an improvement by ``tol``
    patience: float
    stop_early: bool = False  # measure progress by the validation score, and restore the parameters with the best score
    once: bool = False  # one epoch only
    tell: Callable[[str], None] | None = None


def train(
    network: Network,
    rows: Rows,
    stepper: Any,
    log: Log,
    budget: Budget,
    plan: Plan,
    validation: Validation | None = None,
) -> tuple[int, Reason]:
    """Train in place; return the number of epochs and why training stopped."""
    random, tol = plan.random, plan.tol
    order = np.arange(rows.X.shape[0])
    best = network.theta.copy()
    n_iter, reason = 0, None
    while reason is None:
        if random is not None:
            # Shuffle the last order once, as scikit-learn does, so that equal seeds give equal batches.
            turn = np.arange(len(order))
            random.shuffle(turn)
            order = order[turn]
        loss = _epoch(network, rows, stepper, order, plan, budget)
        n_iter += 1
        log.losses.append(loss)
        log.rows_seen += len(order)
        if validation is not None:
            _watch(network, validation, log)
        if plan.stop_early:
            improved = log.validation_scores[-1] > log.best_score
            log.standing = log.standing + 1 if log.validation_scores[-1] < log.best_score + tol else 0
            if improved:
                log.best_score, best = log.validation_scores[-1], network.theta.copy()
        else:
            log.standing = log.standing + 1 if loss > log.best_loss - tol else 0
        log.best_loss = min(log.best_loss, loss)
        stepper.end_epoch(log.rows_seen)
        if plan.tell is not None:
            watched = f", validation loss {log.validation_losses[-1]:.6g}" if validation is not None else ""
            plan.tell(f"epoch {n_iter}: loss {loss:.6g}{watched}")
        reason = budget.spent(n_iter, loss)
        if log.standing > plan.patience:
            if stepper.gives_up():
                reason = Reason.CONVERGED
            else:
                log.standing = 0
        if plan.once or not np.isfinite(loss):
            break
    if plan.stop_early and np.isfinite(log.best_score):
        network.theta[:] = best
        network.follow()
    return n_iter, reason or Reason.MAX_ITER


def mean_loss(network: Network, X, Y, weights: np.ndarray | None) -> tuple[float, np.ndarray]:
    """Return the mean loss of rows, without the penalty, and their predictions."""
    found = np.empty(Y.shape, dtype=network.theta.dtype)
    loss = 0.0
    for piece in row_pieces(X.shape[0]):
        scores = network.scores(as_type(X[piece], network.theta.dtype))
        found[piece] = scores
        part = NO_WEIGHTS if weights is None else weights[piece]
        loss += outputs.loss_and_derivative(network.output, scores, Y[piece], part)
    total = X.shape[0] if weights is None else float(np.sum(weights))
    return loss / total, outputs.predict(network.output, found)


def _watch(network: Network, validation: Validation, log: Log) -> None:
    loss, found = mean_loss(network, validation.X, validation.Y, validation.weights)
    log.validation_losses.append(loss)
    log.validation_scores.append(validation.score(found))


def _epoch(network: Network, sample: Rows, stepper: Any, order: np.ndarray, plan: Plan, budget: Budget) -> float:
    (X, Y, weights), batch, alpha, shuffled = sample, plan.batch, plan.alpha, plan.random is not None
    n, loss, seen = len(order), 0.0, 0
    rows = None if sparse.issparse(X) else np.empty((batch, X.shape[1]), dtype=X.dtype)
    targets = np.empty((batch, Y.shape[1]), dtype=Y.dtype)
    for start in range(0, n, batch):
        size = min(batch, n - start)
        chosen: Any = order[start : start + size] if shuffled else slice(start, start + size)
        if not shuffled or rows is None:
            part, own = X[chosen], Y[chosen]
        else:
            part = X.take(chosen, axis=0, out=rows[:size], mode="clip")
            own = Y.take(chosen, axis=0, out=targets[:size], mode="clip")
        s = NO_WEIGHTS if weights is None else weights[chosen]
        total = float(size) if weights is None else float(np.sum(s))
        if total == 0.0:  # all rows of the batch have weight zero
            continue
        bare = network.sweep(part, own, s)
        loss += (bare + 0.5 * alpha * network.penalty()) / total * size
        seen += size
        stepper.move(network.theta, network.gradient, network.n_weights, alpha, total)
        network.follow()
        if budget.stopped is not None or (budget.max_time is not None and budget.seconds >= budget.max_time):
            break
    return loss / seen if seen else 0.0
