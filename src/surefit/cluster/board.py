"""Comparison of scalable models on Parquet files: fit on four fifths of the rows, test on the rest, refit the best on all rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import dask
import numpy as np
from sklearn.base import clone

from surefit.cluster.rows import DaskRows
from surefit.cluster.sources import Sources, sources_of
from surefit.core.errors import InvalidData, SurefitError
from surefit.core.partitioned import ClusterLost, Part, PartitionedRows, table_of
from surefit.discriminants.gaussian_nb import GaussianNB
from surefit.discriminants.lda import LinearDiscriminantAnalysis
from surefit.ensembles.boosted_classifier import HistGradientBoostingClassifier
from surefit.ensembles.boosted_regressor import HistGradientBoostingRegressor
from surefit.ensembles.forest_classifier import RandomForestClassifier
from surefit.ensembles.forest_regressor import RandomForestRegressor
from surefit.kernel_machines.nystroem_logistic import NystroemLogisticRegression
from surefit.kernel_machines.nystroem_ridge import NystroemRidge
from surefit.linear.lasso.cross_validated import LassoCV
from surefit.linear.logistic.classifier import LogisticRegression
from surefit.linear.margins.classifier import LinearSVC
from surefit.linear.margins.regressor import LinearSVR
from surefit.linear.quantile import QuantileRegressor
from surefit.linear.ridge.classifier import RidgeClassifier
from surefit.linear.ridge.cross_validated import RidgeCV

EVERY = 5  # one in this many rows is a test row
MOST_CLASSES = 20  # largest number of distinct integers that count as labels
SMALL = {"n_estimators": 30, "max_depth": 10, "random_state": 0}  # a forest whose histograms take few passes


class Line(NamedTuple):
    """One candidate: its score on the test rows, the proved gap of its fit if it has one, and the cost of the fit."""

    model: Any
    score: float  # error rate, or root mean squared error
    gap: float | None
    seconds: float
    passes: int
    bytes_moved: int
    note: str = ""


class Outcome(NamedTuple):
    """Leaderboard with the best model first, and the best model refitted on all rows."""

    task: str
    lines: list[Line]
    model: Any
    rows: int
    partitions: int


@contextmanager
def connected(cluster: str) -> Iterator[None]:
    """Run passes within this context on ``local`` processes, with ``threads``, or on the scheduler at an address."""
    if cluster == "threads":
        with dask.config.set(scheduler="threads"):
            yield
        return
    from distributed import Client, LocalCluster

    if cluster == "local":
        options = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}  # nothing listens beyond this machine
        with LocalCluster(**options) as workers, Client(workers):  # type: ignore[no-untyped-call]
            yield
        return
    try:
        client = Client(cluster, timeout=10)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise ClusterLost(f"{cluster}: no scheduler answers at this address ({type(error).__name__}).") from None
    with client:
        yield


def compare(path: str, target: str, *, max_time: float, watch: Callable[[Line], None] = lambda line: None) -> Outcome:
    """Compare all candidates within ``max_time`` seconds; at least one is fitted."""
    sources, began = sources_of("fit", path, target), time.monotonic()
    rows = DaskRows("fit", sources)  # first, so that errors locate an invalid row in the file
    train, test = (DaskRows("fit", _divided(sources, testing)) for testing in (False, True))
    task = task_of(train)
    lines: list[Line] = []
    for candidate in candidates(task):
        left = max_time - (time.monotonic() - began)
        if lines and left <= 0:
            break
        if "max_time" in candidate.get_params():
            candidate.set_params(max_time=max(left, 1.0))
        line = _tried(candidate, train, test, sources.columns, task)
        watch(line)
        lines.append(line)
    lines.sort(key=lambda line: line.score if line.score == line.score else float("inf"))
    if not lines[0].score < float("inf"):
        raise InvalidData(f"fit: no candidate could be fitted; the first error was: {lines[0].note}")
    model = clone(lines[0].model).fit(rows)
    model.verify(rows)
    return Outcome(task, lines, model, rows.shape[0], len(rows.lengths))


def task_of(rows: PartitionedRows) -> str:
    """Return ``"classification"`` if the target consists of labels, otherwise ``"regression"``."""
    few = rows.labels is not None and len(rows.labels) <= MOST_CLASSES
    whole = rows.labels is not None and (
        rows.labels.dtype.kind != "f" or bool(np.all(rows.labels == np.floor(rows.labels)))
    )
    return "classification" if (few and whole) or rows.largest_target < rows.smallest_target else "regression"


def candidates(task: str) -> list[Any]:
    """Return the models to compare, the fastest first."""
    if task == "regression":
        return [
            RidgeCV(alphas=np.logspace(-3, 3, 13)),
            LassoCV(alphas=30),
            NystroemRidge(random_state=0),
            RandomForestRegressor(**SMALL),
            HistGradientBoostingRegressor(random_state=0),
            LinearSVR(),
            QuantileRegressor(alpha=0.0, tol=1e-6),
        ]
    return [
        GaussianNB(),
        LinearDiscriminantAnalysis(),
        RidgeClassifier(),
        LogisticRegression(),
        NystroemLogisticRegression(random_state=0),
        RandomForestClassifier(**SMALL),
        HistGradientBoostingClassifier(random_state=0),
        LinearSVC(),
    ]


def _tried(candidate: Any, train: PartitionedRows, test: PartitionedRows, columns: Any, task: str) -> Line:
    began, before = time.monotonic(), train.traffic.as_dict()
    try:
        model = candidate.fit(train)
    except ClusterLost:
        raise
    except (SurefitError, ArithmeticError, ValueError) as error:
        return Line(candidate, float("nan"), None, time.monotonic() - began, 0, 0, str(error))
    spent = {name: value - before[name] for name, value in train.traffic.as_dict().items()}
    loss, weight = test.map_reduce(_losses, model, columns, task)
    score = loss / weight if task == "classification" else (loss / weight) ** 0.5
    moved = spent["bytes_sent"] + spent["bytes_reduced"]
    gap = getattr(model, "dual_gap_", None)
    return Line(model, float(score), gap, time.monotonic() - began, spent["passes"], moved)


def _losses(part: Part, model: Any, columns: Any, task: str) -> np.ndarray:
    predicted = model.predict(table_of(part.X, columns))
    losses = predicted != part.y if task == "classification" else (predicted - np.asarray(part.y, dtype=float)) ** 2
    return np.array([float(np.sum(losses)), float(len(losses))])


def _divided(sources: Sources, testing: bool) -> Sources:
    """Return the test rows or the training rows of every partition."""
    assert sources.lengths is not None
    starts = np.concatenate([[0], np.cumsum(sources.lengths)[:-1]]).astype(int).tolist()
    take = dask.delayed(_take, pure=False)
    X, y = ([take(a, s, testing) for a, s in zip(column, starts, strict=True)] for column in (sources.X, sources.y))
    lengths = tuple(len(_chosen(n, start, testing)) for n, start in zip(sources.lengths, starts, strict=True))
    return sources._replace(X=X, y=y, lengths=lengths)


def _chosen(n: int, start: int, testing: bool) -> np.ndarray:
    place = (np.arange(n) + start) % EVERY == EVERY - 1
    return np.flatnonzero(place == testing)


def _take(values: Any, start: int, testing: bool) -> np.ndarray:
    values = np.asarray(values)
    return values[_chosen(len(values), start, testing)]
