"""Checks the parameters of naive Bayes of other libraries against sums over the rows of each class (theory: ``mle-map``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.checks.audited_models import derived, inner
from surefit.checks.base import Data, Finding, checker
from surefit.checks.linear_scores import class_codes
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


@derived("quadratic discriminant")
def read_quadratic(model) -> dict[str, np.ndarray]:
    """Axes and variances of each class, which scikit-learn keeps in lists."""
    found = {"means_": np.asarray(model.means_, dtype=np.float64)}
    for name in ("rotations_", "scalings_", "covariance_"):
        if hasattr(model, name):
            found[name] = np.asarray(getattr(model, name), dtype=np.float64)
    return found


@derived("naive bayes")
def read_laws(model) -> dict[str, np.ndarray]:
    """Parameters of the classes; prior probabilities as logarithms."""
    if hasattr(model, "theta_"):
        kept: dict[str, Any] = {"theta_": model.theta_, "var_": model.var_, "epsilon_": model.epsilon_}
        kept["class_log_prior_"] = np.log(model.class_prior_)
    else:
        kept = {"feature_log_prob_": model.feature_log_prob_, "class_log_prior_": model.class_log_prior_}
    return {name: np.asarray(value, dtype=np.float64) for name, value in kept.items()}


@checker("audit.class_laws")
def check_laws(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No parameter differs from what the rows of its class say by more than value, relative to its scale."""
    found = off_of_laws(certificate, data)
    return Finding(
        claim.name, claim.value, found, bool(found <= claim.value), "recomputed", "sums over the rows of each class."
    )


def off_of_laws(certificate: Certificate, data: Data) -> float:
    """Largest distance of a parameter from the likelihood's, smoothed as the model says: of a probability, or a share of a spread."""
    read_as, rows = inner(certificate, data)
    problem, model = read_as.problem, read_as.model
    codes, K = class_codes(read_as, rows), len(problem["classes"])
    s = np.ones(len(codes)) if rows.weights is None else rows.weights
    member = s * (codes == np.arange(K)[:, None])  # a line a class
    mass = member.sum(axis=1)
    X = rows.X if problem["binarize"] is None else (rows.X > problem["binarize"]).astype(np.float64)
    sums = np.asarray(member @ X, dtype=np.float64)
    worst = 0.0
    if not problem["given_priors"]:
        worst = float(np.max(np.abs(np.exp(model["class_log_prior_"]) - mass / mass.sum())))
    if problem["law"] == "gaussian":
        means = sums / mass[:, None]
        spread = np.sqrt(np.maximum(np.asarray(np.var(X, axis=0)), np.finfo(float).tiny))
        worst = max(worst, float(np.max(np.abs(means - model["theta_"]) / (spread + np.abs(means)))))
        variances = np.array(
            [line @ (X - mean) ** 2 / total for line, mean, total in zip(member, means, mass, strict=True)]
        )
        wanted = variances + float(model["epsilon_"])
        return max(worst, float(np.max(np.abs(wanted - model["var_"]) / (spread**2 + np.abs(wanted)))))
    alpha = np.asarray(problem["alpha"])
    smoothed = sums + alpha
    total = mass[:, None] + 2 * alpha if problem["law"] == "bernoulli" else smoothed.sum(axis=1, keepdims=True)
    return max(worst, float(np.max(np.abs(np.exp(model["feature_log_prob_"]) - smoothed / total))))
