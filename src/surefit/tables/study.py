"""The main job on a table: split, encode, fit, verify, test. One call, one object that the surfaces print and draw."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from surefit._version import __version__
from surefit.checks import Verification
from surefit.core.budget import Reason
from surefit.tables.encoder import TableEncoder
from surefit.tables.model import TableRegressor, read_target
from surefit.tables.plan import Plan
from surefit.tables.remarks import remarks_on_features, remarks_on_target
from surefit.tables.table import Table, split_table

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "polars")


class Scores(NamedTuple):
    """Errors on rows the model has not seen, and the error of predicting the training mean."""

    rmse: float
    mae: float
    r2: float
    rmse_of_mean: float


class CoefficientPath(NamedTuple):
    """Coefficients along decreasing penalty weights, with the proved gap of each solution."""

    alphas: np.ndarray
    coefs: np.ndarray
    gaps: np.ndarray


@dataclass(frozen=True)
class Study:
    """A model fitted on a table, with all that was found out on the way.

    ``remarks`` holds what was odd about the data, ``stopped`` the reason why the fit ended early (None if it did not),
    ``seconds`` how long each stage took.
    """

    plan: Plan
    model: TableRegressor
    train: Table
    test: Table
    verification: Verification
    remarks: tuple[str, ...]
    stopped: Reason | None
    seconds: dict[str, float]

    @property
    def alpha(self) -> float:
        """Weight of the penalty in the model."""
        return float(getattr(self.model.estimator_, "alpha_", self.model.estimator_.get_params().get("alpha", np.nan)))

    @property
    def l1_ratio(self) -> float:
        """Share of the l1 norm in the penalty."""
        return float(self.model.certificate_.problem["l1_ratio"])

    @cached_property
    def observed(self) -> np.ndarray:
        """Target values of the test rows."""
        return read_target(self.test, self.model.target_) if self.test.frame.height else np.empty(0)

    @cached_property
    def predicted(self) -> np.ndarray:
        """Predictions for the test rows."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks about these rows were made when the study was
            return self.model.predict(self.test) if self.test.frame.height else np.empty(0)

    @cached_property
    def scores(self) -> Scores | None:
        """Errors on the test rows; None without a test part."""
        if not len(self.observed):
            return None
        residual = self.observed - self.predicted
        spread = self.observed - self.observed.mean()
        from_mean = self.observed - read_target(self.train, self.model.target_).mean()
        r2 = 1 - (residual @ residual) / (spread @ spread) if spread.any() else np.nan
        return Scores(_rms(residual), float(np.abs(residual).mean()), float(r2), _rms(from_mean))

    @cached_property
    def path(self) -> CoefficientPath:
        """Coefficients (of the encoded features) along the regularisation path of the training rows."""
        estimator, problem = self.model.estimator_, self.model.certificate_.problem
        X, y = self.model.encoder_.transform(self.train), read_target(self.train, self.model.target_)
        options: dict[str, Any] = {} if problem["l1_ratio"] == 1.0 else {"l1_ratio": problem["l1_ratio"]}
        if problem["l1_ratio"] == 0.0:  # no weight makes all coefficients zero: four decades around the chosen one
            options["alphas"] = max(self.alpha, 1e-12) * np.logspace(2, -2, 100)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a gap is drawn for each solution
            found = estimator.path(X, y, fit_intercept=True, tol=estimator.tol, max_time=self.plan.max_time, **options)
        return CoefficientPath(*found)


def study_table(table: Table, plan: Plan, callbacks: Iterable[Any] = ()) -> Study:
    """Fit a certified model on a table as ``plan`` says; see :class:`Study` for what comes back.

    Parameters
    ----------
    table : Table
        Features and target.
    plan : Plan
        What to do.
    callbacks : iterable of scikit-learn callbacks
        Told about the progress of the fit.

    Raises
    ------
    InvalidData
        If the table cannot be used; names column and row.

    Examples
    --------
    >>> import numpy as np, polars
    >>> from surefit.tables import Plan, as_table, study_table
    >>> x = np.arange(40.0)
    >>> study = study_table(as_table(polars.DataFrame({"x": x, "y": 3 * x + 1})), Plan(alpha=0.1))
    >>> study.stopped is None, study.scores.rmse < 0.2
    (True, True)
    """
    seconds: dict[str, float] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table, target = plan.prepared(table)
        read_target(table, target)  # refuse early, whichever part of the split the bad cell falls into
        train, test = split_table(table, plan.test_size, plan.seed)
        encoder = TableEncoder(standardise=plan.standardise, max_levels=plan.max_levels)
        estimator = plan.estimator(read_target(train, target))
        callbacks = list(callbacks)
        if callbacks:
            estimator.set_callbacks(*callbacks)
        with _timed(seconds, "fit"):
            model = TableRegressor(estimator, encoder).fit(train, target=target)
        estimator.set_callbacks()
        with _timed(seconds, "verify"):
            verification = model.verify(train)
        if test.frame.height:
            model.encoder_.transform(test)  # remarks and refusals about the test rows come now
    X, y = model.encoder_.transform(train), read_target(train, target)
    said = [*table.remarks, *remarks_on_target(y, target)]
    said += remarks_on_features(X, y, model.encoder_.feature_names_)
    said += list(dict.fromkeys(str(warning.message) for warning in caught))
    model.record_ = {"source": table.source, "plan": _plain(plan), "versions": versions(), "rows": table.frame.height}
    stopped = _why_stopped(model.estimator_, plan)
    return Study(plan, model, train, test, verification, tuple(said), stopped, seconds)


def training_part(model: TableRegressor, table: Table) -> Table:
    """Return the rows of ``table`` that a model of :func:`study_table` was fitted on, to verify its certificate.

    Parameters
    ----------
    model : TableRegressor
        The model; its ``record_`` tells what was left out and how the rows were split.
    table : Table
        The whole table, as it was read for the fit.

    Examples
    --------
    >>> from surefit.tables import Plan, builtin_table, study_table, training_part
    >>> study = study_table(builtin_table(), Plan(target="progression", alpha=1.0))
    >>> study.model.verify(training_part(study.model, builtin_table()))["penalised_squares.gap"].ok
    True
    """
    options = dict(model.record_["plan"])
    plan = Plan(**{**options, "drop": tuple(options["drop"])})
    return split_table(plan.prepared(table)[0], plan.test_size, plan.seed)[0]


def versions() -> dict[str, str]:
    """Versions of everything the numbers depend on."""
    found = {"surefit": __version__, "python": platform.python_version()}
    return found | {name: version(name) for name in LIBRARIES}


def file_fingerprint(path: str | Path) -> str:
    """Return the SHA-256 digest of a file, as ``sha256sum`` prints it."""
    digest = sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _why_stopped(estimator: Any, plan: Plan) -> Reason | None:
    reason = Reason(estimator.certificate_.run["reason"])
    if reason is not Reason.CONVERGED:
        return reason
    alphas = estimator.get_params().get("alphas")
    if alphas is not None and estimator.alphas_.shape[-1] < alphas:  # the comparison was cut short, not the final fit
        return Reason.MAX_TIME if plan.max_time is not None else Reason.INTERRUPTED
    return None


def _plain(plan: Plan) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(plan).items()}


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


class _timed:
    """Context that notes how long its block took."""

    def __init__(self, into: dict[str, float], name: str):
        self.into, self.name = into, name

    def __enter__(self):
        self.started = time.perf_counter()

    def __exit__(self, *_):
        self.into[self.name] = time.perf_counter() - self.started
