r"""Checks of the posterior mean under Wiener priors in linear time, with :math:`K a` computed by running sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.judge import Proof, claim, no_claim, refused
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

no_claim("wiener.evidence",
         "The evidence was compared on a grid and refined near its best point; nothing is claimed between the points.")  # fmt: skip


def gram_times(times: np.ndarray, a: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ``K a`` for increasing ``times``, and the same with absolute values, which bounds the terms."""

    def sums(v: Any, sign: Any) -> Any:
        t = times
        until = [np.cumsum(t**k * v) for k in range(4)]
        after = [total[-1] - total for total in until] if sign < 0 else [_after(t**k * v) for k in range(4)]
        if order == 1:
            return until[1] + t * after[0]
        return t / 2 * until[2] - sign * until[3] / 6 + t**2 / 2 * after[1] - sign * t**3 / 6 * after[0]

    return sums(a, 1.0), sums(np.abs(a), -1.0)


def _after(terms: np.ndarray) -> np.ndarray:
    return np.concatenate([np.cumsum(terms[::-1])[::-1][1:], [0.0]])


@claim("wiener.mean", kind="optimality", side="upper", theory="gp-evidence",
       says="For every x the posterior mean is within {value:.2g} sqrt(k(x, x)) of the exact one, rounding of the fit "
       "included.")  # fmt: skip
def mean(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the posterior mean is at most ``value * sqrt(k(x, x))`` from the exact one, for every x."""
    problem, order = certificate.problem, int(certificate.problem["order"])
    x = np.asarray(data.X, dtype=np.float64).ravel()
    rows = np.argsort(x, kind="stable")
    y, dual = np.asarray(data.target, dtype=np.float64)[rows], certificate.model["alpha_"]
    if dual.shape != y.shape or not np.isfinite(dual).all():
        return refused("alpha_ is not one number per row")
    for name in ("variance", "noise"):
        if float(certificate.model[f"{name}_"]) != problem[name]:
            return refused(f"{name}_ is not the {name} of the problem")
    times, dual, n = x[rows] - float(problem["origin"]), dual[rows], len(y)
    own = getattr(certificate.subject, "_sorted", None)
    if own is not None and not (np.array_equal(own[0], times) and np.array_equal(own[1], y)):
        return refused("the model predicts with rows other than those of the data")
    delta, noise = problem["variance"], problem["noise"]
    value, size = gram_times(times, dual, order)
    residual = y - noise * dual - delta * value
    # Distances from a nonzero origin are rounded, each relatively; at most three powers of them enter.
    rounding = gamma(n + 24) * (delta * size * (1 + gamma(n + 24)) + noise * np.abs(dual) + np.abs(y))
    root = math.sqrt(noise) * (1 - 4 * UNIT)
    found = float(np.linalg.norm(np.abs(residual) + rounding)) / root * (1 + gamma(n + 8))
    spread = float(np.linalg.norm(rounding)) / root * (1 + gamma(n + 16))
    return Proof(found, note="K a by running sums.", spread=spread)
