"""Checks of the support vectors and slacks of a classifier: budgets, leave-one-out errors and compression bounds."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.bounds import CONFIRM
from surefit.checks.enclosure import UNIT, Bound, upper_sum
from surefit.checks.intercepts import offset_interval
from surefit.checks.judge import BOTH_ROUNDINGS, AtMost, Proof, claim, refused
from surefit.checks.kernels.machines import Machine, bound, examine, machines_of
from surefit.checks.kernels.operator import Gram, kernel_on
from surefit.checks.kernels.values import about_kernel, assumptions_of, require_definite
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

DELTA = 0.05  # failure probability of the bound stated by every fit
SPREADS = 4  # multiple of the rounding errors that covers other evaluations of a distance
SHARP = 1e-12  # relative accuracy of a limit


@bound(
    "svc.budget",
    says="Slacks add up to at most {slack:.6g} (budget {budget:.6g}), and half the squared norm is within {value:.3g} of the smallest "
    "within the budget.",
)  # fmt: skip
def budget(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that half the squared norm is within ``value`` of the smallest one whose slacks satisfy the budget."""
    m, found = machines_of(certificate, data)[0], examine(certificate, data)[0]
    B, C, s = certificate.problem["budget"], certificate.problem["C"], m.c / certificate.problem["C"]
    slack = np.maximum(1 - m.y * (found.scores.mid + m.b), 0.0)
    total = math.fsum(s * slack)
    error = upper_sum(s * (found.scores.rad + 8 * UNIT * (1 + np.abs(found.scores.mid) + abs(m.b)))) + 8 * UNIT * total
    left = C * (max(B - total, 0.0) + error) * (1 + 8 * UNIT)
    square = found.objective - C * (total - error)  # upper bound on half the squared norm
    limit = certificate.problem["tol"] * max(square, 0.0)
    value = Bound((found.gap + left) * (1 + 4 * UNIT), found.spread + 2 * C * error + 16 * UNIT * left)
    numbers = {"slack": AtMost(total + error, error), "budget": B}
    rounding = certificate.problem["tol"] * (found.objective_spread + 2 * C * error) + 8 * UNIT * limit
    note = f"slacks add up to {total:.6g}, the budget is {B:.6g}."
    kernel = kernel_on(certificate, data)
    return about_kernel(certificate, value, note, kernel, numbers=numbers, limit=limit, limit_spread=rounding)


@claim(
    "svc.loo", kind="estimate", side="exact", high=1.0, about="leave-one-out error of the exact optimum", theory="svm-gap",
    says="{support} of {rows} rows are support vectors; an exact optimum with these misclassifies at most a "
    "fraction {value:.4g} of left-out rows.",
)  # fmt: skip
def leave_one_out(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check the fraction of support vectors, which bounds the leave-one-out error."""
    support, n = int(np.size(certificate.model["support_"])), int(data.X.shape[0])
    return Proof(support / n, "exact", "support rows counted.", {"support": support, "rows": n})


def _compressed(claim: Claim) -> str:
    z = claim.numbers
    return (
        f"With probability {z['confidence']:g} a new row is a margin error of the exact optimum with probability at most "
        f"{claim.value:.4g}: at most {math.floor(z['support'])} of {z['rows']} rows are support vectors of it."
    )


@claim(
    "svc.compression", kind="risk_bound", side="upper", high=1.0, theory="compression", says=_compressed,
    about="probability that a new row changes the support of the exact optimum",
    assumptions=lambda claim: ("iid", "stable_compression", "ties_broken_by_fixed_rule", *assumptions_of(claim)),
)  # fmt: skip
def compression(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check the stable-compression bound of the optimum's support, if kernel and C do not depend on the rows."""
    params, problem = certificate.params, certificate.problem
    given = isinstance(params["kernel"], dict) or params["kernel"] == "linear" or not isinstance(params["gamma"], str)
    if not given or len(problem["classes"]) != 2 or params["class_weight"] == "balanced" or params["budget"]:
        return refused("the bound needs two classes, and a kernel, C and class weights that do not come from the rows")
    if data.weights is not None:
        return refused("the bound needs rows that count once")
    require_definite(kernel_on(certificate, data))
    n = int(data.X.shape[0])
    support, at_worst = (possible_support(certificate, data, times) for times in (0, SPREADS))
    value = _stable_limit(support, n)
    worst = value if at_worst == support else _stable_limit(at_worst, n)
    numbers = {
        "support": AtMost(float(support), (at_worst - support) / BOTH_ROUNDINGS),
        "rows": n,
        "delta": DELTA,
        "confidence": 1.0 - DELTA,
    }
    note = f"at most {support} rows can be support vectors of the exact optimum."
    spread = (worst - value) / BOTH_ROUNDINGS + SHARP * value if worst < 1 else 0.0
    bound = Bound(value if worst < 1 else 1.0, spread)
    return about_kernel(certificate, bound, note, kernel_on(certificate, data), numbers=numbers)


def possible_support(certificate: Certificate, data: Data, times: int = 0) -> int:
    """Count the rows whose optimal margin is not proved to exceed one; radii grow by ``times`` their rounding."""
    m, found = machines_of(certificate, data)[0], examine(certificate, data)[0]
    reach = found.distance.value + times * found.distance.spread
    if not math.isfinite(reach):
        return int(data.X.shape[0])
    f = found.scores.mid
    radius = Gram.of(certificate, data).lengths()[m.rows] * reach * (1 + 8 * UNIT) + (1 + times) * found.scores.rad
    low, high = _intercepts(m, f, radius) if m.b_free else (0.0, 0.0)
    margins = np.where(m.y > 0, f - radius + low, -(f + radius + high))
    sure = margins > 1 + 8 * UNIT * (1 + times) * (np.abs(f) + radius + abs(low) + abs(high))
    return int(data.X.shape[0] - np.sum(sure))


def _intercepts(m: Machine, f: np.ndarray, radius: np.ndarray) -> tuple[float, float]:
    """Return an interval that contains every optimal intercept; for a hard margin, every margin is at least one."""
    if not m.hard:
        return offset_interval(m.loss, m.y, m.c, f, radius)
    room = radius + 8 * UNIT * (1 + np.abs(f))
    return float(np.max((1 - f - room)[m.y > 0])), float(np.min((-1 - f + room)[m.y < 0]))


def _stable_limit(size: int, n: int) -> float:
    """Return a probability, accurate to twelve digits, that the theorem is proved to allow."""
    low, high = size / n, math.nextafter(1.0, 0.0)
    inputs = {"size": size, "n": n, "delta": DELTA}
    if size >= n or not CONFIRM["stable_compression"](high, inputs, {}).ok:
        return 1.0
    while high - low > SHARP / 2 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if CONFIRM["stable_compression"](middle, inputs, {}).ok else (middle, high)
    return high
