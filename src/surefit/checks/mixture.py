r"""Checks a mixture of Gaussians: its likelihood, one further step of expectation maximisation, and the norm of the score.

Everything is recomputed from the covariances with plain matrix algebra (one Cholesky factor and one triangular solve a
component), in blocks of rows. The level is ``recomputed``: rounding is allowed for by a stated share of the log-likelihood
(theory: ``expectation-maximisation``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from surefit.checks.base import Data, Finding, checker
from surefit.checks.eigen import rows_at_once, weights_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

ROUNDING = 1e-9  # share of the log-likelihood, as in the claims


class Facts(NamedTuple):
    """What the rows say about the certified parameters."""

    value: float  # mean log-likelihood
    gain: float  # by one further step
    score: float
    consistent: bool  # the factors used for prediction belong to the covariances


@checker("mixture.likelihood")
def check_likelihood(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Minus the mean log-likelihood is value, and predictions use the certified covariances."""
    facts = _facts(certificate, data)
    ok = facts.consistent and abs(-facts.value - claim.value) <= ROUNDING * (1 + abs(facts.value))
    message = f"recomputed: {facts.value:.9g}."
    if not facts.consistent:
        message = "the parameters are not a mixture of Gaussians (weights, covariances, factors)."
    return Finding(claim.name, claim.value, -facts.value, ok, "recomputed", message)


@checker("mixture.step")
def check_step(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """One further step raises the mean log-likelihood by at most value."""
    facts = _facts(certificate, data)
    ok = facts.gain <= claim.value + ROUNDING * (1 + abs(facts.value))
    return Finding(claim.name, claim.value, facts.gain, ok, "recomputed", f"one step raises it by {facts.gain:.3g}.")


@checker("mixture.score")
def check_score(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The norm of the score is at most value."""
    facts = _facts(certificate, data)
    ok = facts.score <= claim.value * (1 + 1e-6) + 1e-7
    return Finding(claim.name, claim.value, facts.score, ok, "recomputed", "gradient recomputed.")


@checker("mixture.monotone")
def check_monotone(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The log never falls by more than value, and ends at the likelihood of the model."""
    facts, log = _facts(certificate, data), claim.witness["log"]
    fall = float(np.max(-np.diff(log), initial=0.0))
    ends = abs(log[-1] - facts.value) <= ROUNDING * (1 + abs(facts.value))
    message = f"largest fall {fall:.3g} in {len(log)} entries, the last of which is the model's."
    if not ends:
        fall, message = math.inf, "the log does not end at the likelihood of this model."
    return Finding(claim.name, claim.value, fall, fall <= claim.value, "recomputed", message)


def _facts(certificate: Certificate, data: Data) -> Facts:
    if "mixture" not in data.memo:
        data.memo["mixture"] = _examine(certificate, data)
    return data.memo["mixture"]


def _examine(certificate: Certificate, data: Data) -> Facts:
    model, kind = certificate.model, certificate.problem["covariance_type"]
    weights, means = model["weights_"], model["means_"]
    k, d = means.shape
    bad = Facts(math.nan, math.inf, math.inf, False)
    if weights.shape != (k,) or np.any(weights < 0) or abs(math.fsum(weights) - 1) > 1e-9 or d != data.X.shape[1]:
        return bad
    try:
        roots = _roots(_matrices(model["covariances_"], kind, k, d))
    except (np.linalg.LinAlgError, ValueError):
        return bad
    consistent = all(
        np.allclose(root.T @ factor, _rotation(root.T @ factor), atol=1e-5)
        for root, factor in zip(roots, _factors(model["precisions_cholesky_"], kind, k, d), strict=True)
    )
    value, masses, first, second = _expectations(data, weights, means, roots)
    total = math.fsum(weights_of(data))
    new = _next(means, masses, first, second, kind, certificate.problem["reg_covar"])
    try:
        further = _expectations(data, new[0], new[1], _roots(_matrices(new[2], kind, k, d)))[0]
    except np.linalg.LinAlgError:
        return bad
    score = _score(weights, roots, masses, first, second, total, kind)
    return Facts(value / total, (further - value) / total, score, consistent)


def _matrices(covariances: np.ndarray, kind: str, k: int, d: int) -> list[np.ndarray]:
    """Return the covariance matrix of each component, whatever the shape."""
    if kind == "full":
        return [covariances.reshape(k, d, d)[c] for c in range(k)]
    if kind == "tied":
        return [covariances.reshape(d, d)] * k
    return [np.diag(np.broadcast_to(covariances[c], (d,))) for c in range(k)]


def _factors(factors: np.ndarray, kind: str, k: int, d: int) -> list[np.ndarray]:
    return _matrices(factors, kind, k, d)


def _roots(matrices: list[np.ndarray]) -> list[np.ndarray]:
    """Lower Cholesky factors; equal matrices are factored once."""
    known: dict[int, np.ndarray] = {}
    for matrix in matrices:
        if id(matrix) not in known:
            known[id(matrix)] = np.linalg.cholesky(matrix)
    return [known[id(matrix)] for matrix in matrices]


def _rotation(matrix: np.ndarray) -> np.ndarray:
    """The orthogonal matrix next to ``matrix``: root' times factor is one exactly if they belong together."""
    u, _, v = np.linalg.svd(matrix)
    return u @ v


def _expectations(data: Data, weights, means, roots) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Log-likelihood and the expected counts, sums and sums of products of each component (about its own mean)."""
    k, d = means.shape
    sample_weights, step = weights_of(data), rows_at_once(d * 8)
    with np.errstate(divide="ignore"):
        constants = (
            np.log(weights) - np.array([np.log(np.diag(root)).sum() for root in roots]) - d / 2 * math.log(2 * math.pi)
        )
    log_likelihood: list[float] = []
    masses, first, second = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    for start in range(0, data.X.shape[0], step):
        piece = slice(start, min(start + step, data.X.shape[0]))
        X, s = np.asarray(data.X[piece], dtype=np.float64), sample_weights[piece]
        white = [solve_triangular(root, (X - mean).T, lower=True) for root, mean in zip(roots, means, strict=True)]
        table = constants - 0.5 * np.stack([np.einsum("ji,ji->i", w, w) for w in white], axis=1)
        each = logsumexp(table, axis=1)
        log_likelihood.append(math.fsum(s * each))
        shares = s[:, None] * np.exp(table - each[:, None])
        masses += shares.sum(axis=0)
        for c in range(k):
            about = X - means[c]
            first[c] += shares[:, c] @ about
            second[c] += (shares[:, c, None] * about).T @ about
    return math.fsum(log_likelihood), masses, first, second


def _next(means, masses, first, second, kind: str, floor: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, means and covariances after the step that the expectations call for."""
    masses = masses + 10 * np.finfo(float).eps  # as the fit does: a component without rows stays where it is
    steps = first / masses[:, None]
    spread = second - masses[:, None, None] * steps[:, :, None] * steps[:, None, :]
    if kind == "tied":
        covariances = spread.sum(axis=0) / masses.sum() + floor * np.eye(means.shape[1])
    else:
        covariances = spread / masses[:, None, None] + floor * np.eye(means.shape[1])
        if kind != "full":
            covariances = np.einsum("kjj->kj", covariances)
            covariances = covariances if kind == "diag" else covariances.mean(axis=1)
    return masses / masses.sum(), means + steps, covariances


def _score(weights, roots, masses, first, second, total: float, kind: str) -> float:
    """Norm of the gradient of the mean log-likelihood in the information metric of complete data."""
    k, d = first.shape
    shares = masses / total
    square, pooled = 0.0, np.zeros((d, d))
    for c in range(k):
        if weights[c] == 0:
            continue
        square += (shares[c] - weights[c]) ** 2 / weights[c]
        if masses[c] == 0:
            continue
        factor = shares[c] ** 2 / weights[c]
        step = solve_triangular(roots[c], first[c] / masses[c], lower=True)
        half = solve_triangular(roots[c], second[c], lower=True)
        moment = solve_triangular(roots[c], half.T, lower=True)  # root^-1 second root^-T
        excess = moment / masses[c] - np.eye(d)
        if kind == "diag":
            excess = np.diag(np.diag(excess))
        elif kind == "spherical":
            excess = np.eye(d) * np.trace(excess) / d
        square += factor * float(step @ step)
        if kind == "tied":
            pooled += moment / total
        else:
            square += 0.5 * factor * float(np.sum(excess**2))
    if kind == "tied":
        square += 0.5 * float(np.sum((pooled - np.eye(d)) ** 2))
    return math.sqrt(square)
