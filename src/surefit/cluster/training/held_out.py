"""``Certified`` by holdout, and split conformal prediction: a model fitted to a view of the rows and tested on the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from surefit.bounds.conformal import conformal_quantile
from surefit.cluster.fitting import require_trainable, trains
from surefit.cluster.rows import DaskRows
from surefit.cluster.splits import Split, draw_split, training_rows, why_void
from surefit.core.claims import Claim
from surefit.core.errors import DataWarning, InvalidParameter
from surefit.core.marks import at_rows
from surefit.core.warn import warn
from surefit.problems import pose
from surefit.risk.conformal_statement import split_claims
from surefit.risk.losses import Loss, losses_of, respond
from surefit.risk.measured import loss_for
from surefit.risk.tested_rows import Asked, claim_of_losses
from surefit.risk.units import Units


@trains("Certified")
def certified(estimator: Any, rows: DaskRows) -> Any:
    """Test a model on held-out rows drawn by their marks; the model is fitted to all other rows."""
    who, base = type(estimator).__name__, require_trainable(type(estimator).__name__, estimator._base())
    if estimator.by != "holdout":
        raise InvalidParameter(who, "by", "'holdout' for rows in partitions", estimator.by)
    loss = loss_for(who, base, estimator.by, estimator.loss, estimator.y_range, estimator.tolerance)
    split = _split(estimator, rows, estimator.test_size, "test_size")
    twin = clone(base).fit(training_rows(who, rows, split))
    losses, targets = at_rows(rows, None, split.rows, _losses, who, twin, loss)
    delta = 1.0 - estimator.confidence
    asked = Asked(who, loss, _units(split), delta, estimator.coverage, tuple(estimator.assume))
    claim = claim_of_losses(
        asked, losses, targets, np.arange(len(losses)), predictor="twin_" if estimator.refit else "estimator_"
    )
    claims = [claim, Claim("risk.refit")] if estimator.refit else [claim]
    estimator.twin_, estimator.estimator_ = twin, clone(base).fit(rows) if estimator.refit else twin
    if is_classifier(base):
        estimator._classes_of_y = rows.labels
    estimator.ledger_ = [("risk of the twin" if estimator.refit else "risk of the model", delta)]
    estimator.test_rows_ = split.rows
    _finish(estimator, rows, claims, split, "test_rows_")
    estimator.risk_bound_ = float(estimator._certificate.claims[0].value)
    return estimator


@trains("ConformalRegressor")
def conformal_regressor(estimator: Any, rows: DaskRows) -> Any:
    """Calibrate prediction intervals on rows drawn by their marks."""
    split, model = _calibration(estimator, rows)
    estimator.residuals_ = at_rows(rows, None, split.rows, _residuals, model)
    found = conformal_quantile(np.abs(estimator.residuals_), 1.0 - estimator.coverage)
    estimator.quantile_ = found.value
    estimator.conditional_coverage_ = found.conditional_coverage(1.0 - estimator.confidence)
    estimator._left_out = None
    claims = split_claims(found, 1.0 - estimator.confidence, (*_units(split).tags, *estimator.assume))
    return _finish(estimator, rows, claims, split, "residuals_", "calibration_rows_")


@trains("ConformalClassifier")
def conformal_classifier(estimator: Any, rows: DaskRows) -> Any:
    """Calibrate prediction sets on rows drawn by their marks."""
    who = type(estimator).__name__
    if not hasattr(estimator._base(), "predict_proba"):
        kind = type(estimator._base()).__name__
        raise InvalidParameter(who, "estimator", "a classifier with predict_proba", kind)
    split, model = _calibration(estimator, rows)
    estimator._classes_of_y = rows.labels
    estimator.scores_, targets = at_rows(rows, None, split.rows, _scores, type(estimator), model)
    claims = estimator._calibrate(targets, estimator.classes_, (*_units(split).tags, *estimator.assume))
    return _finish(estimator, rows, claims, split, "scores_", "calibration_rows_")


def _calibration(estimator: Any, rows: DaskRows) -> tuple[Split, Any]:
    """Draw the calibration rows and fit the model to the other rows."""
    who = type(estimator).__name__
    if estimator.method != "split":
        raise InvalidParameter(who, "method", "'split' for rows in partitions", estimator.method)
    require_trainable(who, estimator._base())
    split = _split(estimator, rows, estimator.calibration_size, "calibration_size")
    estimator.estimator_ = clone(estimator._base()).fit(training_rows(who, rows, split))
    estimator.calibration_rows_ = split.rows
    return split, estimator.estimator_


def _split(estimator: Any, rows: DaskRows, size: int | None, name: str) -> Split:
    copies = "equal_rows_are_draws" not in estimator.assume
    return draw_split(type(estimator).__name__, rows, size, estimator.random_state, copies, name)


def _units(split: Split) -> Units:
    n = len(split.rows)
    return Units(np.arange(n), n, "copies" if split.copies else "rows")


def _finish(estimator: Any, rows: DaskRows, claims: list[Claim], split: Split, *model: str) -> Any:
    reason = why_void(rows, tuple(estimator.assume))
    if reason is not None:
        warn(f"{type(estimator).__name__}: {reason}.", DataWarning)
        claims = [Claim("risk.void")]
    for name in ("train_rows_", "order_", "groups_", "models_", "folds_", "pilot_", "block_sizes_"):
        estimator.__dict__.pop(name, None)  # of an earlier fit in memory
    estimator.split_seed_ = split.seed
    estimator._issue("C", claims, problem=pose(estimator, rows, *rows.outline), model=model, data=rows.fingerprints())
    return estimator


def _losses(table: Any, y: np.ndarray, who: str, model: Any, loss: Loss) -> tuple[np.ndarray, np.ndarray]:
    classes = np.asarray(model.classes_) if loss.method == "predict_proba" else None
    return losses_of(who, loss, y, respond(model, table, loss, classes), classes), y


def _residuals(table: Any, y: np.ndarray, model: Any) -> np.ndarray:
    return np.asarray(y, dtype=np.float64) - np.asarray(model.predict(table), dtype=np.float64).ravel()


def _scores(table: Any, y: np.ndarray, kind: Any, model: Any) -> tuple[np.ndarray, np.ndarray]:
    return kind._own(kind._scores(model, table, model.classes_), y, model.classes_), y
