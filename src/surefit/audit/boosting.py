"""Readers for boosted trees: both kinds of scikit-learn, and the wrappers of XGBoost and LightGBM."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.audit.labels import labels_of
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.audit.stating import asking
from surefit.core.errors import InvalidData
from surefit.core.sample import Data

HARMLESS = {"verbose", "verbosity", "num_threads", "deterministic", "force_row_wise", "force_col_wise"}  # of LightGBM


@reader("sklearn", "GradientBoostingClassifier", "GradientBoostingRegressor")
def read_gradient_boosting(model, data: Data, tol: float) -> Reading:
    """Read gradient boosting: leaves hold the learning rate times a Newton step; rows are rounded to float32."""
    attribute(model, "estimators_")
    _require(model, loss=("squared_error", "log_loss"), init=(None, "zero"))
    scores = model.estimators_.shape[1]
    curvature = scores / (scores - 1) if scores > 1 else 1.0
    problem = _problem(model, data, model.loss, scores, float(model.learning_rate), 0.0, curvature)
    return boosting_reading({**problem, "single_precision": True}, "gradient boosting", float(model.subsample) < 1)


@reader("sklearn", "HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
def read_histogram_boosting(model, data: Data, tol: float) -> Reading:
    """Read histogram gradient boosting: leaves hold the learning rate times a Newton step with an l2 penalty."""
    attribute(model, "_predictors")
    _require(model, loss=("squared_error", "log_loss"), class_weight=(None,))
    if model.do_early_stopping_ or getattr(model, "is_categorical_", None) is not None:
        raise InvalidData(
            f"certify: this {type(model).__name__} was fitted with early_stopping or categories, which cannot be repeated here."
        )
    scores, rate = int(model.n_trees_per_iteration_), float(model.learning_rate)
    problem = _problem(model, data, model.loss, scores, rate, float(model.l2_regularization), 1.0)
    return boosting_reading(problem, "histogram boosting")


@reader("xgboost", "XGBClassifier", "XGBRegressor")
def read_xgboost(model, data: Data, tol: float) -> Reading:
    """Read an XGBoost model: leaves hold eta times a Newton step with penalty lambda; smaller values go left."""
    _require(
        model, booster=(None, "gbtree"), reg_alpha=(None, 0, 0.0), max_delta_step=(None, 0, 0.0),
        scale_pos_weight=(None, 1, 1.0), early_stopping_rounds=(None,), num_parallel_tree=(None, 1), monotone_constraints=(None,),
    )  # fmt: skip
    known = {"reg:squarederror": "squared_error", "binary:logistic": "log_loss", "multi:softprob": "log_loss"}
    if model.objective not in known:
        raise refuse(model, "objective", f"one of {', '.join(known)}")
    scores = int(model.n_classes_) if model.objective == "multi:softprob" else 1
    rate = 0.3 if model.learning_rate is None else float(model.learning_rate)
    l2 = 1.0 if model.reg_lambda is None else float(model.reg_lambda)
    problem = _problem(model, data, known[model.objective], scores, rate, l2, 2.0 if scores > 1 else 1.0)
    sampled = model.subsample is not None and float(model.subsample) < 1
    return boosting_reading({**problem, "single_precision": True}, "xgboost", sampled)


@reader("lightgbm", "LGBMClassifier", "LGBMRegressor")
def read_lightgbm(model, data: Data, tol: float) -> Reading:
    """Read a LightGBM model: leaves hold the rate times an l2-penalized Newton step, round 1 also the baseline."""
    attribute(model, "booster_")
    _require(model, boosting_type=("gbdt",), reg_alpha=(0.0, 0), class_weight=(None,))
    beyond = model.get_params().keys() - type(model)().get_params().keys() - HARMLESS
    if beyond:
        raise InvalidData(
            f"certify: this {type(model).__name__} was given {', '.join(sorted(beyond))}, with which its rounds cannot be repeated here."
        )
    known = {"regression": "squared_error", "binary": "log_loss", "multiclass": "log_loss"}
    if model.objective_ not in known:
        raise refuse(model, "objective_", f"one of {', '.join(known)}")
    require_no_missing(data)
    scores = int(model.n_classes_) if model.objective_ == "multiclass" else 1
    curvature = scores / (scores - 1) if scores > 1 else 1.0
    rate, l2 = float(model.learning_rate), float(model.reg_lambda)
    problem = _problem(model, data, known[model.objective_], scores, rate, l2, curvature)
    sampled = model.subsample_freq > 0 and float(model.subsample) < 1
    return boosting_reading({**problem, "folded": True}, "lightgbm", sampled)


def require_no_missing(data: Data) -> None:
    """Raise ``InvalidData`` for missing values, whose paths through LightGBM's trees cannot be recomputed here."""
    if np.isnan(np.asarray(data.X.sum())):
        raise InvalidData("certify: missing values in LightGBM models are not supported; impute them before the fit.")


def _require(model, **allowed: tuple) -> None:
    """Raise an error for parameter values with which the rounds cannot be repeated."""
    for name, values in allowed.items():
        value = getattr(model, name, values[0])
        if not any(value is v or (value is not None and v is not None and value == v) for v in values):
            raise refuse(model, name, " or ".join(map(repr, values)))


def _problem(model, data: Data, loss: str, scores: int, rate: float, l2: float, curvature: float) -> dict[str, Any]:
    target_of(model, data)
    classes = labels_of(model, data, None)[0] if loss == "log_loss" else None
    return boosting_problem(data, loss, scores, rate, l2, curvature, classes)


def boosting_problem(
    data: Data, loss: str, scores: int, rate: float, l2: float, curvature: float, classes: list | None
) -> dict[str, Any]:
    """Return the boosting parameters in the form that the checker reads."""
    return {
        "loss": loss,
        "scores": scores,
        "rate": rate,
        "l2": l2,
        "curvature": curvature,
        "classes": classes,
        "folded": False,
        "objective": "mean loss of the sum of the trees; each leaf takes one Newton step",
    }


def boosting_reading(problem: dict, derived: str, sampled: bool = False) -> Reading:
    """Return the claims that repeated rounds can prove; leaves are not compared if rounds used subsamples."""
    names = ("boosting.loss", "boosting.sampled") if sampled else ("boosting.leaves", "boosting.loss")
    return Reading("C", problem, (), asking(*names, "boosting.others"), derived=derived)
