r"""Checks how far a point found by stochastic gradient descent is from the best one: any point of a convex problem has a gap.

The problem is that of ``linear_scores``, with :math:`C = 1/\sum_i s_i`. Dual numbers are the slopes of the loss, or of the loss
smoothed over the band that the certificate names, at the coefficients or at the point that the claim brings as a witness (any point will
do: its slopes are feasible). All losses are at least zero, so the objective itself
is a bound as well, and the only one without a penalty.
"""

import math
from typing import NamedTuple

import numpy as np

from surefit.checks import enclosure
from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, upper_sum
from surefit.checks.linear_scores import Column, columns_of, prove_column, rounding
from surefit.checks.score_losses import ERROR, dual_numbers, values
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


class Bound(NamedTuple):
    """What the data prove about one column of coefficients."""

    gap: float
    gap_mid: float
    objective: float


@checker("sgd.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The sum of P - min P over the columns is at most value."""
    bounds = _bounds(certificate, data)
    gap, mid = sum(b.gap for b in bounds), sum(b.gap_mid for b in bounds)
    objective = sum(b.objective for b in bounds)
    ok = mid - claim.value <= gap - mid + rounding(claim.value, objective)
    message = f"P - min P <= {gap:.3g} proved by a dual point."
    return Finding(claim.name, claim.value, gap if ok else mid, ok, "enclosed", message)


@checker("sgd.distance")
def check_distance(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The coefficients are within value of those of the exact optimum: strong convexity of the penalty."""
    l2 = certificate.problem["l2"]
    bounds = _bounds(certificate, data)
    mid = max(math.sqrt(2 * b.gap_mid / l2) for b in bounds)
    bound = max(math.sqrt(2 * b.gap / l2) for b in bounds) * (1 + 8 * UNIT)
    noise = max(b.gap - b.gap_mid + rounding(b.gap, b.objective) for b in bounds)
    ok = mid**2 - claim.value**2 <= 2 * noise / l2
    return Finding(claim.name, claim.value, bound if ok else mid, ok, "enclosed", "from the gap and strong convexity.")


def _bounds(certificate: Certificate, data: Data) -> list[Bound]:
    if "stochastic" not in data.memo:
        witness = certificate["sgd.gap"].witness
        data.memo["stochastic"] = [
            _bound(certificate.problem, data.X, column, witness.get(f"point_{k}"))
            for k, column in enumerate(columns_of(certificate, data))
        ]
    return data.memo["stochastic"]


def _bound(problem: dict, X, column: Column, point: np.ndarray | None) -> Bound:
    upper, objective = _objective(problem, X, column)
    if problem["loss"] == "perceptron" or (problem["l1"] == 0.0 and problem["l2"] == 0.0):
        return Bound(upper, objective, objective)
    w, b = (column.w, column.b) if point is None else (np.asarray(point[:-1]), float(point[-1]))
    scores = np.asarray(X @ w, dtype=np.float64).ravel() + b
    dual = dual_numbers({**problem, "width": column.width}, column.y, scores)
    proof = prove_column(problem, X, column._replace(dual=dual))
    return Bound(min(proof.gap, upper), min(proof.gap_mid, objective), objective)


def _objective(problem: dict, X, column: Column) -> tuple[float, float]:
    """Return the objective rounded up, and as computed; losses are convex, so their largest value is at an end."""
    c, w = column.weights, column.w
    fitted = enclosure.times(X, w)
    z, reach = fitted.mid + column.b, fitted.rad + 4 * UNIT * (np.abs(fitted.mid) + abs(column.b))
    ends = np.maximum(values(problem, column.y, z - reach), values(problem, column.y, z + reach))
    losses = values(problem, column.y, z)
    size = (np.abs(column.y) + np.abs(z) + 1.0) * (1.0 + np.sqrt(np.abs(losses)))
    penalty = problem["l1"] * math.fsum(np.abs(w)) + 0.5 * problem["l2"] * math.fsum(w * w)
    upper = upper_sum(c * (ends + ERROR * size)) * (1 + 8 * UNIT) + penalty * (1 + 16 * UNIT)
    return upper, math.fsum(c * losses) + penalty
