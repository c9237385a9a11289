r"""Checks of stagewise fits: losses of all steps, derivatives at the factors, and the choice of basis functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import gamma
from surefit.checks.ensembles.stump import largest_edge, sort_columns
from surefit.checks.judge import AtLeast, AtMost, Proof, claim, shared
from surefit.checks.labels import row_weights
from surefit.core.catalog import Entry, register
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError
from surefit.core.sample import Data

NEARBY = 1e-6  # relative distance from a factor within which the derivative must change sign
INSIDE = NEARBY * (1 - 1e-9)  # so that a rounded point is within that distance
ELSEWHERE = 3.0  # multiple of the radii that covers the result of another evaluation
SUBNORMAL = 2.0**-1074  # largest rounding error of a product that underflows

register(
    Entry(
        "stagewise.global",
        kind="no_claim",
        side="none",
        says="Nothing is claimed about sums whose terms are fitted together.",
    )
)


class Steps(NamedTuple):
    """All steps, recomputed; step m has the scores ``scores[m]`` before it and the function values ``functions[m]``."""

    y: np.ndarray
    s: np.ndarray
    X: np.ndarray
    scores: np.ndarray
    functions: np.ndarray
    radii: np.ndarray  # of the scores
    losses: np.ndarray
    doubt: np.ndarray  # rounding of each loss


@shared
def _steps(certificate: Certificate, data: Data) -> Steps:
    problem, factors = certificate.problem, np.asarray(certificate.model["factors_"], dtype=np.float64)
    weights = row_weights(data)
    kept = np.flatnonzero(weights > 0)
    s, y = weights[kept], np.asarray(data.target, dtype=np.float64)[kept]
    X = np.asarray(data.X, dtype=np.float64)[kept]
    total, m = math.fsum(s), len(factors)
    if not np.all(np.isfinite(factors)) or factors.ndim != 1:
        raise ValueError("the factors must be numbers")
    scores, functions = np.zeros((m + 1, len(y))), np.empty((m, len(y)))
    losses, doubt, radii = np.empty(m + 1), np.empty(m + 1), np.zeros((m + 1, len(y)))
    size = np.zeros(len(y))  # sum of the absolute terms of each score
    own = (
        s if problem["loss"] in MARGIN_LOSSES else np.zeros(len(y))
    )  # rounding of exponentials and of one minus a margin
    for step in range(m + 1):
        z, radii[step] = scores[step], gamma(2 * m + 4) * size + step * SUBNORMAL
        terms = s * _loss(problem, y, z)
        losses[step] = math.fsum(terms) / total
        # A convex loss differs from its value at the computed score by no more than at one of the ends.
        ends = np.maximum(*(_loss(problem, y, z + sign * radii[step]) for sign in (-1.0, 1.0)))
        moved = math.fsum(np.maximum(s * ends - terms, 0.0))
        doubt[step] = (moved + gamma(32) * math.fsum(s * ends + own) + len(y) * SUBNORMAL) / total * 1.01
        if step < m:
            functions[step] = _function(certificate, X, kept, step)
            scores[step + 1] = scores[step] + factors[step] * functions[step]
            size += np.abs(factors[step] * functions[step])
    return Steps(y, s, X, scores, functions, radii, losses, doubt)


@claim(
    "stagewise.losses",
    kind="process_fact",
    side="upper",
    theory="stagewise",
    says="The mean loss fell from at least {start:.6g} to at most {value:.6g} in {terms} terms, and rose in none by more than {rise:.1g}.",
)
def losses(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Evaluate the loss before the first term and after each term."""
    found = _steps(certificate, data)
    pairs = found.doubt[1:] + found.doubt[:-1]
    rise = max(float(np.max(np.diff(found.losses) + pairs, initial=0.0)), 0.0)
    last, first = float(found.doubt[-1]), float(found.doubt[0])
    numbers = {
        "start": AtLeast(float(found.losses[0]) - first, first),
        "terms": len(found.functions),
        "rise": AtMost(rise, 2 * float(np.max(pairs, initial=0.0))),
    }
    note = f"{len(found.losses)} losses were recomputed."
    return Proof(max(float(found.losses[-1]), 0.0) + last, note=note, numbers=numbers, spread=last)


@claim(
    "stagewise.factors",
    kind="optimality",
    side="upper",
    infinite=True,
    theory="stagewise",
    about="the terms",
    says=lambda claim: (
        f"Within 1e-06 of each factor, relatively, the derivative of the loss along its function changes sign, up to {claim.value:.1g} of "
        "its size at zero."
        if math.isfinite(claim.value)
        else "The residuals of some terms are lost in rounding, so nothing is claimed about the factors; use fewer terms."
    ),
)
def factors(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Bound derivatives slightly below and above each factor; the loss is convex along the function."""
    found, problem = _steps(certificate, data), certificate.problem
    worst = [0.0, 0.0]
    for m, factor in enumerate(certificate.model["factors_"]):
        beta, b = float(factor) / problem["rate"], found.functions[m]
        for place, times in enumerate((1.0, ELSEWHERE)):
            steepest, least = _slopes(problem, found, m, np.zeros(len(b)), times)
            unit = math.fsum(
                found.s * np.abs(b) * np.where(steepest * least > 0, np.abs([steepest, least]).min(axis=0), 0.0)
            )
            for side in (-1.0, 1.0):
                high, low = _slopes(problem, found, m, beta * (1 + side * INSIDE) * b, times)
                along = -side * math.copysign(1.0, beta) * b  # the derivative along it must not be positive
                terms = found.s * along * np.where(along > 0, high, low)
                excess = math.fsum(terms) + gamma(64) * math.fsum(np.abs(terms)) + len(b) * SUBNORMAL
                share = excess / (unit * (1 - gamma(64))) if unit > 0 else math.inf
                worst[place] = max(worst[place], share if excess > len(b) * SUBNORMAL else 0.0)
    value, spread = worst[0] * (1 + gamma(8)), worst[1] - worst[0]
    if not math.isfinite(worst[1]):
        return Proof(math.inf, note="some residuals are lost in rounding.")
    return Proof(value, note="derivatives around each factor.", spread=spread + gamma(64))


def _slopes(
    problem: dict[str, Any], found: Steps, m: int, moved: np.ndarray, times: float
) -> tuple[np.ndarray, np.ndarray]:
    """Bound the derivatives of the losses at the scores before term m plus ``moved`` from above and from below."""
    z = found.scores[m] + moved
    radius = times * (found.radii[m] + gamma(8) * (np.abs(found.scores[m]) + np.abs(moved)) + SUBNORMAL)
    return _derivative(problem, found.y, z + radius), _derivative(problem, found.y, z - radius)


@claim(
    "stagewise.choice",
    kind="optimality",
    side="upper",
    infinite=True,
    theory="stagewise",
    about="the terms",
    says=lambda claim: (
        "In no step would another function of the basis have lowered the loss more: its derivative exceeds the chosen one's by at most "
        f"{claim.value:.1g} of the norm of the gradient."
        if math.isfinite(claim.value)
        else "The residuals of some terms are lost in rounding, so nothing is claimed about the choice of functions; use fewer terms."
    ),
)
def choice(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Compare the chosen function of every step with all functions of the basis."""
    found, problem = _steps(certificate, data), certificate.problem
    stumps, s, worst = problem["basis"] == "stumps", found.s, [0.0, 0.0]
    columns = sort_columns(found.X) if stumps else None
    norms = np.sqrt(s @ found.X**2) if not stumps else np.ones(1)
    for m, b in enumerate(found.functions):
        g = s * _derivative(problem, found.y, found.scores[m])
        own = abs(math.fsum(g * b))
        if columns is not None:
            best, unit = largest_edge(columns, g), math.fsum(np.abs(g))
        else:
            own = own / math.sqrt(math.fsum(s * b * b))
            best = float(np.max(np.abs(g @ found.X)[norms > 0] / norms[norms > 0], initial=0.0))
            unit = math.sqrt(math.fsum(g * g / s))
        for place, times in enumerate((1.0, ELSEWHERE)):
            high, low = _slopes(problem, found, m, np.zeros(len(b)), times)
            off = s * (high - low)
            error = math.fsum(off) if stumps else math.sqrt(math.fsum(off * off / s))
            share = (best - own + 2 * error) / (unit - error) if unit > error else math.inf
            worst[place] = max(worst[place], share)
    doubt = 8 * gamma(len(s) + 16)
    if not math.isfinite(worst[1]):
        return Proof(math.inf, note="some residuals are lost in rounding.")
    note = "all functions of the basis were tried in every step."
    return Proof(worst[0] + doubt, note=note, spread=worst[1] - worst[0] + doubt)


def _function(certificate: Certificate, X: np.ndarray, kept: np.ndarray, m: int) -> np.ndarray:
    basis, model = certificate.problem["basis"], certificate.model
    count = len(model["factors_"])
    if basis == "transformer":
        values = certificate["stagewise.losses"].witness["values"]
        if values.ndim != 2 or values.shape[1] != count or not np.all(np.isfinite(values)):
            raise CertificateError("The values of the transformer's columns are missing, or of another size.")
        return values[kept, m]
    if model["columns_"].shape != (count,) or model["thresholds_"].shape != (count,):
        raise CertificateError("There must be one column and one threshold per factor.")
    j, cut = int(model["columns_"][m]), float(model["thresholds_"][m])
    if not 0 <= j < X.shape[1] or (basis == "stumps") == math.isnan(cut):
        raise CertificateError(f"Term {m} uses a column or a threshold that does not exist.")
    return np.where(X[:, j] > cut, 1.0, -1.0) if basis == "stumps" else X[:, j]


def _loss(problem: dict[str, Any], y: np.ndarray, z: np.ndarray) -> np.ndarray:
    name, r, u = problem["loss"], y - z, y * z
    if name == "huber":
        size = np.abs(r)
        return np.where(size <= problem["delta"], r**2 / 2, problem["delta"] * (size - problem["delta"] / 2))
    if name not in _LOSSES:
        raise CertificateError(f"The checker has no formula for the loss {name!r}.")
    return _LOSSES[name](r, u)


def _derivative(problem: dict[str, Any], y: np.ndarray, z: np.ndarray) -> np.ndarray:
    name, r, u = problem["loss"], y - z, y * z
    if name == "huber":
        return -np.clip(r, -problem["delta"], problem["delta"])
    return _DERIVATIVES[name](r, u, y)


MARGIN_LOSSES = ("logistic", "exponential", "hinge", "squared_hinge")
_LOSSES: dict[str, Callable[..., Any]] = {
    "squared_error": lambda r, u: r**2 / 2,
    "absolute_error": lambda r, u: np.abs(r),
    "logistic": lambda r, u: np.logaddexp(0, -u),
    "exponential": lambda r, u: np.exp(-u),
    "hinge": lambda r, u: np.maximum(1 - u, 0),
    "squared_hinge": lambda r, u: np.maximum(1 - u, 0) ** 2,
}
_DERIVATIVES: dict[str, Callable[..., Any]] = {
    "squared_error": lambda r, u, y: -r,
    "absolute_error": lambda r, u, y: -np.sign(r),
    "logistic": lambda r, u, y: -y * np.exp(-np.logaddexp(0, u)),
    "exponential": lambda r, u, y: -y * np.exp(-u),
    "hinge": lambda r, u, y: np.where(u < 1, -y, 0.0),
    "squared_hinge": lambda r, u, y: -2 * y * np.maximum(1 - u, 0),
}
