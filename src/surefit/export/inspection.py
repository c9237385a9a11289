"""Partial dependence for programs written for scikit-learn, whose functions follow branches for trees of its own classes only."""

from __future__ import annotations

from typing import Any

from sklearn import inspection as theirs

from surefit.core.errors import InvalidData
from surefit.export.twins import is_ours, to_sklearn

#: Estimators for which scikit-learn averages over branches by default, ``method="recursion"``.
BRANCHES = (
    "DecisionTreeRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "RandomForestRegressor",
)


def partial_dependence(estimator: Any, X: Any, features: Any, **options: Any) -> Any:
    """Return scikit-learn's ``partial_dependence`` with the methods that its own estimator of the same name has."""
    return theirs.partial_dependence(_with_branches(estimator, options), X, features, **options)


class PartialDependenceDisplay(theirs.PartialDependenceDisplay):
    """scikit-learn's plot of the partial dependence, with the methods that its own estimator of the same name has."""

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, features: Any, **options: Any) -> Any:
        """Compute and plot the partial dependence."""
        return super().from_estimator(_with_branches(estimator, options), X, features, **options)


def _with_branches(estimator: Any, options: dict[str, Any]) -> Any:
    """Return scikit-learn's twin of a tree model if the options ask for an average over branches, else ``estimator``."""
    method, averages = options.get("method", "auto"), options.get("kind", "average") == "average"
    if not (is_ours(estimator) and type(estimator).__name__ in BRANCHES and averages):
        return estimator
    if method == "brute" or (method == "auto" and options.get("sample_weight") is not None) or _weighted(estimator):
        return estimator
    try:
        return to_sklearn(estimator)
    except InvalidData:  # splits by categories that scikit-learn's trees do not have
        if method == "recursion":
            raise
        return estimator


def _weighted(estimator: Any) -> bool:
    """Return whether branches of boosted trees must be weighted by more than their numbers of rows."""
    if not type(estimator).__name__.startswith("Hist"):
        return False  # trees keep the weights of their nodes
    return (
        estimator.certificate_.data["sample_weight"] is not None or getattr(estimator, "class_weight", None) is not None
    )
