r"""Checks quadratic discriminants from the rows: the densities of the classes are the likeliest Gaussian ones.

For a precision :math:`TT^\top` and the covariance :math:`C` of :math:`n` rows, the log-likelihood is below the largest possible one by
exactly :math:`\tfrac n2 (\operatorname{tr} E - \ln\det(I + E))`, :math:`E = T^\top C T - I`, plus
:math:`\tfrac n2 \|T^\top (m - \bar x)\|^2` for a mean :math:`m` (theory: ``gaussian-likelihood-gap``).
"""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.class_scatter import class_scatter
from surefit.checks.discriminants import own_covariance, powers_of_two
from surefit.checks.enclosure import gamma
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


@checker("quadratic.likelihood")
def check_likelihood(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The log-likelihood is within value of that of the best Gaussian densities (of the shrunk ones, in divergence)."""
    found, model, problem = class_scatter(certificate, data), certificate.model, certificate.problem
    middle = proved = 0.0
    level = "recomputed" if problem["shrinkage"] == "auto" or problem["covariance"] == "given" else "enclosed"
    d = data.X.shape[1]
    for k, total in enumerate(found.totals):
        rotation, variances = model["rotations_"][k], model["scalings_"][k]
        if float(np.linalg.norm(rotation.T @ rotation - np.eye(d))) > 1e-8 or np.any(variances <= 0):
            return Finding(claim.name, claim.value, math.inf, False, level, "rotations_ are not orthogonal.")
        C, radius = own_covariance(certificate, data, found, k)
        C, raised = _with_floor(C, found.scale, problem["floor"])
        level = "recomputed" if raised else level
        further = powers_of_two(C)
        C, radius = C / further / further[:, None], radius / float(np.min(further)) ** 2
        scale = found.scale * further
        T = rotation / np.sqrt(variances) * scale[:, None]
        size = float(np.max(np.sum(np.abs(T @ T.T), axis=1))) * (1 + 1e-6)
        error = float(np.linalg.norm(T.T @ C @ T - np.eye(d)))
        slack = size * (radius + gamma(2 * d + 8) * float(np.linalg.norm(C)) * d) + gamma(4) * d
        shift = np.abs(model["means_"][k] - found.means[k]) / scale
        away = total / 2 * size * float(np.sum(shift**2))
        away_radius = total / 2 * size * float(np.sum((shift + found.mean_radii[k] / scale) ** 2))
        middle += _divergence(error, total) + away
        proved += _divergence(error + slack, total) + away_radius
    priors_right = problem["given_priors"] or np.allclose(
        problem["priors"], found.totals / found.totals.sum(), rtol=1e-9
    )
    ok = bool(middle - claim.value <= proved - middle and priors_right)
    message = (
        "covariances, means and priors recomputed." if priors_right else "priors are not the shares of the classes."
    )
    return Finding(claim.name, claim.value, proved if ok else middle, ok, level, message)


def _divergence(error: float, total: float) -> float:
    r"""Bound :math:`\tfrac n2(\operatorname{tr}E - \ln\det(I+E))` for :math:`\|E\|_F \le` ``error``."""
    return total / 2 * error**2 / (2 * (1 - error)) * (1 + 1e-12) if error < 1 else math.inf


def _with_floor(C: np.ndarray, scale: np.ndarray, floor: float) -> tuple[np.ndarray, bool]:
    """Return the covariance, given in scaled columns, with variances of at least ``floor`` along every direction."""
    values, vectors = np.linalg.eigh(C * scale * scale[:, None])
    if values[0] > floor:
        return C, False
    return (vectors * np.maximum(values, floor)) @ vectors.T / scale / scale[:, None], True
