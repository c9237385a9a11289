"""Checks the posterior of Bayesian linear regression, and its evidence by the route the fit did not take."""

import math

import numpy as np
from scipy import linalg, sparse

from surefit.checks.base import Data, Finding, checker
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

ROUNDING = 1e-8  # of the size of the terms


def _design(certificate: Certificate, data: Data) -> np.ndarray:
    X = data.X.toarray() if sparse.issparse(data.X) else np.asarray(data.X, dtype=np.float64)
    return np.column_stack([np.ones(len(X)), X]) if certificate.problem["fit_intercept"] else X


@checker("bayesian_linear.posterior")
def check_posterior(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Mean and covariance solve ``A m = Z'Sy / sigma2`` and ``A C = I`` up to value, relative to the size of the terms."""
    problem, Z, y = certificate.problem, _design(certificate, data), data.target
    s = np.ones(len(y)) if data.weights is None else data.weights
    mean, covariance = certificate.model["posterior_mean_"], certificate.model["posterior_covariance_"]
    A = (Z.T * s) @ Z / problem["noise_variance"] + np.eye(Z.shape[1]) / problem["prior_variance"]
    c = Z.T @ (s * y) / problem["noise_variance"]
    scale = np.abs(A) @ np.abs(mean) + (np.abs(Z).T @ (s * np.abs(y))) / problem["noise_variance"]
    first = float(np.max(np.abs(A @ mean - c) / np.where(scale > 0, scale, 1.0)))
    second = float(np.max(np.abs(A @ covariance - np.eye(len(A))) / (np.abs(A) @ np.abs(covariance) + 1e-300)))
    found = max(first, second)
    return Finding(claim.name, claim.value, found, found <= claim.value, "recomputed", "normal equations re-evaluated.")


@checker("bayesian_linear.evidence")
def check_evidence(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The log evidence is at most ``value``'s distance from the one by the other route (rows instead of coefficients)."""
    problem, Z, y = certificate.problem, _design(certificate, data), data.target
    s = np.ones(len(y)) if data.weights is None else data.weights
    Z, y, s = Z[s > 0], y[s > 0], s[s > 0]
    noise, prior, total = problem["noise_variance"], problem["prior_variance"], math.fsum(s)
    if len(y) <= Z.shape[1] or len(y) <= 2000:
        # rows: y ~ N(0, noise / s + prior ZZ'); repeated rows add the density of their copies given the first
        K = np.diag(noise / s) + prior * Z @ Z.T
        L = linalg.cholesky(K, lower=True)
        v = linalg.solve_triangular(L, y, lower=True)
        found = -0.5 * float(v @ v) - float(np.log(np.diag(L)).sum()) - 0.5 * len(y) * math.log(2 * math.pi)
        found -= 0.5 * (total - len(y)) * math.log(2 * math.pi * noise) + 0.5 * math.fsum(np.log(s))
    else:
        R = linalg.qr(np.vstack([np.sqrt(s)[:, None] * Z, np.sqrt(noise / prior) * np.eye(Z.shape[1])]), mode="r")[0]
        R = R[: Z.shape[1]]
        w = linalg.solve_triangular(R, linalg.solve_triangular(R, Z.T @ (s * y), trans="T"))
        r = y - Z @ w
        value = float(s @ r**2) + noise / prior * float(w @ w)
        found = -0.5 * total * math.log(2 * math.pi * noise) + 0.5 * len(w) * math.log(noise / prior)
        found -= float(np.log(np.abs(np.diag(R))).sum()) + 0.5 * value / noise
    stated = claim.numbers["log_evidence"]
    distance = abs(found - stated) / (1 + abs(found))
    return Finding(
        claim.name,
        claim.value,
        distance,
        distance <= claim.value,
        "recomputed",
        f"log evidence {found:.8g} by another route.",
    )
