"""Registry of the estimators that support partitioned rows, and the common steps of their fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from surefit.cluster.rows import rows_of
from surefit.cluster.summary import name_single_labels
from surefit.core.budget import Budget, Reason
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import complete
from surefit.core.partitioned import ClusterLost, PartitionedRows

Trainer = Callable[[Any, Any], Any]
TRAINERS: dict[str, Trainer] = {}
REFERRING: set[str] = set()


def trains(*estimators: str, refers: bool = False) -> Callable[[Trainer], Trainer]:
    """Register the function that fits these estimators to partitioned rows, sets the attributes and issues the certificate.

    If a model ``refers`` to its training rows, it predicts on the client, so other estimators cannot test it within a
    pass.
    """

    def add(trainer: Trainer) -> Trainer:
        TRAINERS.update(dict.fromkeys(estimators, trainer))
        REFERRING.update(estimators if refers else ())
        return trainer

    return add


def trainers() -> dict[str, Trainer]:
    """Return all registered functions by estimator name; modules of ``surefit.cluster.training`` register them on import."""
    package = import_module("surefit.cluster.training")
    for module in iter_modules(package.__path__, f"{package.__name__}."):
        import_module(module.name)
    return TRAINERS


def unsupported(estimator: Any) -> InvalidData:
    """Return the error for an estimator that needs all rows in memory."""
    return InvalidData(
        f"{type(estimator).__name__}: this estimator needs its rows in memory; Dask collections and Parquet paths are supported by "
        f"{', '.join(sorted(trainers()))}."
    )


def trainer_of(estimator: Any) -> Trainer | None:
    """Return the function that fits an estimator to partitioned rows; None if there is none."""
    names = (cls.__name__ for cls in type(estimator).__mro__ if cls.__module__.startswith("surefit."))
    return next((found for name in names if (found := trainers().get(name)) is not None), None)


def require_trainable(who: str, estimator: Any) -> Any:
    """Return ``estimator`` if another estimator can fit it to partitioned rows; raise ``InvalidData`` otherwise."""
    own = {cls.__name__ for cls in type(estimator).__mro__}
    if trainer_of(estimator) is None or own & REFERRING:
        library = type(estimator).__module__.partition(".")[0]
        raise InvalidData(
            f"{who}: estimator must support rows in partitions; got {type(estimator).__name__} of {library}. Supported are "
            f"{', '.join(sorted(set(trainers()) - REFERRING))}."
        )
    return estimator


def fit(
    estimator: Any, method: str, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None, **more: Any
) -> Any:
    """Fit ``estimator`` to a Dask collection or Parquet path; return the estimator.

    ``offset`` and ``more`` are arguments of ``fit`` that are supported only for rows in memory.
    """
    trainer = trainer_of(estimator)
    if trainer is None or method != "fit":
        raise unsupported(estimator)
    if given := [name for name, value in more.items() if value is not None]:
        raise InvalidData(f"{type(estimator).__name__}: {', '.join(given)} must be left out for rows in partitions.")
    if hasattr(estimator, "_rules"):
        from surefit.core.validation import check_params

        check_params(estimator)
    who = type(estimator).__name__
    if offset is not None:
        raise InvalidData(
            f"{who}: offset needs rows in memory; fit to the rates, with exposures as sample_weight, instead."
        )
    tags = estimator.__sklearn_tags__()
    required, missing = tags.target_tags.required, tags.input_tags.allow_nan
    with _named(who, "no point was found"):  # a target that the fit does not use gets no fingerprint
        rows = rows_of(who, X, y if required else None, sample_weight, missing)
    if required and rows.target_shape is None:
        raise InvalidData(f"{who}: requires y to be passed, but the target y is None.")
    estimator.n_features_in_ = rows.shape[1]
    if rows.columns is not None:
        estimator.feature_names_in_ = rows.columns
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # left by an earlier fit
    if tags.estimator_type == "classifier":
        _require_labels(who, rows)
    with _named(who, "no point was found"):
        trainer(estimator, rows)
    fitted = rows.traffic.as_dict()
    with _named(who, "the model is fitted, but its certificate is not proved"):
        complete(estimator)
    total = rows.traffic.as_dict()
    estimator.cluster_ = {
        "partitions": len(rows.lengths),
        "rows": rows.shape[0],
        **fitted,
        "certificate_passes": total["passes"] - fitted["passes"],
    }
    return estimator


class PassBudget(Budget):
    """Budget that also interrupts passes over the rows, but only after the first call of ``spent``."""

    def __init__(self, rows: PartitionedRows, *limits: Any) -> None:
        super().__init__(*limits)
        self.rows = rows

    def spent(self, n_iter: int = 0, gap: float = float("nan")) -> Reason | None:
        """Return the reason to stop, or None to continue; from now on, passes are interrupted too."""
        self.rows.budget = self
        return super().spent(n_iter, gap)


def require_defaults(estimator: Any, **defaults: Any) -> None:
    """Raise ``InvalidParameter`` for a parameter whose non-default values are supported only for rows in memory."""
    for name, default in defaults.items():
        value = getattr(estimator, name, default)
        if value is not default and value != default:
            raise InvalidParameter(type(estimator).__name__, name, f"{default!r} for rows in partitions", value)


def require_class_weights(estimator: Any, rows: PartitionedRows) -> Any:
    """Return the labels; raise ``InvalidData`` if a class has no row of positive weight."""
    assert rows.labels is not None and rows.counts is not None
    for label, weight in zip(rows.labels.tolist(), rows.counts.tolist(), strict=True):
        if not weight > 0:
            raise InvalidData(
                f"{type(estimator).__name__}: class {label!r} has no row of positive weight; leave the class out, or give one of "
                "its rows a weight."
            )
    return rows.labels


@contextmanager
def _named(who: str, otherwise: str) -> Iterator[None]:
    """Add the name of the estimator and the location of the best point to the error of a lost cluster."""
    try:
        yield
    except ClusterLost as error:
        if error.best:
            gap = f", with a gap of {error.best['gap']:.3g}," if "gap" in error.best else ""
            otherwise = f"the best point so far{gap} is in the error's best"
        raise ClusterLost(f"{who}: {error}; {otherwise}. Start workers and fit again.", error.best) from None


def _require_labels(who: str, rows: PartitionedRows) -> None:
    if rows.labels is None:
        raise InvalidData(f"{who}: y has too many distinct values to be labels; use a regressor.")
    if len(rows.labels) < 2:
        raise InvalidData(
            f"{who}: y has one class only ({rows.labels.tolist()[0]!r}); a classifier needs at least two."
        )
    if rows.labels.dtype.kind == "f" and any(label != round(label) for label in rows.labels.tolist()):
        raise InvalidData(
            f"{who}: Unknown label type: continuous. y must be labels, not measurements; use a regressor."
        )
    name_single_labels(who, getattr(rows, "single_label", ()), len(rows.lengths))
