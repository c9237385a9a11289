r"""Checks stagewise fits: the losses of all steps, the slope at each factor, and all functions that could have been chosen."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.stump import largest_edge, sort_columns
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError

ROUNDING = 1e-9


class Replay(NamedTuple):
    """All steps, repeated."""

    losses: np.ndarray
    worst_factor: float  # relative distance within which the slope along a term does not change sign
    worst_choice: float  # relative lead of the best function over the chosen one


@checker("stagewise.losses")
def check_losses(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The losses are those stated, and none is larger than the one before."""
    losses, stated = _replay(certificate, data).losses, claim.witness["losses"]
    room = ROUNDING * (1 + float(np.max(np.abs(losses))))
    ok = len(stated) == len(losses) and bool(np.all(np.abs(stated - losses) <= room))
    ok = ok and abs(losses[-1] - claim.value) <= room and float(np.max(np.diff(losses), initial=0.0)) <= room
    return Finding(
        claim.name, claim.value, float(losses[-1]), ok, "recomputed", f"{len(losses)} losses were recomputed."
    )


@checker("stagewise.factors")
def check_factors(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The slope of the loss along each term changes its sign within value (relative) of its factor."""
    found = _replay(certificate, data).worst_factor
    message = "slopes were taken a little before and a little behind each factor."
    return Finding(claim.name, claim.value, found, found <= claim.value, "recomputed", message)


@checker("stagewise.choice")
def check_choice(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No function of the basis has a slope for its norm larger than the chosen one's by more than value, relatively."""
    found = _replay(certificate, data).worst_choice
    message = "all functions of the basis were tried in every step."
    return Finding(claim.name, claim.value, found, found <= claim.value, "recomputed", message)


def _replay(certificate: Certificate, data: Data) -> Replay:
    if "stagewise" not in data.memo:
        data.memo["stagewise"] = _repeat(certificate, data)
    return data.memo["stagewise"]


def _repeat(certificate: Certificate, data: Data) -> Replay:
    problem, model = certificate.problem, certificate.model
    weights = np.ones(len(data.target)) if data.weights is None else data.weights
    kept = np.flatnonzero(weights > 0)
    s, y = weights[kept], np.asarray(data.target, dtype=np.float64)[kept]
    X = np.asarray(data.X, dtype=np.float64)[kept]
    chosen = any(claim.name == "stagewise.choice" for claim in certificate.claims)
    stumps = problem["basis"] == "stumps"
    columns = sort_columns(X) if chosen and stumps else []
    norms = np.sqrt(s @ X**2) if chosen and not stumps else np.ones(1)
    z, total = np.zeros(len(y)), math.fsum(s)
    losses, worst_factor, worst_choice = [math.fsum(s * _loss(problem, y, z)) / total], 0.0, 0.0
    for m, factor in enumerate(model["factors_"]):
        b = _function(certificate, X, kept, m)
        g = s * _slope(problem, y, z)
        if chosen:
            own = abs(math.fsum(g * b))
            best = largest_edge(columns, g) if stumps else float(np.max(np.abs(g @ X) / np.maximum(norms, 1e-300)))
            own = own if stumps else own / math.sqrt(math.fsum(s * b * b))
            worst_choice = max(worst_choice, (best - own) / max(best, 1e-300) if best > 1e-12 * total else 0.0)
        beta = factor / problem["rate"]
        step = 1e-6 * max(abs(beta), 1e-6) * math.copysign(1, beta)
        ends = [math.fsum(s * _slope(problem, y, z + at * b) * b) for at in (beta - step, beta + step)]
        size = float(np.sum(np.abs(g * b)))
        turned = ends[0] * math.copysign(1, beta) <= 1e-12 * size and ends[1] * math.copysign(1, beta) >= -1e-12 * size
        worst_factor = max(worst_factor, 1e-6 if turned or abs(beta) >= 1024 else math.inf)
        z = z + factor * b
        losses.append(math.fsum(s * _loss(problem, y, z)) / total)
    return Replay(np.array(losses), worst_factor, worst_choice)


def _function(certificate: Certificate, X: np.ndarray, kept: np.ndarray, m: int) -> np.ndarray:
    basis, model = certificate.problem["basis"], certificate.model
    if basis == "transformer":
        values = certificate["stagewise.losses"].witness.get("values")
        if values is None or values.shape[1] != len(model["factors_"]):
            raise CertificateError("The values of the transformer's columns are missing, or of another size.")
        return values[kept, m]
    column = X[:, int(model["columns_"][m])]
    return np.where(column > model["thresholds_"][m], 1.0, -1.0) if basis == "stumps" else column


def _loss(problem: dict, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    name, r, u = problem["loss"], y - z, y * z
    if name == "huber":
        size = np.abs(r)
        return np.where(size <= problem["delta"], r**2 / 2, problem["delta"] * (size - problem["delta"] / 2))
    if name not in _LOSSES:
        raise CertificateError(f"The checker does not know the loss {name!r}.")
    return _LOSSES[name](r, u)


def _slope(problem: dict, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    name, r, u = problem["loss"], y - z, y * z
    if name == "huber":
        return -np.clip(r, -problem["delta"], problem["delta"])
    return _SLOPES[name](r, u, y)


_LOSSES = {
    "squared_error": lambda r, u: r**2 / 2,
    "absolute_error": lambda r, u: np.abs(r),
    "logistic": lambda r, u: np.logaddexp(0, -u),
    "exponential": lambda r, u: np.exp(-u),
    "hinge": lambda r, u: np.maximum(1 - u, 0),
    "squared_hinge": lambda r, u: np.maximum(1 - u, 0) ** 2,
}
_SLOPES = {
    "squared_error": lambda r, u, y: -r,
    "absolute_error": lambda r, u, y: -np.sign(r),
    "logistic": lambda r, u, y: -y * np.exp(-np.logaddexp(0, u)),
    "exponential": lambda r, u, y: -y * np.exp(-u),
    "hinge": lambda r, u, y: np.where(u < 1, -y, 0.0),
    "squared_hinge": lambda r, u, y: -2 * y * np.maximum(1 - u, 0),
}
