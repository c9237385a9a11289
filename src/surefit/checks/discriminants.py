r"""Checks linear discriminants from the rows: rule, directions, completeness.

For symmetric positive :math:`W`, rule :math:`w_k` and targets :math:`\delta_k`, the value of the rule is below that of the best one by
exactly :math:`\sum_k p_k \rho_k^\top W^{-1} \rho_k`, :math:`\rho_k = \delta_k - W w_k`; an eigenvalue of the pair (B, W) is within
:math:`\|Bv - \lambda Wv\|_{W^{-1}} / \|v\|_W` of :math:`\lambda`; and as many exceed :math:`\sigma` as :math:`B - \sigma W` has positive
eigenvalues (Sylvester). All in columns scaled by powers of two (theory: ``rayleigh-gap``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.class_scatter import ClassScatter, blocks, class_scatter, ledoit_wolf, weights_of
from surefit.checks.eigen import spectrum
from surefit.checks.enclosure import gamma
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


class Pencil(NamedTuple):
    """The matrices of a linear discriminant, in scaled columns."""

    W: np.ndarray
    W_radius: float
    B: np.ndarray
    B_radius: float
    lowest: float  # least eigenvalue of W, surely if ``level`` is "enclosed"
    level: str
    priors: np.ndarray
    targets: np.ndarray  # (k, d)
    target_radii: np.ndarray  # (k,)
    rule: np.ndarray  # (k, d)
    scale: np.ndarray  # (d,) powers of two by which columns were divided


@checker("discriminant.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No rule exceeds the value of the criterion that this one attains by more than value."""
    p = pencil(certificate, data)
    d = len(p.W)
    lengths = np.linalg.norm(p.targets - p.rule @ p.W, axis=1)
    rule_lengths = np.linalg.norm(p.rule, axis=1)
    radii = p.target_radii + (p.W_radius + gamma(d + 4) * float(np.linalg.norm(p.W))) * rule_lengths
    middle = float(p.priors @ lengths**2) / p.lowest
    proved = float(p.priors @ (lengths + radii) ** 2) / p.lowest * (1 + gamma(d + 16))
    ok = bool(middle - claim.value <= proved - middle)
    return Finding(claim.name, claim.value, proved if ok else middle, ok, p.level, "residuals of the rule recomputed.")


@checker("discriminant.restricted_gap")
def check_restricted_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No rule in the span of the directions exceeds the value of the criterion by more than value."""
    found, V = class_scatter(certificate, data, products=False), certificate.model["scalings_"]
    priors, targets, rule = _targets(certificate, found)
    n, s = float(found.totals.sum()), weights_of(data)
    X = data.X.tocsr() if hasattr(data.X, "tocsr") else data.X
    inner, images, q = np.zeros((V.shape[1], V.shape[1])), np.zeros((V.shape[1], len(rule))), V.shape[1]
    for mean, rows in zip(found.means, found.members, strict=True):
        for block, piece in blocks(X, rows):
            centred = np.sqrt(s[piece])[:, None] * (block - mean)
            seen = centred @ V
            inner += seen.T @ seen / n
            images += seen.T @ (centred @ rule.T) / n
    lengths = np.linalg.norm(V.T @ targets.T - images, axis=0)
    lowest = 1 - float(np.linalg.norm(inner - np.eye(q)))
    coordinates = np.linalg.lstsq(V, rule.T)[0]
    outside = float(np.linalg.norm(rule.T - V @ coordinates))
    inside = outside <= 1e-8 * float(np.linalg.norm(rule)) + 1e-300
    radii = gamma(data.X.shape[1] + 4096) * (
        np.linalg.norm(V.T @ targets.T, axis=0) + np.linalg.norm(coordinates, axis=0)
    )
    if lowest <= 0 or not inside:
        return Finding(
            claim.name, claim.value, math.inf, False, "recomputed", "the rule is not in the span of scalings_."
        )
    middle, proved = float(priors @ lengths**2) / lowest, float(priors @ (lengths + radii) ** 2) / lowest
    ok = bool(middle - claim.value <= proved - middle)
    return Finding(
        claim.name, claim.value, proved if ok else middle, ok, "recomputed", "residuals in the span recomputed."
    )


@checker("discriminant.directions")
def check_directions(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Each ratio of scatters along a direction is within value of an eigenvalue."""
    p = pencil(certificate, data)
    V = certificate.model["scalings_"][:, : certificate.problem["components"]] * p.scale[:, None]
    inside, outside, d = p.W @ V, p.B @ V, len(p.W)
    norms = np.sum(V * inside, axis=0)
    ratios = np.sum(V * outside, axis=0) / norms
    lengths = np.linalg.norm(V, axis=0)
    residuals = np.linalg.norm(outside - inside * ratios, axis=0) / np.sqrt(norms)
    errors = p.B_radius + np.abs(ratios) * p.W_radius
    errors = errors + gamma(d + 8) * (float(np.linalg.norm(p.B)) + np.abs(ratios) * float(np.linalg.norm(p.W)))
    radii = errors * lengths / np.sqrt(np.maximum(norms - p.W_radius * lengths**2, 1e-300))
    middle = float(np.max(residuals)) / math.sqrt(p.lowest)
    proved = float(np.max(residuals + radii)) / math.sqrt(p.lowest) * (1 + gamma(d + 16))
    ok = bool(middle - claim.value <= proved - middle)
    return Finding(
        claim.name, claim.value, proved if ok else middle, ok, p.level, "residuals of the directions recomputed."
    )


@checker("discriminant.complete")
def check_complete(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Exactly the stated number of eigenvalues exceed the threshold."""
    p, sigma = pencil(certificate, data), claim.numbers["threshold"]
    radius = p.B_radius + abs(sigma) * p.W_radius
    radius += gamma(4) * (float(np.linalg.norm(p.B)) + abs(sigma) * float(np.linalg.norm(p.W)))
    surely, possibly = spectrum(p.B - sigma * p.W, radius).count_above(0.0)
    missed = float(abs(surely - claim.numbers["count"]) + possibly - surely)
    shown = min(certificate.problem["components"], certificate.model["scalings_"].shape[1])
    ok = bool(missed <= claim.value) and claim.numbers["count"] == shown
    return Finding(claim.name, claim.value, missed, ok, p.level, f"{surely} eigenvalues are above the threshold.")


@checker("discriminant.moments")
def check_moments(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Means, priors and offsets are those of the rows."""
    restricted = any(c.name == "discriminant.restricted_gap" for c in certificate.claims)
    found, model = class_scatter(certificate, data, products=not restricted), certificate.model
    error = float(np.max(np.abs(model["means_"] - found.means) / (found.scale + np.abs(found.means))))
    priors = np.asarray(certificate.problem["priors"])
    if not certificate.problem["given_priors"]:
        error = max(error, float(np.max(np.abs(priors - found.totals / found.totals.sum()))))
    coef, intercept = model["coef_"], model["intercept_"]
    if len(coef) == 1:
        coef, intercept = np.vstack([np.zeros_like(coef), coef]), np.append(0.0, intercept)
    for k in range(1, len(coef)):
        if priors[0] > 0 and priors[k] > 0:
            w, middle = coef[k] - coef[0], found.means[k] + found.means[0]
            expected = -0.5 * math.fsum(w * middle) + math.log(priors[k] / priors[0])
            size = 1.0 + math.fsum(np.abs(w * middle))
            error = max(error, abs(float(intercept[k] - intercept[0]) - expected) / size)
    ok = bool(error <= claim.value)
    return Finding(claim.name, claim.value, error, ok, "recomputed", "means, priors and offsets recomputed.")


def own_covariance(certificate: Certificate, data: Data, found: ClassScatter, k: int) -> tuple[np.ndarray, float]:
    """Return the covariance of one class in scaled columns, shrunk as the model says, and its radius."""
    problem, scale = certificate.problem, found.scale
    if problem["covariance"] == "given":
        return certificate.model["covariance_"][k] / scale / scale[:, None], 0.0
    C, radius = found.products[k] / found.totals[k], found.radii[k] / found.totals[k] * (1 + gamma(4))
    radius += gamma(6) * float(np.linalg.norm(C))
    if problem["shrinkage"] == "auto":
        X = data.X.tocsr() if hasattr(data.X, "tocsr") else data.X
        raw = C * scale * scale[:, None]
        raw = ledoit_wolf(raw, found.means[k], found.totals[k], X, weights_of(data), found.members[k])
        return raw / scale / scale[:, None], radius
    return _shrunk(C, scale, problem["shrinkage"], problem.get("reg_param", 0.0)), radius


def _shrunk(C: np.ndarray, scale: np.ndarray, shrinkage: float | None, ridge_share: float = 0.0) -> np.ndarray:
    """Return the matrix, given in scaled columns, drawn to a multiple of the identity (of the columns as they are)."""
    if shrinkage:
        level = shrinkage * float(np.sum(np.diag(C) * scale**2)) / len(C)
        return (1 - shrinkage) * C + np.diag(level / scale**2)
    return (1 - ridge_share) * C + np.diag(ridge_share / scale**2) if ridge_share else C


def _targets(certificate: Certificate, found: ClassScatter) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights, targets and rule, in columns as they are."""
    coef, priors = certificate.model["coef_"], np.asarray(certificate.problem["priors"])
    if certificate.problem["covariance"] == "unbiased":
        return np.ones(1), found.means[1:] - found.means[:1], coef
    targets = found.means - priors @ found.means
    if len(coef) == 1:
        return priors, targets, np.vstack([-priors[1] * coef, priors[0] * coef])
    return priors, targets, coef - priors @ coef


def pencil(certificate: Certificate, data: Data) -> Pencil:
    """Return the scatter matrices that the certificate speaks of, in scaled columns; remembered for further claims."""
    if "pencil" not in data.memo:
        data.memo["pencil"] = _pencil(certificate, data)
    return data.memo["pencil"]


def _pencil(certificate: Certificate, data: Data) -> Pencil:
    found, problem = class_scatter(certificate, data), certificate.problem
    scale, d = found.scale, data.X.shape[1]
    priors, targets, rule = _targets(certificate, found)
    radii = np.full(len(targets), 2 * float(np.linalg.norm(np.max(found.mean_radii, axis=0) / scale)))
    radii += gamma(len(found.totals) + 4) * float(np.linalg.norm(np.max(np.abs(found.means), axis=0) / scale))
    W, W_radius = _within(certificate, data, found)
    targets, rule = targets / scale, rule * scale
    if problem["between"] == "means":
        B = (targets.T * priors) @ targets
        sizes = np.linalg.norm(targets, axis=1)
        B_radius = float(priors @ (2 * radii * sizes + radii**2)) + gamma(len(priors) + 4) * float(priors @ sizes**2)
    else:
        St, St_radius = _total(certificate, data, found)
        B, B_radius = St - W, St_radius + W_radius + gamma(2) * float(np.linalg.norm(St))
    further = powers_of_two(W)  # shrinkage may have made columns much wider than their rows
    W, B = W / further / further[:, None], B / further / further[:, None]
    least = float(np.min(further))
    W_radius, B_radius, radii = W_radius / least**2, B_radius / least**2, radii / least
    targets, rule, scale = targets / further, rule * further, scale * further
    whole = spectrum(W, W_radius)
    surely = float(whole.values[-1]) - whole.radius
    enclosed = surely > 0 and problem["shrinkage"] != "auto" and problem["covariance"] != "given"
    lowest = surely if surely > 0 else max(float(whole.values[-1]), 1e-16)
    level = "enclosed" if enclosed else "recomputed"
    return Pencil(W, W_radius + gamma(4) * d, B, B_radius, lowest, level, priors, targets, radii, rule, scale)


def powers_of_two(C: np.ndarray) -> np.ndarray:
    """Return powers of two near the roots of the diagonal; one where it is zero."""
    roots = np.sqrt(np.maximum(np.diag(C), 0.0))
    return np.where(roots > 0, 2.0 ** np.round(np.log2(np.where(roots > 0, roots, 1.0))), 1.0)


def _within(certificate: Certificate, data: Data, found: ClassScatter) -> tuple[np.ndarray, float]:
    problem, scale, n = certificate.problem, found.scale, float(found.totals.sum())
    kind = problem["covariance"]
    if kind == "given":
        return certificate.model["covariance_"] / scale / scale[:, None], 0.0
    if problem["shrinkage"] == "auto":
        parts = [own_covariance(certificate, data, found, k) for k in range(len(found.totals))]
        W = sum(prior * C for prior, (C, _) in zip(problem["priors"], parts, strict=True))
        return np.asarray(W), max(radius for _, radius in parts) * 2
    factors = np.asarray(problem["priors"]) / found.totals if kind == "priors" else np.full(len(found.totals), 1 / n)
    factors = np.full(len(found.totals), 1 / (n - 2)) if kind == "unbiased" else factors
    W = np.einsum("k,kij->ij", factors, found.products)
    radius = float(factors @ found.radii) + gamma(len(factors) + 8) * float(np.linalg.norm(W))
    W = _shrunk(W, scale, problem["shrinkage"])
    if problem.get("ridge", 0.0):
        W = W + np.diag(problem["ridge"] / scale**2)
        radius += gamma(4) * float(np.max(problem["ridge"] / scale**2))
    return W, radius * (1 + gamma(8))


def _total(certificate: Certificate, data: Data, found: ClassScatter) -> tuple[np.ndarray, float]:
    """Return the covariance of all rows about their mean, shrunk as the model says, in scaled columns."""
    n, scale, shrinkage = float(found.totals.sum()), found.scale, certificate.problem["shrinkage"]
    mean = found.totals @ found.means / n
    away = (found.means - mean) / scale
    St = (found.products.sum(axis=0) + (away.T * found.totals) @ away) / n
    radius = float(found.radii.sum()) / n + gamma(len(found.totals) + 16) * float(np.trace(St))
    radius += (
        4
        * float(np.max(np.linalg.norm(found.mean_radii / scale, axis=1)))
        * float(np.max(np.linalg.norm(away, axis=1)))
    )
    if shrinkage == "auto":
        X = data.X.tocsr() if hasattr(data.X, "tocsr") else data.X
        everyone = np.concatenate(found.members)
        raw = ledoit_wolf(St * scale * scale[:, None], mean, n, X, weights_of(data), everyone)
        return raw / scale / scale[:, None], radius
    return _shrunk(St, scale, shrinkage), radius
