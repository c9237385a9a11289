"""Readers for scikit-learn's AdaBoost classifiers and regressors with trees as members."""

from __future__ import annotations

from surefit.audit.labels import labels_of
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.audit.stating import asking
from surefit.core.sample import Data


@reader("sklearn", "AdaBoostClassifier", "AdaBoostRegressor")
def read_adaboost_model(model, data: Data, tol: float) -> Reading:
    """Read AdaBoost: errors and weights are recomputed from the members' predictions; the training loss is bounded."""
    attribute(model, "estimators_")
    target_of(model, data)
    if not all(hasattr(member, "tree_") for member in model.estimators_):
        raise refuse(model, "estimator", "a tree (None, DecisionTreeClassifier or DecisionTreeRegressor)")
    classifier = hasattr(model, "classes_")
    problem = {
        "classes": labels_of(model, data, None)[0] if classifier else None,
        "rate": float(model.learning_rate),
        "loss": None if classifier else model.loss,
        "single_precision": True,
        "objective": "weights of misclassified rows increase in each round; members vote with weights that depend on their error",
    }

    error = "adaboost.training_error" if classifier else "adaboost.training_loss"
    return Reading("C", problem, (), asking("adaboost.rounds", error, "adaboost.members"), derived="adaboost")
