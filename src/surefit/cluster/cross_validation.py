"""Cross-validation on partitioned rows: scores over all rows of each fold, and losses of the tested rows."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import clone

from surefit.cluster.fitting import require_trainable
from surefit.cluster.folds import draw_folds
from surefit.cluster.rows import DaskRows, rows_of
from surefit.cluster.scores import score, scorer_of
from surefit.cluster.splits import why_void
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.marks import at_rows
from surefit.core.partitioned import Part, table_of
from surefit.risk.losses import Loss, losses_of, respond
from surefit.selection.drawn_folds import Drawing
from surefit.selection.fold_losses import FoldLosses, Measured, Plan, loss_of


def measure(who: str, estimators: list[Any], X: Any, y: Any, plan: Plan) -> tuple[Measured, str | None]:
    """Fit every estimator on every fold; return scores, losses, and the reason why no interval is valid, or None."""
    options = {key: plan.scoring[key] for key in ("params", "return_indices") if plan.scoring[key]}
    if plan.groups is not None or options:
        given = ", ".join(["groups"] * (plan.groups is not None) + list(options))
        raise InvalidData(f"{who}: {given} must be left out for rows in partitions.")
    rows = rows_of(who, X, y)
    if not isinstance(rows, DaskRows) or rows.target_shape is None:
        raise InvalidParameter(who, "y", "given for rows in partitions", None)
    name, loss = scorer_of(who, estimators[0], plan.scoring["scoring"]), loss_of(who, estimators, plan)
    for model in estimators:
        require_trainable(who, model)
    folds = draw_folds(who, rows, plan.cv, plan.assume, plan.random_state)
    count = len(folds.rows)
    keys = ("fit_time", "score_time", "test_score") + (("train_score",) if plan.scoring["return_train_score"] else ())
    scores: list[dict[str, Any]] = [
        {key: np.empty(count) for key in keys} | {"estimator": [None] * count} for _ in estimators
    ]
    losses, trained = [[np.empty(0)] * count for _ in estimators], np.empty((len(estimators), count))
    for k in range(count):
        train, test = folds.view(who, rows, k, False), folds.view(who, rows, k, True)
        for found, own, m in zip(scores, losses, range(len(estimators)), strict=True):
            began = time.monotonic()
            model = found["estimator"][k] = clone(estimators[m]).fit(train)
            found["fit_time"][k], began = time.monotonic() - began, time.monotonic()
            found["test_score"][k] = score(model, test, name)
            found["score_time"][k] = time.monotonic() - began
            if "train_score" in found:
                found["train_score"][k] = score(model, train, name)
            own[k] = at_rows(rows, None, folds.rows[k], _losses_at, who, model, loss)
            trained[m, k] = train.map_reduce(_loss_sum, rows.columns, who, model, loss) / train.shape[0]
    fold = np.repeat(np.arange(count), list(map(len, folds.rows)))
    table = FoldLosses(np.vstack([np.concatenate(own) for own in losses]), trained, fold, folds.units, Drawing())
    return Measured(scores, table, loss, None), why_void(rows, plan.assume)


def _losses_at(table: Any, y: np.ndarray, who: str, model: Any, loss: Loss) -> np.ndarray:
    classes = np.asarray(model.classes_) if loss.method == "predict_proba" else None
    return losses_of(who, loss, y, respond(model, table, loss, classes), classes)


def _loss_sum(part: Part, columns: Any, who: str, model: Any, loss: Loss) -> float:
    assert part.y is not None
    return float(np.sum(_losses_at(table_of(part.X, columns), part.y, who, model, loss)))
