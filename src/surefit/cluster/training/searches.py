"""Grid and randomized search: candidates are fitted on views of the partitions, and the fold models of the best are tested."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier

from surefit.cluster.fitting import require_defaults, require_trainable, trains
from surefit.cluster.folds import Folds, draw_folds
from surefit.cluster.rows import DaskRows
from surefit.cluster.scores import LOSSES, score, scorer_of
from surefit.cluster.splits import why_void
from surefit.core.claims import Claim
from surefit.core.errors import DataWarning, SurefitError
from surefit.core.marks import at_rows
from surefit.core.partitioned import ClusterLost
from surefit.core.warn import warn
from surefit.problems import pose
from surefit.selection.drawn_folds import Drawing
from surefit.selection.search_statement import claim_of_errors


@trains("GridSearchCV", "RandomizedSearchCV")
def search(estimator: Any, rows: DaskRows) -> Any:
    """Fit the candidates fold by fold, refit the best on all rows, and bound the risk of its fold models."""
    who = type(estimator).__name__
    base = require_trainable(who, estimator._base())
    require_defaults(estimator, refit=bool(estimator.refit))
    name, candidates = scorer_of(who, base, estimator.scoring), estimator._candidates()
    folds = draw_folds(who, rows, estimator.cv, tuple(estimator.assume))
    models, columns = _fit_all(estimator, rows, folds, candidates, name)
    _take_results(estimator, candidates, columns, len(folds.rows))
    estimator.multimetric_, estimator.n_splits_ = False, len(folds.rows)
    if estimator.refit:
        began = time.monotonic()
        estimator.best_estimator_ = _candidate(base, estimator.best_params_).fit(rows)
        estimator.estimator_, estimator.refit_time_ = estimator.best_estimator_, time.monotonic() - began
    if is_classifier(base):
        estimator._classes_of_y = rows.labels
    for old in ("splits_", "groups_"):
        estimator.__dict__.pop(old, None)  # of an earlier fit in memory
    estimator.split_seed_, estimator.fold_rows_ = folds.seed, folds.rows
    claims, estimator.ledger_ = _claims(estimator, rows, folds, models[estimator.best_index_], name)
    estimator.risk_bound_ = float(claims[0].value)
    estimator._issue(
        "C", claims, problem=pose(estimator, rows, *rows.outline), model=("best_index_",), data=rows.fingerprints()
    )
    return estimator


def _candidate(base: Any, params: dict[str, Any]) -> Any:
    return clone(base).set_params(**clone(params, safe=False))


def _fit_all(
    estimator: Any, rows: DaskRows, folds: Folds, candidates: list[dict[str, Any]], name: str
) -> tuple[list[list[Any]], dict[str, np.ndarray]]:
    """Return the models of each candidate, one per fold, and columns of times and scores of shape (candidates, folds)."""
    who, shape = type(estimator).__name__, (len(candidates), len(folds.rows))
    names = ("fit_time", "score_time", "test_score") + (("train_score",) if estimator.return_train_score else ())
    columns = {column: np.full(shape, np.nan) for column in names}
    models: list[list[Any]] = [[None] * shape[1] for _ in candidates]
    for k in range(shape[1]):  # one fold at a time: its rows are released before the next
        train, test = folds.view(who, rows, k, False), folds.view(who, rows, k, True)
        for i, params in enumerate(candidates):
            began = time.monotonic()
            try:
                models[i][k] = _candidate(estimator._base(), params).fit(train)
            except ClusterLost:
                raise
            except (SurefitError, ValueError, ArithmeticError) as error:
                if isinstance(estimator.error_score, str):  # "raise"
                    raise
                warn(f"{who}: {params} could not be fitted on fold {k}: {error}", DataWarning)
                columns["test_score"][i, k] = estimator.error_score
                continue
            fitted = time.monotonic()
            columns["test_score"][i, k] = score(models[i][k], test, name)
            columns["fit_time"][i, k], columns["score_time"][i, k] = fitted - began, time.monotonic() - fitted
            if estimator.return_train_score:
                columns["train_score"][i, k] = score(models[i][k], train, name)
    return models, columns


def _take_results(estimator: Any, candidates: list[dict[str, Any]], columns: dict[str, np.ndarray], folds: int) -> None:
    """Store the results under scikit-learn's names."""
    found: dict[str, Any] = {}
    for column, values in columns.items():
        if column.endswith("score"):
            found |= {f"split{k}_{column}": values[:, k] for k in range(folds)}
        found |= {f"mean_{column}": values.mean(axis=1), f"std_{column}": values.std(axis=1)}
    for key in sorted({key for params in candidates for key in params}):
        held = np.ma.masked_all(len(candidates), dtype=object)
        for i, params in enumerate(candidates):
            if key in params:
                held[i] = params[key]
        found[f"param_{key}"] = held
    mean = found["mean_test_score"]
    worst = np.where(np.isnan(mean), -np.inf, mean)
    found |= {"params": candidates, "rank_test_score": rankdata(-worst, method="min").astype(np.int32)}
    estimator.cv_results_, estimator.best_index_ = found, int(np.argmax(worst))
    estimator.best_params_, estimator.best_score_ = (
        candidates[estimator.best_index_],
        float(mean[estimator.best_index_]),
    )


def _claims(estimator: Any, rows: DaskRows, folds: Folds, models: list[Any], name: str) -> tuple[list[Claim], list]:
    """Return the claims about the fold models of the best candidate on their tested rows, and the division of delta."""
    estimator.fold_models_, estimator.unclaimed_ = [], None
    if name != "accuracy":
        reason: str | None = "the score is not an error rate; pass scoring='accuracy'"
    elif not np.all(np.isfinite(estimator.cv_results_["mean_test_score"])):
        reason = "a candidate could not be scored"
    else:
        reason = why_void(rows, tuple(estimator.assume))
    if reason is not None:
        estimator.unclaimed_ = reason
        return estimator._with_draws([Claim("selection.unclaimed")], [])
    losses = [at_rows(rows, None, own, _wrong, model) for own, model in zip(folds.rows, models, strict=True)]
    count, delta = len(estimator.cv_results_["params"]), estimator._share()
    claim = claim_of_errors(losses, folds.units, Drawing(), count, delta, tuple(estimator.assume))
    estimator.fold_models_ = models
    return estimator._with_draws([claim, Claim("selection.refit")], [(f"each of {count} candidates", delta / count)])


def _wrong(table: Any, y: np.ndarray, model: Any) -> np.ndarray:
    return LOSSES["accuracy"](model, table, y)
