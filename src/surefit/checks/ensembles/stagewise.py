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
    losses, doubt = np.empty(m + 1), np.empty(m + 1)
    size = np.zeros(len(y))  # sum of the absolute terms of each score
    for step in range(m + 1):
        terms = s * _loss(problem, y, scores[step])
        losses[step] = math.fsum(terms) / total
        # The error of a score is gamma times its terms; the loss adds its derivative times that and its own rounding.
        steep = np.abs(_derivative(problem, y, scores[step])) * (gamma(2 * m + 4) * size)
        curved = _curvature(problem, y, scores[step]) * (gamma(2 * m + 4) * size) ** 2
        doubt[step] = math.fsum(s * (steep + curved)) / total * 1.01 + gamma(32) * math.fsum(np.abs(terms) + s) / total
        if step < m:
            functions[step] = _function(certificate, X, kept, step)
            scores[step + 1] = scores[step] + factors[step] * functions[step]
            size += np.abs(factors[step] * functions[step])
    return Steps(y, s, X, scores, functions, losses, doubt)


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
    theory="stagewise",
    about="the terms",
    says="Within 1e-06 of each factor, relatively, the derivative of the loss along its function changes sign, up to {value:.1g} of its "
    "size at zero.",
)
def factors(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Evaluate derivatives slightly below and above each factor; the loss is convex along the function."""
    found, problem = _steps(certificate, data), certificate.problem
    worst = doubt = 0.0
    for m, factor in enumerate(certificate.model["factors_"]):
        b, z = found.functions[m], found.scores[m]
        beta = float(factor) / problem["rate"]
        sign, step = math.copysign(1.0, beta), NEARBY * max(abs(beta), NEARBY)
        size = math.fsum(np.abs(found.s * _derivative(problem, found.y, z) * b))
        ends = []
        for at in (beta - sign * step, beta + sign * step):
            terms = found.s * _derivative(problem, found.y, z + at * b) * b
            ends.append((sign * math.fsum(terms), gamma(64) * math.fsum(np.abs(terms))))
        (before, first), (behind, second) = ends
        unit = size if size > 0 else 1.0
        worst = max(worst, (before + first) / unit, (second - behind) / unit)
        doubt = max(doubt, first / unit, second / unit)
    return Proof(max(worst, 0.0) + doubt, "recomputed", "derivatives around each factor.", spread=4 * doubt)


@claim(
    "stagewise.choice",
    kind="optimality",
    side="upper",
    theory="stagewise",
    about="the terms",
    says="In no step would another function of the basis have lowered the loss more: its derivative exceeds the chosen one's by at most "
    "{value:.1g} of the norm of the gradient.",
)
def choice(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Compare the chosen function of every step with all functions of the basis."""
    found, problem = _steps(certificate, data), certificate.problem
    stumps, s, worst = problem["basis"] == "stumps", found.s, 0.0
    columns = sort_columns(found.X) if stumps else None
    norms = np.sqrt(s @ found.X**2) if not stumps else np.ones(1)
    for z, b in zip(found.scores, found.functions, strict=False):
        g = s * _derivative(problem, found.y, z)
        own = abs(math.fsum(g * b))
        if columns is not None:
            best, unit = largest_edge(columns, g), math.fsum(np.abs(g))
        else:
            own = own / math.sqrt(math.fsum(s * b * b))
            best = float(np.max(np.abs(g @ found.X)[norms > 0] / norms[norms > 0], initial=0.0))
            unit = math.sqrt(math.fsum(g * g / s))
        worst = max(worst, (best - own) / unit if unit > 0 else 0.0)
    doubt = 8 * gamma(len(s) + 16)
    return Proof(max(worst, 0.0) + doubt, note="all functions of the basis were tried in every step.", spread=doubt)


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


def _curvature(problem: dict[str, Any], y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return a bound on the second derivative near ``z``, for the second-order rounding term."""
    return np.exp(1 - y * z) if problem["loss"] == "exponential" else np.full(len(y), 2.0)


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
