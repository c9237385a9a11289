r"""Checks of posteriors of logistic weights: the mode, the covariance, and integrals by another quadrature rule.

With the precision :math:`P` and :math:`C = LL^\top`, :math:`\eta = \|L^\top P L - I\|_F` bounds the relative error of every posterior
variance by :math:`\eta / (1 - \eta)`, as in :mod:`surefit.checks.bayes.linear` (theory: ``laplace-approximation``).
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import expit

from surefit.checks.eigen import dense, weights_of
from surefit.checks.enclosure import Enclosed, gamma
from surefit.checks.judge import Proof, claim, no_claim, refused, shared
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

GAUSS = 80  # nodes per panel of the checker's own quadrature
PANELS = 3
fact = partial(claim, kind="optimality", side="upper", theory="laplace-approximation")
no_claim("bayesian_logistic.approximation",
         "Laplace's approximation is not the posterior; nothing is claimed about their distance.")  # fmt: skip


class Weights(NamedTuple):
    """Problem of the weights, and the certified posterior."""

    X: np.ndarray
    signs: np.ndarray
    counts: np.ndarray
    prior: np.ndarray
    precision: Enclosed
    mean: np.ndarray
    covariance: np.ndarray


@shared
def _read(certificate: Certificate, data: Data) -> Weights:
    """Return the problem; raise an error for a posterior that does not match the data."""
    X, problem, model = dense(data.X), certificate.problem, certificate.model
    X = np.column_stack([X, np.ones(len(X))]) if problem["fit_intercept"] else X
    y = data.target if data.target.dtype.kind in "biuf" else data.target.astype(str)
    classes = np.asarray(problem["classes"])
    prior = np.asarray(problem["prior"], dtype=np.float64)
    mean, C = model["posterior_mean_"], model["posterior_covariance_"]
    d = X.shape[1]
    fits = np.array_equal(model["classes_"].astype(classes.dtype), classes) and mean.shape == (d,) and C.shape == (d, d)
    if not fits or not (np.isfinite(mean).all() and np.isfinite(C).all() and np.array_equal(C, C.T)):
        raise ValueError("classes_, posterior_mean_ and posterior_covariance_ do not fit the data")
    signs = np.where(y == classes[1], 1.0, -1.0)
    return Weights(X, signs, weights_of(data), prior, enclosed_inverse(prior), mean, C)


def enclosed_inverse(A: np.ndarray) -> Enclosed:
    r"""Return the inverse of a positive definite matrix with error radii, scaled to a unit diagonal by powers of two.

    If :math:`AY = I + E` and the row sums :math:`r` of :math:`|E|` are at most :math:`e < 1`, then :math:`|A^{-1} - Y| = |Y E (I + E)^{-1}|
    \le |Y| r 1^\top / (1 - e)`. Scaling removes the condition number of a diagonal matrix.
    """
    scale = np.exp2(-np.rint(np.log2(np.diagonal(A)) / 2))
    R = A * scale * scale[:, None]
    Y, d = np.linalg.inv(R), len(A)
    sums = np.sum(np.abs(R @ Y - np.eye(d)) + gamma(d + 1) * (np.abs(R) @ np.abs(Y)), axis=1) * (1 + gamma(d + 4))
    if not np.max(sums) < 0.5:
        raise ValueError("prior_covariance is singular within rounding")
    radius = np.abs(Y) @ sums / (1 - np.max(sums)) * (1 + gamma(d + 8))
    return Enclosed(Y * scale * scale[:, None], np.outer(radius * scale, scale))


def _gradient(at: Weights) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient of the log posterior at the mean, and its rounding."""
    p = expit(-at.signs * (at.X @ at.mean))
    scores_off = gamma(at.X.shape[1] + 8) * (np.abs(at.X) @ np.abs(at.mean))
    pull, held = at.counts * at.signs * p, at.precision.mid @ at.mean
    gradient = at.X.T @ pull - held
    flat = np.minimum(
        np.exp(-np.maximum(np.abs(at.X @ at.mean) - scores_off, 0.0)), 0.25
    )  # largest derivative of p nearby
    rounding = np.abs(at.X).T @ (at.counts * (gamma(len(at.X) + 16) * p + flat * scores_off))
    rounding += _precision_error(at, 16 * len(at.mean)) @ np.abs(at.mean)
    return gradient, rounding


def _precision_error(at: Weights, terms: int) -> np.ndarray:
    """Return the error of the prior's precision matrix, and of sums of ``terms`` products with it."""
    return at.precision.rad + gamma(terms) * at.precision.magnitude


@fact("bayesian_logistic.mode", says="The log density at the mode is within {value:.2g} of the highest.")
def mode(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the log density at the mode is within ``value`` of its maximum, by the gradient's norm."""
    at = _read(certificate, data)
    gradient, rounding = _gradient(at)
    gap = 0.5 * abs(float(gradient @ at.prior @ gradient))
    off = float(rounding @ np.abs(at.prior) @ (np.abs(gradient) + rounding)) + gamma(64) * gap
    limit = max(float(certificate.problem["tol"]), 1e-12) * math.log(2) * math.fsum(at.counts)
    note = "gradient re-evaluated."
    return Proof(gap + off, "recomputed", note, limit=limit, spread=off, limit_spread=gamma(8) * limit)


@fact("bayesian_logistic.covariance", infinite=True,
      says="The posterior variances are those of its precision matrix up to {value:.2g} of themselves.")  # fmt: skip
def covariance(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check the posterior variances against the precision matrix at the mean, up to a relative error ``value``."""
    at, gaussian = _read(certificate, data), certificate.problem["method"] == "gaussian"
    try:
        L = np.linalg.cholesky(at.covariance)
    except np.linalg.LinAlgError:
        return Proof(math.inf, "recomputed", "the covariance is not positive definite.")
    n, d = at.X.shape
    if gaussian:
        curved = 0.25 * math.fsum(at.counts) * np.eye(d)
        size, off = np.abs(curved), np.zeros((d, d))
    else:
        scores = at.X @ at.mean
        p = expit(-np.abs(scores))
        curve = at.counts * p * (1 - p)
        moved = (
            gamma(d + 16) * (1 + np.abs(at.X) @ np.abs(at.mean)) * curve
        )  # an error of a score changes the weight p(1-p) by at most as much
        curved, size = (at.X.T * curve) @ at.X, (np.abs(at.X).T * curve) @ np.abs(at.X)
        off = (np.abs(at.X).T * moved) @ np.abs(at.X)
    P, lengths = curved + at.precision.mid, at.precision.magnitude + size
    radius = off + at.precision.rad + gamma(n + 32 * d) * lengths
    rounding = float(np.linalg.norm(np.abs(L).T @ (radius + gamma(4 * d) * lengths) @ np.abs(L)))
    eta = float(np.linalg.norm(L.T @ P @ L - np.eye(d))) + rounding
    if gaussian:
        pull = 0.5 * at.X.T @ (at.counts * at.signs)
        terms = np.abs(P) @ np.abs(at.mean) + 0.5 * np.abs(at.X).T @ at.counts
        slack = np.abs(L).T @ (gamma(n + 32 * d) * terms + at.precision.rad @ np.abs(at.mean))
        rounding += float(np.linalg.norm(slack))
        eta += float(np.linalg.norm(np.abs(L.T @ (P @ at.mean - pull)) + slack))
    if not eta < 1:
        return Proof(math.inf, "recomputed", "the variances are not known.")
    return Proof(eta / (1 - eta), "recomputed", "multiplied out.", spread=rounding / (1 - eta) ** 2)


@fact("bayesian_logistic.integral",
      says="The log evidence {log_evidence:.8g}, the posterior mean (in deviations) and the covariance (in variances) agree with those of "
      "another quadrature rule up to {value:.1g}.")  # fmt: skip
def integral(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check log evidence, mean and covariance against Gauss-Legendre quadrature, up to ``value``."""
    at, stored = _read(certificate, data), float(certificate.model["log_evidence_"])
    if len(at.mean) > 2:
        return refused("integrals are compared for one and two weights only")
    values, vectors = linalg.eigh(at.covariance)
    if not values[0] > 0:
        return refused("the covariance is not positive definite")
    evidence, first, second, size = _moments(at, vectors * np.sqrt(values))
    evidence += 0.5 * math.fsum(np.log(values)) - 0.5 * float(np.linalg.slogdet(at.prior)[1])
    off = max(float(np.max(np.abs(first))), float(np.max(np.abs(second - np.outer(first, first) - np.eye(len(first))))))
    found = max(abs(evidence - stored), off)
    rounding = gamma(GAUSS * PANELS * 8) * (1 + size)
    note = f"log evidence {evidence:.8g} by another rule."
    return Proof(found + rounding, "recomputed", note, {"log_evidence": stored}, spread=rounding)


def _moments(at: Weights, axes: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, float]:
    """Integrate in the axes of the covariance: log evidence (no determinants), mean, second moments, and log size."""
    d, span = len(at.mean), 3.0 * PANELS + 1.0
    t, g = np.polynomial.legendre.leggauss(GAUSS)
    edges = np.linspace(-span, span, 2 * PANELS + 1)
    ticks = np.concatenate([(a + b) / 2 + (b - a) / 2 * t for a, b in pairwise(edges)])
    steps = np.tile(g, 2 * PANELS) * (edges[1] - edges[0]) / 2
    total, first, second = 0.0, np.zeros(d), np.zeros((d, d))
    peak = -float(np.logaddexp(0.0, -(at.X @ at.mean) * at.signs) @ at.counts)
    peak -= 0.5 * float(at.mean @ at.precision.mid @ at.mean)
    for z, step in zip(ticks, steps, strict=True) if d > 1 else [(0.0, 1.0)]:  # one line of the grid at a time
        Z = np.column_stack([np.full(len(ticks), z), ticks]) if d > 1 else ticks[:, None]
        W = at.mean + Z @ axes.T
        logs = -np.logaddexp(0.0, -(W @ at.X.T) * at.signs) @ at.counts
        logs -= 0.5 * np.einsum("ij,jk,ik->i", W, at.precision.mid, W)
        mass = np.exp(logs - peak) * steps * step
        total += float(np.sum(mass))
        first += mass @ Z
        second += (mass[:, None] * Z).T @ Z
    size = abs(peak) + float(np.abs(at.X @ at.mean) @ at.counts)
    return math.log(total) + peak - 0.5 * d * math.log(2 * math.pi), first / total, second / total, size
