"""Bayesian models and class-conditional distributions: the problem that the parameters define."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.problems.base import Given, problem_of


@problem_of("BayesianLinearRegression")
def linear(given: Given) -> dict[str, Any]:
    """A normal prior on the coefficients, and known noise."""
    return {**evidence(given), "fit_intercept": bool(given.params["fit_intercept"])}


@problem_of("BayesianRidge")
def ridge(given: Given) -> dict[str, Any]:
    """Gamma priors of both precisions, whose derivatives of the log evidence are to be at most ``tol``."""
    names = ("alpha_1", "alpha_2", "lambda_1", "lambda_2", "tol")
    return {
        **{name: float(given.params[name]) for name in names},
        "fit_intercept": bool(given.params["fit_intercept"]),
    }


@problem_of("EvidenceSelector")
def evidence(given: Given) -> dict[str, Any]:
    """Variances of noise and prior."""
    return {name: float(given.params[name]) for name in ("noise_variance", "prior_variance")}


@problem_of("MAPClassifier")
def classes(given: Given) -> dict[str, Any]:
    """The family of the class-conditional distributions, their floor and the priors, if given."""
    family, priors = given.params["distributions"], given.params["priors"]
    return {
        "family": family if isinstance(family, str) else "given",
        "var_smoothing": float(given.params["var_smoothing"]),
        "priors": None if priors is None else np.asarray(priors, dtype=np.float64).tolist(),
    }
