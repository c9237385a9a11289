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
    problem, y = certificate.problem, data.target
    s = np.ones(len(y)) if data.weights is None else data.weights
    found = log_evidence(_design(certificate, data), y, s, problem["noise_variance"], problem["prior_variance"])
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


def log_evidence(Z: np.ndarray, y: np.ndarray, s: np.ndarray, noise: float, prior: float) -> float:
    r"""Log density of the targets, :math:`y \sim N(0, \sigma^2 I + \tau^2 Z Z^\top)`, from the singular values of the rows.

    The covariance itself is not formed: its condition is the square of that of Z. A weight repeats a row.
    """
    shares = np.sqrt(s[s > 0])
    Z, y = shares[:, None] * Z[s > 0], shares * y[s > 0]
    U, values, _ = linalg.svd(Z, full_matrices=False)
    along = U.T @ y
    apart = y - U @ along
    spread = noise + prior * values**2
    total = -0.5 * float(np.sum(np.log(spread)) + np.sum(along**2 / spread) + apart @ apart / noise)
    return (
        total
        - 0.5 * (len(y) - len(values)) * math.log(noise)
        - 0.5 * len(y) * math.log(2 * math.pi)
        - 0.5 * (math.fsum(s) - len(y)) * math.log(2 * math.pi * noise)
    )
