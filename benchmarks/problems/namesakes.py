"""Estimators of the same name in surefit and scikit-learn, several per workload: equal parameters, equal data, one measure."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import OURS, Quality, Workload

SEED = 0


class Namesake(NamedTuple):
    """An estimator, where scikit-learn has it, its parameters, its target, and what is asked of it."""

    module: str
    name: str
    params: Mapping[str, Any] = {}
    target: str | None = None  # a field of the data; None: no target
    asked: str = "predict"  # method that is called with the queries; "": none
    rows: str = "X"


class Rows(NamedTuple):
    """Rows, queries from the same distribution, and one target per task."""

    X: np.ndarray
    counts: np.ndarray  # whole numbers, for models of counts
    queries: np.ndarray
    labels: np.ndarray  # of two classes
    numbers: np.ndarray
    positive: np.ndarray
    table: np.ndarray  # (n, 3) targets


class Answer(NamedTuple):
    """What was fitted, and what it said about the queries."""

    model: Any
    said: Any


def make(n: int, d: int) -> Rows:
    """Draw rows around two overlapping means, and targets of a linear score with noise."""
    rng = np.random.default_rng(SEED)
    labels = rng.integers(2, size=n)
    X = rng.standard_normal((n, d)) + 0.5 * labels[:, None] * rng.standard_normal(d)
    w = rng.standard_normal((d, 3)) / np.sqrt(d)
    table = X @ w + 0.5 * rng.standard_normal((n, 3))
    counts = rng.poisson(np.exp(0.5 * X - 0.5))
    positive = np.exp(0.5 * table[:, 0])
    return Rows(X, counts, X[: max(n // 5, 1)], labels, table[:, 0], positive, table)


def add_solvers(workload: Workload, tasks: Sequence[Namesake]) -> None:
    """Register both libraries: each fits all estimators, one after another, and asks them."""

    @workload.solver(OURS)
    def surefit(data: Rows) -> dict[str, Answer]:
        import surefit

        return {task.name: _answer(getattr(surefit, task.name), task, data) for task in tasks}

    @workload.solver("scikit-learn", package="sklearn")
    def scikit_learn(data: Rows) -> dict[str, Answer]:
        modules = {task.module: import_module(f"sklearn.{task.module}") for task in tasks}
        return {task.name: _answer(getattr(modules[task.module], task.name), task, data) for task in tasks}


def _answer(kind: type, task: Namesake, data: Rows) -> Answer:
    rows = getattr(data, task.rows)
    shared = {"n_jobs": -1} if "n_jobs" in signature(kind).parameters else {}
    model: Any = kind(**shared, **task.params)
    model.fit(rows) if task.target is None else model.fit(rows, getattr(data, task.target))
    queries = data.queries if task.rows == "X" else rows[: len(data.queries)]
    return Answer(model, getattr(model, task.asked)(queries) if task.asked else None)


def wrong(data: Rows, said: np.ndarray) -> float:
    """Return the share of wrong labels among the queries."""
    return float(np.mean(said != data.labels[: len(said)]))


def squares(target: np.ndarray, said: np.ndarray) -> float:
    """Return the mean squared error."""
    return float(np.mean((said - target[: len(said)]) ** 2))


def scatter(X: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean squared distance from the mean of the own cluster."""
    parts = [X[labels == k] for k in np.unique(labels)]
    return float(sum(np.sum((part - part.mean(axis=0)) ** 2) for part in parts) / len(X))


def total(*parts: float) -> Quality:
    """Return the sum of the objectives of all estimators."""
    return Quality(float(sum(parts)))
