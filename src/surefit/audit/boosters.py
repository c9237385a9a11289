"""Readers for XGBoost and LightGBM Boosters (not the scikit-learn wrappers), from their serialized parameters."""

from __future__ import annotations

import numpy as np

from surefit.audit.boosting import boosting_problem, boosting_reading, require_no_missing
from surefit.audit.reading import Reading, reader
from surefit.core.errors import InvalidData
from surefit.core.sample import Data
from surefit.problems.external.boosters import lightgbm_parameters, xgboost_parameters

XGBOOST = {"reg:squarederror": "squared_error", "binary:logistic": "log_loss", "multi:softprob": "log_loss"}
LIGHTGBM = {"regression": "squared_error", "binary": "log_loss", "multiclass": "log_loss"}
#: Values that these parameters must have for the rounds to be repeated; a missing parameter has this value.
PLAIN_XGBOOST = {"alpha": 0.0, "max_delta_step": 0.0, "num_parallel_tree": 1.0, "scale_pos_weight": 1.0}
PLAIN_LIGHTGBM = {
    "lambda_l1": 0.0, "max_delta_step": 0.0, "path_smooth": 0.0, "linear_tree": 0.0, "scale_pos_weight": 1.0, "is_unbalance": 0.0,
    "sigmoid": 1.0, "boost_from_average": 1.0, "use_quantized_grad": 0.0, "cat_features": 0.0, "reg_sqrt": 0.0,
}  # fmt: skip


@reader("xgboost", "Booster")
def read_xgboost_booster(model, data: Data, tol: float) -> Reading:
    """Read an XGBoost Booster: leaves hold eta times a Newton step with penalty lambda; smaller values go left."""
    found = xgboost_parameters(model)
    loss = _loss(model, found["objective"], XGBOOST)
    _require_plain(model, found, PLAIN_XGBOOST)
    if found["booster"] != "gbtree" or found["monotone_constraints"].strip("()"):
        raise InvalidData("certify: XGBoost Boosters are supported with trees and without monotonic constraints.")
    _require_columns(model, data, int(model.num_features()))
    scores = int(float(found["num_class"])) if found["objective"] == "multi:softprob" else 1
    rate, l2 = float(found["learning_rate"]), float(found["lambda"])
    problem = boosting_problem(
        data, loss, scores, rate, l2, 2.0 if scores > 1 else 1.0, _classes(model, data, loss, scores)
    )
    sampled = float(found["subsample"]) < 1
    return boosting_reading({**problem, "single_precision": True}, "xgboost", sampled)


@reader("lightgbm", "Booster")
def read_lightgbm_booster(model, data: Data, tol: float) -> Reading:
    """Read a LightGBM Booster: leaves hold the rate times an l2-penalized Newton step, round 1 also the baseline."""
    found = lightgbm_parameters(model)
    loss = _loss(model, found["objective"], LIGHTGBM)
    _require_plain(model, found, PLAIN_LIGHTGBM)
    if found["boosting"] != "gbdt" or found.get("monotone_constraints"):
        raise InvalidData(
            "certify: LightGBM Boosters are supported with boosting='gbdt' and without monotonic constraints."
        )
    _require_columns(model, data, int(model.num_feature()))
    require_no_missing(data)
    scores = int(found["num_class"]) if found["objective"] == "multiclass" else 1
    curvature = scores / (scores - 1) if scores > 1 else 1.0
    rate, l2 = float(found["learning_rate"]), float(found["lambda_l2"])
    problem = boosting_problem(data, loss, scores, rate, l2, curvature, _classes(model, data, loss, scores))
    bagged = float(found["bagging_freq"]) > 0 and float(found["bagging_fraction"]) < 1
    sampled = bagged or found.get("data_sample_strategy", "bagging") != "bagging"
    return boosting_reading({**problem, "folded": True}, "lightgbm", sampled)


def _loss(model, objective: str, known: dict[str, str]) -> str:
    if objective not in known:
        raise InvalidData(
            f"certify: Boosters of this library are supported with the objectives {', '.join(known)} only; this one has {objective}."
        )
    return known[objective]


def _require_plain(model, found: dict[str, str], plain: dict[str, float]) -> None:
    for name, value in plain.items():
        if float(found.get(name, value)) != value:
            raise InvalidData(
                f"certify: this Booster was trained with {name} = {found[name]}, with which its rounds cannot be repeated."
            )


def _require_columns(model, data: Data, columns: int) -> None:
    if data.X.shape[1] != columns:
        raise InvalidData(
            f"certify: this Booster was trained on {columns} columns, but X has {data.X.shape[1]}; "
            "pass the data of the fit."
        )


def _classes(model, data: Data, loss: str, scores: int) -> list[float] | None:
    """Return the class labels, which a Booster numbers from zero, or None for regression."""
    if loss != "log_loss":
        return None
    classes = [float(k) for k in range(max(scores, 2))]
    if data.y is None or not np.isin(np.asarray(data.y), classes).all():
        raise InvalidData(
            f"certify: pass the labels that this Booster was trained on, numbers from 0 to {len(classes) - 1}."
        )
    return classes
