"""Problems of Bayesian models and of classifiers with class-conditional distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.problems.base import Given, problem_of


@problem_of("BayesianLinearRegression")
def linear(given: Given) -> dict[str, Any]:
    """Return the variances of the noise and of the normal prior on the coefficients, and whether there is an intercept."""
    return {**evidence(given), "fit_intercept": bool(given.params["fit_intercept"])}


@problem_of("BayesianRidge")
def ridge(given: Given) -> dict[str, Any]:
    """Return the Gamma priors on both precisions, and the tolerance ``tol`` for the derivatives of the log evidence."""
    names = ("alpha_1", "alpha_2", "lambda_1", "lambda_2", "tol")
    return {
        **{name: float(given.params[name]) for name in names},
        "fit_intercept": bool(given.params["fit_intercept"]),
    }


@problem_of("EvidenceSelector")
def evidence(given: Given) -> dict[str, Any]:
    """Return the variances of the noise and of the prior."""
    return {name: float(given.params[name]) for name in ("noise_variance", "prior_variance")}


@problem_of("MAPClassifier")
def classes(given: Given) -> dict[str, Any]:
    """Return the family of the class-conditional distributions, the variance smoothing, and the class priors if given."""
    family, priors = given.params["distributions"], given.params["priors"]
    return {
        "family": family if isinstance(family, str) else "given",
        "var_smoothing": float(given.params["var_smoothing"]),
        "priors": None if priors is None else np.asarray(priors, dtype=np.float64).tolist(),
    }
