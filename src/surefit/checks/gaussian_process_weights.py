"""Checks posteriors of logistic weights: the gap of a mode, the covariance, and integrals by another rule."""

import math
from itertools import pairwise

import numpy as np
from scipy import linalg, sparse
from scipy.special import expit

from surefit.checks.base import Data, Finding, checker
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

GAUSS = 80  # nodes a panel of the checker's own quadrature
PANELS = 3


def _problem(certificate: Certificate, data: Data):
    X = data.X.toarray() if sparse.issparse(data.X) else np.asarray(data.X, dtype=np.float64)
    X = np.column_stack([X, np.ones(len(X))]) if certificate.problem["fit_intercept"] else X
    y = data.target if data.target.dtype.kind in "biuf" else data.target.astype(str)
    signs = np.where(y == np.asarray(certificate.problem["classes"])[1], 1.0, -1.0)
    weights = np.ones(len(X)) if data.weights is None else data.weights
    return X, signs, weights, np.asarray(certificate.problem["prior"], dtype=np.float64)


def mode_gap(X, signs, weights, prior, w) -> tuple[float, np.ndarray]:
    """Bound ``P(w) - min P`` by half the squared slope in the metric of the prior; also the curvature there."""
    precision = linalg.inv(prior)
    p = expit(-signs * (X @ w))
    parts = (X.T * (weights * signs * p), precision * w)
    slope = parts[0].sum(axis=1) - parts[1].sum(axis=1)
    rounding = 2.0**-50 * (np.abs(parts[0]).sum(axis=1) + np.abs(parts[1]).sum(axis=1)) * (1 + math.log2(len(X) + 1))
    size = np.abs(slope) + rounding
    gap = 0.5 * abs(float(slope @ prior @ slope)) + float(rounding @ np.abs(prior) @ size)
    return gap, precision + (X.T * (weights * p * (1 - p))) @ X


@checker("bayesian_logistic.mode")
def check_mode(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The mode's density is within ``value`` of the highest, in logarithm."""
    X, signs, weights, prior = _problem(certificate, data)
    found = mode_gap(X, signs, weights, prior, certificate.model["posterior_mean_"])[0]
    return Finding(claim.name, claim.value, found, found <= claim.value, "recomputed", "slope re-evaluated.")


@checker("bayesian_logistic.covariance")
def check_covariance(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Precision times covariance is the identity, and precision times mean the pull, up to ``value`` of the terms' size."""
    X, signs, weights, prior = _problem(certificate, data)
    mean, C = certificate.model["posterior_mean_"], certificate.model["posterior_covariance_"]
    found = 0.0
    if certificate.problem["method"] == "gaussian":
        P = linalg.inv(prior) + 0.25 * float(np.sum(weights)) * np.eye(len(mean))
        pull = 0.5 * X.T @ (weights * signs)
        found = float(np.max(np.abs(P @ mean - pull) / (np.abs(P) @ np.abs(mean) + np.abs(pull) + 1e-300)))
    else:
        P = mode_gap(X, signs, weights, prior, mean)[1]
    found = max(found, float(np.max(np.abs(P @ C - np.eye(len(mean))) / (np.abs(P) @ np.abs(C) + 1e-300))))
    return Finding(claim.name, claim.value, found, found <= claim.value, "recomputed", "multiplied out.")


@checker("bayesian_logistic.integral")
def check_integral(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Log evidence and mean by Gauss-Legendre panels in the axes of the covariance are within ``value`` of those stated."""
    X, signs, weights, prior = _problem(certificate, data)
    mean, C = certificate.model["posterior_mean_"], certificate.model["posterior_covariance_"]
    precision, d = linalg.inv(prior), len(mean)
    values, vectors = linalg.eigh(C)
    axes = vectors * np.sqrt(values)
    reach = 3.0 * PANELS + 1.0
    t, g = np.polynomial.legendre.leggauss(GAUSS)
    edges = np.linspace(-reach, reach, 2 * PANELS + 1)
    ticks = np.concatenate([(a + b) / 2 + (b - a) / 2 * t for a, b in pairwise(edges)])
    steps = np.tile(g, 2 * PANELS) * (edges[1] - edges[0]) / 2
    total, first = 0.0, np.zeros(d)
    peak = -float(np.logaddexp(0.0, -(X @ mean) * signs) @ weights) - 0.5 * float(mean @ precision @ mean)
    for z in ticks if d > 1 else [0.0]:  # one line of the grid at a time
        Z = np.column_stack([np.full(len(ticks), z), ticks]) if d > 1 else ticks[:, None]
        W = mean + Z @ axes.T
        logs = -np.logaddexp(0.0, -(W @ X.T) * signs) @ weights - 0.5 * np.einsum("ij,jk,ik->i", W, precision, W)
        mass = np.exp(logs - peak) * steps * (steps[np.argmin(np.abs(ticks - z))] if d > 1 else 1.0)
        total += float(np.sum(mass))
        first += mass @ (W - mean)
    evidence = math.log(total) + peak + 0.5 * math.fsum(np.log(values))
    evidence -= 0.5 * d * math.log(2 * math.pi) + 0.5 * float(np.linalg.slogdet(prior)[1])
    moved = float(np.max(np.abs(first / total) / np.sqrt(np.diag(C))))
    found = max(abs(evidence - claim.numbers["log_evidence"]), moved)
    message = f"log evidence {evidence:.8g} by another rule."
    return Finding(claim.name, claim.value, found, found <= claim.value, "recomputed", message)
