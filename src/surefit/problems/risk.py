"""Problems of certified and conformal models, structural risk minimization and parameter search."""

from typing import Any

from surefit.core.issuing.parameters import plain
from surefit.problems.base import Given, problem_of


@problem_of("Certified")
def certified(given: Given) -> dict[str, Any]:
    """Return the procedure, the confidence, the loss and the range of the target."""
    params = given.params
    return {
        "procedure": params["by"],
        "confidence": float(params["confidence"]),
        "loss": plain(params["loss"]),
        "y_range": plain(params["y_range"]),
    }


@problem_of("ConformalClassifier", "ConformalRegressor")
def conformal(given: Given) -> dict[str, Any]:
    """Return the method, the coverage and the confidence."""
    params = given.params
    return {
        "procedure": params["method"],
        "coverage": float(params["coverage"]),
        "confidence": float(params["confidence"]),
    }


@problem_of("StructuralRiskMinimizer")
def structural(given: Given) -> dict[str, Any]:
    """Return the bound that is minimized over the classes, and the confidence."""
    params = given.params
    return {name: params[name] for name in ("bound", "theorem", "correction")} | {
        "confidence": float(params["confidence"])
    }


@problem_of("GridSearchCV", "RandomizedSearchCV")
def search(given: Given) -> dict[str, Any]:
    """Return the scoring rule and the confidence."""
    return {"scoring": plain(given.params["scoring"]), "confidence": float(given.params["confidence"])}
