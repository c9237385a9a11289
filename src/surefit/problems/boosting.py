"""Problems of gradient boosting: loss, learning rate, class weights and monotonicity constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.problems.base import Given, problem_of
from surefit.problems.labels import class_factors

#: Names of loss terms in the parameter ``loss``.
NAMES = {"Squared": "squared_error", "Absolute": "absolute_error", "Huber": "huber"}


@problem_of("HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
def boosting_problem(given: Given) -> dict[str, Any]:
    """Return loss, learning rate, penalty, number of scores, class weights and monotonicity constraints."""
    params, loss = given.params, given.params["loss"]
    # A certificate stores a loss term as the list of its fields; its name is then a fitted attribute.
    name = loss if isinstance(loss, str) else NAMES.get(type(loss).__name__) or str(given.chosen["loss_name_"])
    parameter = 0.0
    if name == "quantile":
        parameter = float(params["quantile"])
    elif name == "huber":
        parameter = float(loss[0])
    factors, scores = None, 1
    if "class_weight" in params and given.y is not None:
        labels = np.unique(given.y)
        factors = class_factors(params["class_weight"], given.y, given.weights) or [1.0] * len(labels)
        scores = len(labels) if len(labels) > 2 else 1
    return {
        "loss": name,
        "parameter": parameter,
        "rate": float(params["learning_rate"]),
        "l2": float(params["l2_regularization"]),
        "scores": scores,
        "class_weights": factors,
        "monotone": _signs(given),
    }


def _signs(given: Given) -> list[int]:
    """Return the monotonicity sign of each column; if the parameter uses column names, as resolved by the fit."""
    asked, d = given.params["monotonic_cst"], given.X.shape[1]
    if asked is None:
        return [0] * d
    if isinstance(asked, dict):
        return [int(sign) for sign in given.chosen["monotone_signs_"]]
    return [int(sign) for sign in np.asarray(asked).ravel()]
