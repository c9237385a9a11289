r"""Checks quadratic discriminants from the rows: the densities of the classes are the likeliest Gaussian ones.

For a precision :math:`TT^\top` and the covariance :math:`C` of :math:`n` rows, the log-likelihood is below the largest possible one by
exactly :math:`\tfrac n2 (\operatorname{tr} E - \ln\det(I + E))`, :math:`E = T^\top C T - I`, plus
:math:`\tfrac n2 \|T^\top (m - \bar x)\|^2` for a mean :math:`m`. Where variances are at their floor only the positive part of that
block of :math:`E` counts. :math:`T^\top C T` is that of the whitened rows: products of rows would square their condition (theory:
``gaussian-likelihood-gap``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.class_scatter import ClassScatter, blocks, class_scatter, weights_of
from surefit.checks.discriminants import own_covariance, powers_of_two
from surefit.checks.eigen import rows_at_once
from surefit.checks.enclosure import gamma
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


class Seen(NamedTuple):
    """A covariance seen in the axes of the model, ``T' C T``, up to ``radius`` in Frobenius norm."""

    matrix: np.ndarray
    radius: float


@checker("quadratic.likelihood")
def check_likelihood(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The log-likelihood is within value of that of the best Gaussian densities (of the shrunk ones, in divergence)."""
    model, problem = certificate.model, certificate.problem
    by_matrix = problem["shrinkage"] == "auto" or problem["covariance"] == "given"
    found = class_scatter(certificate, data, products=by_matrix)
    level = "recomputed" if by_matrix else "enclosed"
    middle = proved = 0.0
    d = data.X.shape[1]
    for k, total in enumerate(found.totals):
        rotation, variances = model["rotations_"][k], model["scalings_"][k]
        tilt = float(np.linalg.norm(rotation.T @ rotation - np.eye(d)))
        if not tilt <= 1e-8 or not np.all(variances > 0):
            return Finding(claim.name, claim.value, math.inf, False, level, "rotations_ are not orthogonal.")
        if np.any(variances < problem["floor"]):
            return Finding(claim.name, claim.value, math.inf, False, level, "variances are below their floor.")
        T, raised = rotation / np.sqrt(variances), variances == problem["floor"]
        seen = (_by_matrix if by_matrix else _by_rows)(certificate, data, found, k, T)
        E = seen.matrix - np.eye(d)
        E[np.ix_(raised, raised)] = _positive_part(E[np.ix_(raised, raised)])
        error, slack = float(np.linalg.norm(E)), seen.radius + gamma(8) * d
        shift, least = np.abs(model["means_"][k] - found.means[k]), gamma(4 * d + 8) * d
        away, away_radius = (
            total / 2 * float(np.sum((np.abs(T).T @ off) ** 2)) for off in (shift, shift + found.mean_radii[k])
        )
        # Axes that are not quite orthogonal let the precision exceed one over the floor by as much.
        loose = total / 2 * int(np.sum(raised))
        middle += _divergence(error, total) + away + loose * max(tilt - least, 0.0)
        proved += _divergence(error + slack, total) + away_radius + 2 * loose * (tilt + least)
    priors_right = problem["given_priors"] or np.allclose(
        problem["priors"], found.totals / found.totals.sum(), rtol=1e-9
    )
    ok = bool(math.isfinite(proved) and middle - claim.value <= proved - middle and priors_right)
    message = (
        "covariances, means and priors recomputed." if priors_right else "priors are not the shares of the classes."
    )
    return Finding(claim.name, claim.value, proved if ok else middle, ok, level, message)


def _by_rows(certificate: Certificate, data: Data, found: ClassScatter, k: int, T: np.ndarray) -> Seen:
    """Whiten the rows of a class, take their products, and add what shrinkage adds."""
    X, s, total, d = data.X, weights_of(data), float(found.totals[k]), len(T)
    X = X.tocsr() if hasattr(X, "tocsr") else X
    product, sizes, spread, rows = np.zeros((d, d)), 0.0, 0.0, found.members[k]
    for block, piece in blocks(X, rows):
        centred = np.sqrt(s[piece])[:, None] * (block - found.means[k])
        whitened = centred @ T
        product += whitened.T @ whitened
        sizes += float(np.sum((np.abs(centred) @ np.abs(T)) ** 2))
        spread += float(np.sum(centred**2))
    size = rows_at_once(d)
    depth = min(size, len(rows)) + len(rows) // size + 8
    length, off = math.sqrt(float(np.trace(product))), gamma(d + 8) * math.sqrt(sizes)
    moved = total * float(np.sum((np.abs(T).T @ found.mean_radii[k]) ** 2))  # the mean itself is rounded
    radius = (2 * off * length + off**2 + gamma(depth) * length**2 + moved) / total
    share, added = _drawn(certificate, spread / total / d)
    inner = T.T @ T
    radius = share * radius + added * gamma(depth + 2 * d) * float(np.linalg.norm(np.abs(T).T @ np.abs(T)))
    return Seen(share * product / total + added * inner, radius * (1 + gamma(64)))


def _drawn(certificate: Certificate, mean_variance: float) -> tuple[float, float]:
    """Return what multiplies the covariance and what is added to its diagonal."""
    shrinkage, ridge_share = certificate.problem["shrinkage"], certificate.problem.get("reg_param", 0.0)
    if shrinkage:
        return 1 - shrinkage, shrinkage * mean_variance
    return 1 - ridge_share, ridge_share


def _by_matrix(certificate: Certificate, data: Data, found: ClassScatter, k: int, T: np.ndarray) -> Seen:
    """Take a covariance that is no multiple of that of the rows, in columns scaled to its diagonal."""
    C, radius = own_covariance(certificate, data, found, k)
    further, d = powers_of_two(C), len(T)
    C, radius = C / further / further[:, None], radius / float(np.min(further)) ** 2
    T = T * (found.scale * further)[:, None]
    size = float(np.max(np.sum(np.abs(T @ T.T), axis=1))) * (1 + 1e-6)
    return Seen(T.T @ C @ T, size * (radius + gamma(2 * d + 8) * float(np.linalg.norm(C)) * d))


def _positive_part(E: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(E)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def _divergence(error: float, total: float) -> float:
    r"""Bound :math:`\tfrac n2(\operatorname{tr}E - \ln\det(I+E))` for :math:`\|E\|_F \le` ``error``."""
    return total / 2 * error**2 / (2 * (1 - error)) * (1 + 1e-12) if error < 1 else math.inf
