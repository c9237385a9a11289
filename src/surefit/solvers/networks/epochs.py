"""Stochastic training: epochs of mini-batches, a rule for standing still, and curves of what happened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.budget import Budget, Reason
from surefit.solvers.networks import outputs
from surefit.solvers.networks.backpropagation import NO_WEIGHTS, Network, as_type, row_pieces

UNBOUNDED = float("inf")


@dataclass
class Log:
    """What happened so far; ``warm_start`` and ``partial_fit`` go on with it."""

    losses: list[float] = field(default_factory=list)  # mean loss of the batches of an epoch, penalty included
    validation_losses: list[float] = field(default_factory=list)  # mean loss of the validation rows, without penalty
    validation_scores: list[float] = field(default_factory=list)
    best_loss: float = UNBOUNDED
    best_score: float = -UNBOUNDED
    standing: int = 0  # epochs without progress
    rows_seen: int = 0


@dataclass(frozen=True)
class Validation:
    """Rows that are watched, never trained on."""

    X: Any
    Y: np.ndarray
    weights: np.ndarray | None
    score: Callable[[np.ndarray], float]  # of predictions, larger is better


def train(
    network: Network,
    X,
    Y: np.ndarray,
    weights: np.ndarray | None,
    stepper: Any,
    log: Log,
    budget: Budget,
    *,
    alpha: float,
    batch: int,
    random: np.random.RandomState | None,
    tol: float,
    patience: float,
    validation: Validation | None = None,
    stop_early: bool = False,
    once: bool = False,
    tell: Callable[[str], None] | None = None,
) -> tuple[int, Reason]:
    """Train in place; return the number of epochs and why they ended.

    Parameters
    ----------
    random : RandomState or None
        Shuffles the rows before each epoch; None keeps their order.
    tol, patience : float
        More than ``patience`` epochs in a row without an improvement by ``tol`` end the fit.
    stop_early : bool
        Judge progress by the validation score, and return to the parameters of the best one.
    once : bool
        One epoch only.
    """
    order = np.arange(X.shape[0])
    best = network.theta.copy()
    n_iter, reason = 0, None
    while reason is None:
        if random is not None:
            # One shuffle applied to the last order: the stream of scikit-learn, so that equal seeds give equal batches.
            turn = np.arange(len(order))
            random.shuffle(turn)
            order = order[turn]
        loss = _epoch(network, X, Y, weights, stepper, order, batch, alpha, random is not None, budget)
        n_iter += 1
        log.losses.append(loss)
        log.rows_seen += len(order)
        if validation is not None:
            _watch(network, validation, log)
        if stop_early:
            improved = log.validation_scores[-1] > log.best_score
            log.standing = log.standing + 1 if log.validation_scores[-1] < log.best_score + tol else 0
            if improved:
                log.best_score, best = log.validation_scores[-1], network.theta.copy()
        else:
            log.standing = log.standing + 1 if loss > log.best_loss - tol else 0
        log.best_loss = min(log.best_loss, loss)
        stepper.end_epoch(log.rows_seen)
        if tell is not None:
            watched = f", validation loss {log.validation_losses[-1]:.6g}" if validation is not None else ""
            tell(f"epoch {n_iter}: loss {loss:.6g}{watched}")
        reason = budget.spent(n_iter, loss)
        if log.standing > patience:
            if stepper.gives_up():
                reason = Reason.CONVERGED
            else:
                log.standing = 0
        if once or not np.isfinite(loss):
            break
    if stop_early and np.isfinite(log.best_score):
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
        loss += outputs.loss_and_slope(network.output, scores, Y[piece], part)
    total = X.shape[0] if weights is None else float(np.sum(weights))
    return loss / total, outputs.predict(network.output, found)


def _watch(network: Network, validation: Validation, log: Log) -> None:
    loss, found = mean_loss(network, validation.X, validation.Y, validation.weights)
    log.validation_losses.append(loss)
    log.validation_scores.append(validation.score(found))


def _epoch(network, X, Y, weights, stepper, order, batch, alpha, shuffled, budget) -> float:
    n, loss, seen = len(order), 0.0, 0
    rows = None if sparse.issparse(X) else np.empty((batch, X.shape[1]), dtype=X.dtype)
    targets = np.empty((batch, Y.shape[1]), dtype=Y.dtype)
    for start in range(0, n, batch):
        size = min(batch, n - start)
        chosen: Any = order[start : start + size] if shuffled else slice(start, start + size)
        if not shuffled:
            part, own = X[chosen], Y[chosen]
        elif rows is None:
            part, own = X[chosen], Y[chosen]
        else:
            part = X.take(chosen, axis=0, out=rows[:size], mode="clip")
            own = Y.take(chosen, axis=0, out=targets[:size], mode="clip")
        s = NO_WEIGHTS if weights is None else weights[chosen]
        total = float(size) if weights is None else float(np.sum(s))
        if total == 0.0:  # every row of the batch has weight zero: nothing is asked of it
            continue
        bare = network.sweep(part, own, s)
        loss += (bare + 0.5 * alpha * network.penalty()) / total * size
        seen += size
        stepper.move(network.theta, network.gradient, network.n_weights, alpha, total)
        network.follow()
        if budget.stopped is not None or (budget.max_time is not None and budget.seconds >= budget.max_time):
            break
    return loss / seen if seen else 0.0
