r"""Scatter matrices of a linear discriminant in columns scaled by powers of two, with rounding radii."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.checks.discriminants.scatter import ClassScatter, class_scatter, ledoit_wolf, near_powers
from surefit.checks.eigen import spectrum
from surefit.checks.enclosure import frobenius, gamma, row_lengths
from surefit.checks.judge import shared
from surefit.core.certificate import Certificate
from surefit.core.sample import Data


class Pencil(NamedTuple):
    """Matrices of a linear discriminant, in scaled columns."""

    W: np.ndarray
    W_radius: float
    B: np.ndarray
    B_radius: float
    lowest: float  # lower bound on the smallest eigenvalue of W; zero if none can be proved
    lowest_spread: float  # amount by which another evaluation may find less
    level: str
    priors: np.ndarray
    targets: np.ndarray  # (k, d)
    target_radii: np.ndarray  # (k,)
    rule: np.ndarray  # (k, d)
    scale: np.ndarray  # (d,) powers of two by which the columns were divided


def own_covariance(certificate: Certificate, data: Data, found: ClassScatter, k: int) -> tuple[np.ndarray, float]:
    """Return the shrunk covariance of one class in scaled columns, and its radius."""
    problem, scale = certificate.problem, found.scale
    if problem["covariance"] == "given":
        return certificate.model["covariance_"][k] / scale / scale[:, None], 0.0
    C, radius = found.products[k] / found.totals[k], found.radii[k] / found.totals[k] * (1 + gamma(4))
    radius += gamma(6) * frobenius(C)
    if problem["shrinkage"] == "auto":
        raw = C * scale * scale[:, None]
        raw = ledoit_wolf(raw, found.means[k], found.totals[k], data, problem["classes"], [k])
        return raw / scale / scale[:, None], radius
    return _shrunk(C, scale, problem["shrinkage"], problem.get("reg_param", 0.0)), radius


def _shrunk(C: np.ndarray, scale: np.ndarray, shrinkage: float | None, ridge_share: float = 0.0) -> np.ndarray:
    """Return the matrix in scaled columns, shrunk toward a multiple of the identity of the unscaled columns."""
    if shrinkage:
        level = shrinkage * float(np.sum(np.diag(C) * scale**2)) / len(C)
        return (1 - shrinkage) * C + np.diag(level / scale**2)
    return (1 - ridge_share) * C + np.diag(ridge_share / scale**2) if ridge_share else C


def targets_of(certificate: Certificate, found: ClassScatter) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights, targets and rule in unscaled columns."""
    coef, priors = certificate.model["coef_"], np.asarray(certificate.problem["priors"])
    if certificate.problem["covariance"] == "unbiased":
        return np.ones(1), found.means[1:] - found.means[:1], coef
    targets = found.means - priors @ found.means
    if len(coef) == 1:
        return priors, targets, np.vstack([-priors[1] * coef, priors[0] * coef])
    return priors, targets, coef - priors @ coef


@shared
def pencil(certificate: Certificate, data: Data) -> Pencil:
    """Return the scatter matrices of the certificate in scaled columns."""
    found, problem = class_scatter(certificate, data, True), certificate.problem
    scale, d = found.scale, data.X.shape[1]
    priors, targets, rule = targets_of(certificate, found)
    off = 2 * frobenius(found.mean_radii.max(axis=0) / scale)
    off += gamma(len(found.totals) + 4) * frobenius(np.abs(found.means).max(axis=0) / scale)
    radii = np.full(len(targets), off)
    W, W_radius = _within(certificate, data, found)
    targets, rule = targets / scale, rule * scale
    if problem["between"] == "means":
        B = (targets.T * priors) @ targets
        sizes = row_lengths(targets)
        B_radius = float(priors @ (2 * radii * sizes + radii**2)) + gamma(len(priors) + 4) * float(priors @ sizes**2)
    else:
        St, St_radius = _total(certificate, data, found)
        B, B_radius = St - W, St_radius + W_radius + gamma(2) * frobenius(St)
    further = powers_of_two(W)  # shrinkage may have increased the scale of some columns
    if (further != 1.0).any():
        W, B = W / further / further[:, None], B / further / further[:, None]
        least = float(further.min())
        W_radius, B_radius, radii = W_radius / least**2, B_radius / least**2, radii / least
        targets, rule, scale = targets / further, rule * further, scale * further
    W_radius = W_radius + gamma(4) * d
    whole = spectrum(W, W_radius)
    surely = float(whole.values[-1]) - whole.radius
    proved = surely > 4 * whole.radius  # so that every other evaluation also proves it
    level = "recomputed" if problem["shrinkage"] == "auto" or problem["covariance"] == "given" else "enclosed"
    bounds = (surely, 2 * whole.radius) if proved else (0.0, 0.0)
    return Pencil(W, W_radius, B, B_radius, *bounds, level, priors, targets, radii, rule, scale)


def powers_of_two(C: np.ndarray) -> np.ndarray:
    """Return powers of two near the square roots of the diagonal; one for a zero entry."""
    return near_powers(np.sqrt(np.maximum(C.diagonal(), 0.0)))


def _within(certificate: Certificate, data: Data, found: ClassScatter) -> tuple[np.ndarray, float]:
    problem, scale, n = certificate.problem, found.scale, float(found.totals.sum())
    kind = problem["covariance"]
    if kind == "given":
        return certificate.model["covariance_"] / scale / scale[:, None], 0.0
    if problem["shrinkage"] == "auto":
        parts = [own_covariance(certificate, data, found, k) for k in range(len(found.totals))]
        W = sum(prior * C for prior, (C, _) in zip(problem["priors"], parts, strict=True))
        return np.asarray(W), max(radius for _, radius in parts) * 2
    matrices = len(found.products)
    factors = np.asarray(problem["priors"]) / found.totals if kind == "priors" else np.full(matrices, 1 / n)
    factors = np.full(matrices, 1 / (n - 2)) if kind == "unbiased" else factors
    W = (factors @ found.products.reshape(matrices, -1)).reshape(found.products.shape[1:])
    radius = float(factors @ found.radii) + gamma(len(factors) + 8) * frobenius(W)
    W = _shrunk(W, scale, problem["shrinkage"])
    if problem.get("ridge", 0.0):
        W = W + np.diag(problem["ridge"] / scale**2)
        radius += gamma(4) * float(np.max(problem["ridge"] / scale**2))
    return W, radius * (1 + gamma(8))


def _total(certificate: Certificate, data: Data, found: ClassScatter) -> tuple[np.ndarray, float]:
    """Return the shrunk covariance of all rows about their mean, in scaled columns."""
    n, scale, shrinkage = float(found.totals.sum()), found.scale, certificate.problem["shrinkage"]
    mean = found.totals @ found.means / n
    away = (found.means - mean) / scale
    St = (found.products.sum(axis=0) + (away.T * found.totals) @ away) / n
    radius = float(found.radii.sum()) / n + gamma(len(found.totals) + 16) * float(np.trace(St))
    radius += 4 * float(row_lengths(found.mean_radii / scale).max()) * float(row_lengths(away).max())
    if shrinkage == "auto":
        classes = certificate.problem["classes"]
        raw = ledoit_wolf(St * scale * scale[:, None], mean, n, data, classes, range(len(classes)))
        return raw / scale / scale[:, None], radius
    return _shrunk(St, scale, shrinkage), radius
