"""Reads AdaBoost of scikit-learn, for classes and numbers, with trees as members."""

from __future__ import annotations

import math

from surefit.audit.labels import labels_of
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.checks.audited_adaboost import replayed
from surefit.checks.base import Data
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

ROUNDING = 1e-8  # of errors and weights, summed over the rows in another order through all rounds


@reader("sklearn", "AdaBoostClassifier", "AdaBoostRegressor")
def read_adaboost_model(model, data: Data, tol: float) -> Reading:
    """Errors and weights of all rounds follow from the members' answers; the training error has its exponential bound."""
    attribute(model, "estimators_")
    target_of(model, data)
    if not all(hasattr(member, "tree_") for member in model.estimators_):
        raise refuse(model, "estimator", "a tree (None, DecisionTreeClassifier or DecisionTreeRegressor)")
    classifier = hasattr(model, "classes_")
    rounds = len(model.estimators_)
    problem = {
        "classes": labels_of(model, data, None)[0] if classifier else None,
        "rate": float(model.learning_rate),
        "loss": None if classifier else model.loss,
        "single_precision": True,
        "objective": "weights of rows grow where the last member erred; members vote with the weight of their error",
    }

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        found = replayed(draft, rows)
        words = f"Errors and weights of all {rounds} rounds are those that the members' answers give, up to {found.off:.2g}."
        first = Claim("audit.adaboost.rounds", "process_fact", words, value=2 * found.off + 1e-15, limit=ROUNDING)
        numbers = {"training_error": found.training_error}
        if math.isnan(found.bound):
            words = f"The mean squared error on the training rows is {found.training_error:.6g}."
            value = found.training_error
        else:
            empty = ", which is vacuous" if found.bound >= 1 else ""
            words = f"The training error {found.training_error:.4g} is at most {found.bound:.4g}, the mean exponential of the vote{empty}."
            value = found.bound
        second = Claim("audit.adaboost.training_error", "data_fact", words, value=value, numbers=numbers)
        return [first, second, Claim("adaboost.members", "no_claim", "Nothing is claimed about better members.")]

    return Reading("C", problem, (), state, derived="adaboost")
