"""Encoded parts of a table, and fits on them; features and target are standardized by the fitted rows alone."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefit.core.errors import InvalidData
from surefit.studies.families import Candidate
from surefit.studies.model import CalibratedModel
from surefit.studies.options import Options
from surefit.studies.prepare import Prepared
from surefit.studies.splits import Split
from surefit.tables import TableEncoder


@dataclass(frozen=True)
class Encoded:
    """Part of the rows, encoded by an encoder fitted on it; ``held`` are its held-out rows."""

    encoder: TableEncoder
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    rows: np.ndarray
    X_held: np.ndarray
    held: np.ndarray
    y_held: np.ndarray
    units_held: np.ndarray | None
    classes: tuple[str, ...]
    assume: tuple[str, ...] = ()


def encode_part(prepared: Prepared, rows: np.ndarray, held: np.ndarray, options: Options) -> Encoded:
    """Fit an encoder on some rows; encode them, and held-out rows, with it."""
    table, target = prepared.table, prepared.target
    encoder = TableEncoder(prepared.kinds).fit(table.take(rows))
    y = target.y[rows]
    if target.classes and len(np.unique(y)) < 2:
        raise InvalidData(
            f"{table.source}: a part of the rows has only one class of {target.name!r}; there are too few rows of the others."
        )
    empty = np.empty((0, len(encoder.feature_names_)))
    return Encoded(
        encoder, encoder.transform(table.take(rows)), y, effective_weights(prepared, rows, options), rows,
        encoder.transform(table.take(held)) if len(held) else empty, held, target.y[held],
        prepared.units[held] if prepared.grouped else None, target.classes,
        ("equal_rows_are_draws",) if prepared.draws else (),
    )  # fmt: skip


def fold_data(prepared: Prepared, split: Split, options: Options) -> list[Encoded]:
    """Encode every fold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about the rows are issued once, for the final fit
        return [encode_part(prepared, rows, held, options) for rows, held in split.folds]


def few_rows(part: Encoded, most: int) -> Encoded:
    """Return a part with at most ``most`` rows, spread evenly over the values of the target."""
    if len(part.y) <= most:
        return part
    chosen = np.argsort(part.y, kind="stable")[np.linspace(0, len(part.y) - 1, most).astype(np.int64)]
    weights = None if part.weights is None else part.weights[chosen]
    return replace(part, X=part.X[chosen], y=part.y[chosen], weights=weights, rows=part.rows[chosen])


def class_weights(prepared: Prepared, options: Options) -> np.ndarray | None:
    """Return the weight of each class, or None if all are equal."""
    asked, classes = options.class_weight, prepared.target.classes
    if asked is None or not classes:
        return None
    if asked == "balanced":
        counts = np.bincount(prepared.target.y, minlength=len(classes))
        return len(prepared.target.y) / (len(classes) * np.maximum(counts, 1))
    assert isinstance(asked, dict)
    unknown = sorted(set(asked) - set(classes))
    if unknown:
        raise InvalidData(f"--class-weight names the class {unknown[0]!r}; the classes are {', '.join(classes)}.")
    return np.array([float(asked.get(name, 1.0)) for name in classes])


def effective_weights(prepared: Prepared, rows: np.ndarray, options: Options) -> np.ndarray | None:
    """Return the weight of each row in a fit: its own weight times that of its class; None if all are 1."""
    by_class = class_weights(prepared, options)
    own = prepared.weights
    if by_class is None and own is None:
        return None
    weights = np.ones(len(rows)) if own is None else own[rows].astype(np.float64)
    return weights if by_class is None else weights * by_class[prepared.target.y[rows]]


def fit_on(candidate: Candidate, part: Encoded, options: Options, seconds: float) -> CalibratedModel:
    """Fit a candidate on a part; its probabilities are not yet calibrated."""
    estimator = candidate.build(options.seed)
    if "max_time" in estimator.get_params(deep=False):
        estimator.set_params(max_time=float(max(seconds, 0.5)))
    model = CalibratedModel()
    model.shift_, model.scale_, model.offset_ = 0.0, 1.0, 0.0
    y: Any = part.y
    if not part.classes:
        model.shift_ = float(np.average(part.y, weights=part.weights))
        model.scale_ = float(np.std(part.y)) or 1.0
        y = (part.y - model.shift_) / model.scale_
    given = {} if part.weights is None else {"sample_weight": part.weights}
    model.estimator_ = estimator.fit(part.X, y, **given)
    model.classes_ = np.asarray(part.classes, dtype=str)
    model.slope_, model.intercepts_ = 1.0, ()
    model.decision_ = np.ones(len(part.classes))
    return model
