r"""Checks of Gaussian mixtures: the likelihood, the gain of one further EM step, and the norm of the score.

Densities are evaluated with the factors :math:`P` used for prediction, :math:`\Sigma^{-1} = PP^\top`. The relative
error of a whitened row is at most :math:`\gamma_{d+4} \, \kappa`. Here :math:`\kappa = \| |P^{-1}| |P| \|` is Skeel's
condition number, which does not depend on the units of the columns (theory: ``expectation-maximization``).
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from surefit.checks.clusters.blocks import BLOCK
from surefit.checks.clusters.expectations import (
    Mixture,
    conditions,
    expectations,
    next_step,
    rows_per_piece,
    score_norm,
)
from surefit.checks.enclosure import gamma
from surefit.checks.judge import Proof, claim, no_claim, shared
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.partitioned import count_parts
from surefit.core.sample import Data


class Facts(NamedTuple):
    """Proved quantities of the certified parameters, each with its rounding."""

    value: float  # mean log-likelihood
    rounding: float
    gain: float  # of the mean log-likelihood, by one further step
    gain_rounding: float
    score: float
    score_rounding: float


fact = partial(claim, kind="stationarity", side="upper", theory="expectation-maximization", partitioned=True)
no_claim("mixture.global",
         "Nothing is claimed about other parameters: the likelihood has many local maxima, and is unbounded without a floor.")  # fmt: skip


def _step_in_words(claim: Claim) -> str:
    words, floored = (
        f"One further step raises the mean log-likelihood by at most {claim.value:.3g}.",
        claim.numbers["at_floor"],
    )
    at_floor = f" {floored} of {claim.numbers['components']} components are at the covariance floor."
    return words + at_floor if floored else words


@fact("mixture.step", infinite=True, says=_step_in_words)
def step(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that one further EM step increases the mean log-likelihood by at most ``value``."""
    facts, problem = _facts(certificate, data), certificate.problem
    floor, variances = (
        problem["reg_covar"],
        _smallest_variances(certificate.model["covariances_"], problem["covariance_type"]),
    )
    at_floor = int(np.sum(variances <= 2 * floor)) if floor > 0 else 0
    numbers = {"at_floor": at_floor, "components": len(certificate.model["means_"])}
    value, note = max(facts.gain + facts.gain_rounding, 0.0), f"one step raises it by {facts.gain:.3g}."
    return Proof(value, "recomputed", note, numbers, limit=float(problem["tol"]), spread=facts.gain_rounding)


@fact("mixture.score",
      says="The gradient of the mean log-likelihood has norm {value:.3g} at most, in units of the information of a row whose component "
      "is known.")  # fmt: skip
def score(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the norm of the score is at most ``value``."""
    facts = _facts(certificate, data)
    return Proof(facts.score + facts.score_rounding, "recomputed", "gradient recomputed.", spread=facts.score_rounding)


@fact("mixture.likelihood", kind="data_fact", low=-math.inf,
      says=lambda claim: f"The mean log-likelihood of the rows is at least {-claim.value:.9g}.")  # fmt: skip
def likelihood(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the negative mean log-likelihood is at most ``value``."""
    facts = _facts(certificate, data)
    return Proof(facts.rounding - facts.value, "recomputed", f"recomputed: {facts.value:.9g}.", spread=facts.rounding)


@fact(
    "mixture.factors",
    kind="feasibility",
    says="The factors that predictions use invert the covariances up to {value:.2g}.",
)
def factors(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    r"""Check that :math:`\|P^\top \Sigma P - I\|_F` is at most ``value`` for every component."""
    mixture = _read(certificate, data)
    covariances = _each(certificate.model["covariances_"], certificate.problem["covariance_type"], *mixture.means.shape)
    worst, rounding = 0.0, 0.0
    for P, C in zip(mixture.factors, covariances, strict=True):
        if P.ndim == 1:
            off, size = P * P * C - 1.0, np.abs(P * P * C) + 1.0
        else:
            off, size = P.T @ C @ P - np.eye(len(P)), np.abs(P.T) @ np.abs(C) @ np.abs(P) + np.eye(len(P))
        worst = max(worst, float(np.linalg.norm(off)))
        rounding = max(rounding, gamma(2 * mixture.means.shape[1] + 8) * float(np.linalg.norm(size)))
    return Proof(worst + rounding, note="factors multiplied out.", spread=rounding)


@shared
def _read(certificate: Certificate, data: Data) -> Mixture:
    """Return the certified mixture; raise an error if its arrays do not define one."""
    model, kind = certificate.model, certificate.problem["covariance_type"]
    weights, means = (np.asarray(model[name], dtype=np.float64) for name in ("weights_", "means_"))
    sound = means.ndim == 2 and means.shape[1] == data.X.shape[1] and weights.shape == means.shape[:1]
    if sound:
        k, d = means.shape
        shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
        stored = [np.asarray(model[name], dtype=np.float64) for name in ("precisions_cholesky_", "covariances_")]
        sound = bool(np.all(weights >= 0)) and abs(math.fsum(weights) - 1) <= gamma(k + 8) and np.isfinite(means).all()
        sound = sound and all(array.shape == shape and np.isfinite(array).all() for array in stored)
    if sound:
        found = _each(stored[0], kind, k, d)
        own = found if kind != "tied" else found[:1]
        sound = not any(P.ndim == 2 and np.any(np.tril(P, -1) != 0) for P in own)
        sound = sound and all(np.all((P if P.ndim == 1 else np.diag(P)) > 0) for P in own)
    if not sound:
        raise ValueError("the parameters are not a mixture of Gaussians (weights, means, covariances, factors)")
    return Mixture(weights, means, found, conditions(found))


def _each(arrays: np.ndarray, kind: str, k: int, d: int) -> np.ndarray:
    """Return one matrix per component, or one vector if columns are independent."""
    if kind in ("full", "tied"):
        return np.broadcast_to(arrays, (k, d, d))
    return np.broadcast_to(arrays.reshape(k, -1), (k, d))


def _smallest_variances(covariances: np.ndarray, kind: str) -> np.ndarray:
    if kind == "full":
        return np.array([np.linalg.eigvalsh(matrix)[0] for matrix in covariances])
    if kind == "tied":
        return np.linalg.eigvalsh(covariances)[:1]
    return covariances.min(axis=1) if kind == "diag" else covariances


@shared
def _facts(certificate: Certificate, data: Data) -> Facts:
    mixture, kind = _read(certificate, data), certificate.problem["covariance_type"]
    d, n = mixture.means.shape[1], data.X.shape[0]
    here, rows = expectations(certificate, data, mixture), rows_per_piece(*mixture.means.shape)
    total = here.total
    pieces = n // rows + n // BLOCK + count_parts(data.X)
    depth = gamma(min(rows, n) + pieces + 4 * d + 63)
    score = score_norm(mixture, here, total, kind)
    value, rounding = here.value / total, here.rounding / total
    condition = float(np.max(mixture.conditions))
    score_rounding = 4 * (d + 1) * (1 + score) * (depth * condition + rounding)
    try:
        further = next_step(mixture, here, kind, certificate.problem["reg_covar"])
    except np.linalg.LinAlgError:  # a component collapses to a point: no further step exists
        return Facts(value, rounding, math.inf, 0.0, score, score_rounding)
    there = expectations(certificate, data, further, moments=False)
    # The step maximizes the expected likelihood, so rounding of its covariances enters by the score and in second order.
    moved = depth * float(np.max(further.conditions)) ** 2
    gain_rounding = rounding + there.rounding / total + moved * (2 * d * (score + score_rounding) + d * moved)
    return Facts(value, rounding, there.value / total - value, gain_rounding, score, score_rounding)
