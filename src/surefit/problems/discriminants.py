"""Problems of discriminant analysis: classes, priors and the estimator of the covariance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.problems.base import Given, problem_of
from surefit.problems.labels import class_codes, named_classes


@problem_of("LinearDiscriminantAnalysis")
def linear(given: Given) -> dict[str, Any]:
    """Return the problem of linear discriminant analysis."""
    params, labels = given.params, named_classes(given.y)
    by_user = params["covariance_estimator"] is not None
    svd = params["solver"] == "svd"
    return {
        **_shared(given, labels),
        "covariance": "given" if by_user else "pooled" if svd else "priors",
        "between": "means" if svd else "total",
        "components": int(params["n_components"] or min(len(labels) - 1, given.X.shape[1])),
    }


@problem_of("QuadraticDiscriminantAnalysis")
def quadratic(given: Given) -> dict[str, Any]:
    """Return the problem of quadratic discriminant analysis."""
    params = given.params
    return {
        **_shared(given, named_classes(given.y)),
        "covariance": "given" if params["covariance_estimator"] is not None else "own",
        "reg_param": float(params["reg_param"]) if params["solver"] == "svd" else 0.0,
        "floor": float(params["tol"]),
    }


@problem_of("FisherDiscriminant")
def fisher(given: Given) -> dict[str, Any]:
    """Return the problem of Fisher's discriminant: equal priors, covariance with n - 2 degrees of freedom, and a ridge."""
    return {
        "classes": named_classes(given.y),
        "priors": [0.5, 0.5],
        "given_priors": True,
        "covariance": "unbiased",
        "ridge": float(given.params["ridge"]),
        "shrinkage": None,
        "between": "means",
        "components": 0,
    }


def _shared(given: Given, labels: list[Any]) -> dict[str, Any]:
    params = given.params
    by_user = params["covariance_estimator"] is not None
    return {
        "classes": labels,
        "priors": class_priors(params["priors"], given, labels),
        "given_priors": params["priors"] is not None,
        "shrinkage": None if by_user else params["shrinkage"],
    }


def class_priors(priors: Any, given: Given, labels: list[Any]) -> list[float]:
    """Return the prior probabilities: those given, divided by their sum if that is not one, or the class frequencies."""
    if priors is not None:
        values = np.asarray(priors, dtype=np.float64)
        total = float(values.sum())
        return (values / total if abs(total - 1.0) > 1e-5 else values).tolist()
    codes = class_codes(np.asarray(given.y), labels)
    counts = np.bincount(codes, minlength=len(labels))
    if given.weights is None:
        totals = [float(count) for count in counts]
    else:
        order = np.argsort(codes, kind="stable")
        totals = [math.fsum(part) for part in np.split(given.weights[order], np.cumsum(counts)[:-1])]
    total = math.fsum(totals)
    return [each / total for each in totals]
